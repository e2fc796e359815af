package command

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"lockstep/app/evidence/compare"
	"lockstep/app/job"
	"lockstep/app/record"
	"lockstep/app/report"
	"lockstep/app/rundir"
	"lockstep/internal/regular"
	"lockstep/internal/spelling"

	"github.com/spf13/cobra"
)

// reportFlags are the flags of report.
type reportFlags struct {
	out     string
	figures string
	isJSON  bool
}

// reportCommand renders the report of a benchmark or of a training run again, or lays runs over each other.
func reportCommand(a *app) *cobra.Command {
	var f reportFlags
	c := &cobra.Command{
		Use:   "report FOLDER|BUNDLE... [flags]",
		Short: "Render the report of a benchmark or of a training run again, or lay runs over each other",
		Long: `Render a report again, report.md and report.html: of a benchmark or of commbench from its
results.json; of a training run from its summary.json, steps.jsonl and config.yaml. A run that
ended early has no summary.json; its report tells of the steps that were done. A bundle is taken out into
a new folder first.

The folders of several training runs make one report, in a folder of its own, with all runs on the same
axes: what they differ in, whether they did equal work, and their figures.

--figures also writes each figure as an SVG and as a PNG file, and its values as a CSV file.

Results that were changed after they were sealed are refused with the reasons and status 8 (see lockstep
check).`,
		Example: "  lockstep report runs/20261121-101500-bench\n" +
			"  lockstep report runs/20261121-101500-bench --figures figures\n" +
			"  lockstep report runs/ddp runs/all-reduce runs/ps --out runs/compared\n" +
			"  lockstep report mine.tar.gz --out mine",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return noFolder()
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return f.run(a, args) },
	}
	c.Flags().StringVarP(&f.out, "out", "o", "", "new `FOLDER` for the files of a bundle (default: its name "+
		"without "+bundleSuffix+"), or for the report of several runs (default: runs/DATE-overlay)")
	c.Flags().StringVar(&f.figures, "figures", "", "`FOLDER` for each figure as SVG, PNG and CSV files")
	addJSON(c, &f.isJSON)
	return c
}

// rendered is what report prints.
type rendered struct {
	Report  string `json:"report"`            // path of report.html
	Figures int    `json:"figures,omitempty"` // written to their folder
}

func (f *reportFlags) run(a *app, folders []string) error {
	if len(folders) == 1 && f.out != "" && !isBundle(folders[0]) {
		return usagef("--out is for bundles and for several runs; the report of a folder is written into it")
	}
	if f.figures != "" {
		if err := os.MkdirAll(f.figures, 0o777); err != nil {
			return usagef("--figures: %v", err)
		}
	}
	folder, made, err := f.render(folders)
	if err != nil {
		return err
	}
	done := rendered{Report: filepath.Join(folder, report.HTMLFile)}
	if f.figures != "" {
		written, err := made.WriteFigures(f.figures)
		if err != nil {
			return err
		}
		done.Figures = written.Count
		for _, why := range written.TooLarge {
			fmt.Fprintf(a.stderr, "no PNG file: %s; its SVG file is there\n", why)
		}
	}
	if f.isJSON {
		return writeJSON(a, done)
	}
	_, err = fmt.Fprintln(a.stdout, done.Report)
	return err
}

// render writes the report of one folder, or of the runs of several.
func (f *reportFlags) render(folders []string) (folder string, made *report.Report, err error) {
	folder = folders[0]
	if len(folders) == 1 {
		if isBundle(folder) {
			if folder, err = unpackBeside(folder, f.out); err != nil {
				return "", nil, err
			}
			defer func(taken string) {
				if err != nil {
					os.RemoveAll(taken) // it was absent
				}
			}(folder)
		}
		made, err = reportOf(folder)
	} else if made, err = overlay(folders); err == nil {
		folder = cmp.Or(f.out, newFolder("overlay"))
		var release func()
		if release, err = rundir.Reserve(folder); err == nil {
			defer release()
		}
	}
	if err != nil {
		return "", nil, err
	}
	if err := made.Write(folder); err != nil {
		return "", nil, err
	}
	return folder, made, nil
}

// reportOf lays out the report of what is in a folder.
func reportOf(folder string) (*report.Report, error) {
	if report.HoldsTraining(folder) || job.HasSteps(folder) {
		t, err := readTraining(folder)
		if err != nil {
			return nil, err
		}
		return report.Run(t), nil
	}
	if m := report.ReadCollectives(folder); m != nil {
		made, err := report.Collectives(*m)
		if err != nil {
			return nil, badResults(folder, err)
		}
		return made, nil
	}
	results, err := readResults(folder)
	if err != nil {
		return nil, err
	}
	if err := refuseChanged(folder, results); err != nil {
		return nil, err
	}
	return benchmarkReport(results, compare.Compare(results)), nil
}

// changedError says that a file has not the content with which it was sealed, so that nothing was made of it.
// It ends the program with job.ExitCheck.
type changedError struct {
	path  string
	wrong []string
}

// Error lists what was changed, one a line.
func (e *changedError) Error() string {
	text := e.path + " was changed after it was written, or a file beside it; nothing is made of it"
	for _, one := range e.wrong {
		text += "\nrefused: " + spelling.Plain(one)
	}
	return text
}

// refuseChanged fails with a *changedError if the results in a folder are not those that were sealed.
func refuseChanged(folder string, r *record.Results) error {
	if r.IsChanged {
		return &changedError{filepath.Join(folder, report.ResultsFile), nil}
	}
	return nil
}

// readResults reads the results of a benchmark, which has rows.
func readResults(folder string) (*record.Results, error) {
	r, err := report.Read(folder)
	if err != nil {
		return nil, badResults(folder, err)
	}
	if len(r.Rows) == 0 {
		return nil, usagef("%s holds results without rows; give the folder of a benchmark", folder)
	}
	return r, nil
}

// overlay lays out the report of several training runs. Their names are those of their folders, or the paths
// where two are the same.
func overlay(folders []string) (*report.Report, error) {
	var runs []*compare.Training
	var names []string
	for _, folder := range folders {
		if !report.HoldsTraining(folder) && !job.HasSteps(folder) {
			if text := job.Stepless(folder); text != "" {
				return nil, usagef("%s", text)
			}
			return nil, usagef("%s holds no training run; several folders must be those of training runs, "+
				"such as those in runs/ of a benchmark's folder", folder)
		}
		t, err := readTraining(folder)
		if err != nil {
			return nil, err
		}
		name := filepath.Base(folder)
		if slices.Contains(names, name) {
			name = folder
		}
		runs, names = append(runs, t), append(names, name)
	}
	return report.Overlay(names, runs), nil
}

// readTraining reads the training run in folder, whether or not it has ended, and refuses one that
// was changed after its end.
func readTraining(folder string) (*compare.Training, error) {
	t, err := openTraining(folder)
	if err != nil {
		return nil, err
	}
	if wrong := t.Changed(); len(wrong) > 0 {
		return nil, &changedError{filepath.Join(folder, rundir.SummaryFile), wrong}
	}
	return t, nil
}

// openTraining reads the training run in folder, whatever it tells.
func openTraining(folder string) (*compare.Training, error) {
	var t *compare.Training
	var err error
	if report.HoldsTraining(folder) {
		if t, err = report.ReadTraining(folder); err == nil {
			t.OtherSettings = job.OtherSettings(folder, &t.Summary)
		}
	} else {
		var summary *record.Summary
		if summary, err = job.Unfinished(folder); err == nil {
			t, err = readUnfinished(summary)
		}
	}
	if err != nil {
		return nil, usagef("%v; give a folder whose files are whole", err)
	}
	return t, nil
}

// readUnfinished reads a run that has left no summary; this one says what is known.
func readUnfinished(summary *record.Summary) (*compare.Training, error) {
	text, err := json.Marshal(summary)
	if err != nil {
		return nil, err
	}
	return report.ReadUnfinished(summary.Directory, bytes.NewReader(text))
}

// writeUnfinished renders the report of a run that has left no summary into its directory.
func writeUnfinished(summary *record.Summary) error {
	t, err := readUnfinished(summary)
	if err != nil {
		return err
	}
	return report.Run(t).Write(summary.Directory)
}

// hasReport reports whether a folder is that of a benchmark, of commbench or of a training run.
func hasReport(folder string) bool {
	return report.HoldsTraining(folder) || job.HasSteps(folder) ||
		!isAbsent(filepath.Join(folder, report.ResultsFile))
}

// holdsRuns reports whether a folder is that of a training run or of a benchmark. Results of other kinds
// begin with their kind.
func holdsRuns(folder string) bool {
	if report.HoldsTraining(folder) || job.HasSteps(folder) {
		return true
	}
	f, err := regular.Open(filepath.Join(folder, report.ResultsFile))
	if err != nil {
		return false
	}
	defer f.Close()
	start := json.NewDecoder(io.LimitReader(f, 64))
	start.Token() // the brace
	key, err := start.Token()
	return err == nil && key != "kind"
}

// noFolder refuses to report nothing, and names a folder that may be meant.
func noFolder() error {
	if hasReport(".") {
		return usagef("report: no folder; that of the current one: lockstep report .")
	}
	return usagef("report: no folder; give one, or those of several training runs%s",
		newestWithin("runs"))
}

// newestWithin is how an error goes on that wants the folder of a run or benchmark: with the newest two
// within a folder, "" if there is none.
func newestWithin(folder string) string {
	entries, _ := os.ReadDir(folder) // an error: there is none
	changed := map[string]time.Time{}
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		if info, err := e.Info(); err == nil && e.IsDir() && holdsRuns(path) {
			changed[path] = info.ModTime()
		}
	}
	newest := slices.SortedFunc(maps.Keys(changed), func(a, b string) int {
		return cmp.Or(changed[b].Compare(changed[a]), cmp.Compare(b, a))
	})
	if len(newest) == 0 {
		return ""
	}
	for i, path := range newest {
		newest[i] = spelling.Word(path)
	}
	return ", such as " + strings.Join(newest[:min(2, len(newest))], " or ")
}

// isAbsent reports whether there is nothing at path.
func isAbsent(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// badResults words why a folder cannot be rendered.
func badResults(folder string, err error) error {
	var kind *record.KindError
	switch {
	case errors.As(err, &kind):
		return usagef("%s holds results of another kind, %s; give the folder of a benchmark or of a "+
			"training run", folder, kind.Kind)
	case errors.Is(err, syscall.ENOTDIR):
		return usagef("%s is no folder; give that of a benchmark or of a training run", folder)
	case isAbsent(folder):
		return usagef("%s does not exist; give the folder of a benchmark or of a training run", folder)
	case errors.Is(err, fs.ErrNotExist) && job.Stepless(folder) != "":
		return usagef("%s", job.Stepless(folder))
	case errors.Is(err, fs.ErrNotExist):
		return usagef("%s holds no %s and no training run; give the folder of a benchmark or of a training "+
			"run%s", folder, report.ResultsFile, newestWithin(folder))
	}
	return usagef("%v; give a folder whose results are whole, or run the benchmark again", err)
}
