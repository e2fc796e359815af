package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"lockstep/app/evidence/compare"
	"lockstep/app/job"
	"lockstep/app/record"
	"lockstep/app/report"
	"lockstep/app/rundir"
	"lockstep/internal/spelling"

	"github.com/spf13/cobra"
)

// reportCommand renders the report of a benchmark or of a training run again, or lays runs over each other.
func reportCommand(a *app) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "report FOLDER... [flags]",
		Short: "Render the report of a benchmark or of a training run again, or lay runs over each other",
		Long: `Render a report again, report.md and report.html: of a benchmark or of commbench from its
results.json; of a training run from its summary.json, steps.jsonl and config.yaml. A run that
ended early has no summary.json; its report tells of the steps that were done.

The folders of several training runs make one report, in a folder of its own, with all runs on the same
axes: what they differ in, whether they did equal work, and their figures.

Results that were changed after they were sealed are refused with the reasons and status 8 (see lockstep
check).`,
		Example: "  lockstep report runs/20261121-101500-bench\n" +
			"  lockstep report runs/ddp runs/all-reduce runs/ps --out runs/compared",
		Args: takes(1, math.MaxInt, "one folder, or those of several training runs"),
	}
	c.Flags().StringVarP(&out, "out", "o", "", "new `FOLDER` for the report of several runs (default: "+
		"runs/<time>-overlay)")
	return a.answering(c, func(_ *cobra.Command, args []string) (answer, error) {
		folder, err := render(args, out)
		if err != nil {
			return answer{}, err
		}
		done := rendered{filepath.Join(folder, report.HTMLFile)}
		return answer{done, func(w io.Writer) error {
			_, err := fmt.Fprintln(w, done.Report)
			return err
		}}, nil
	})
}

// rendered is what report prints.
type rendered struct {
	Report string `json:"report"` // path of report.html
}

// render writes the report of one folder into it, or that of the runs of several into out.
func render(folders []string, out string) (folder string, err error) {
	if len(folders) == 1 {
		if out != "" {
			return "", usagef("--out is for several runs; the report of a folder is written into it")
		}
		made, err := reportOf(folders[0])
		if err != nil {
			return "", err
		}
		return folders[0], made.Write(folders[0])
	}
	made, err := overlay(folders)
	if err != nil {
		return "", err
	}
	folder = cmp.Or(out, newFolder("overlay"))
	release, err := rundir.Reserve(folder)
	if err != nil {
		return "", err
	}
	defer release()
	return folder, made.Write(folder)
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
			return nil, badResults(err)
		}
		return made, nil
	}
	results, err := readResults(folder)
	if err != nil {
		return nil, err
	}
	return report.Benchmark(results), nil
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

// readResults reads the results of a benchmark, which has rows and was not changed.
func readResults(folder string) (*record.Results, error) {
	r, err := report.Read(folder)
	if err != nil {
		return nil, badResults(err)
	}
	if len(r.Rows) == 0 {
		return nil, usagef("%s holds results without rows; give the folder of a benchmark", folder)
	}
	return r, refuseChanged(folder, r)
}

// badResults says what to give in place of a folder that cannot be rendered.
func badResults(err error) error {
	return usagef("%v; give the folder of a benchmark or of a training run, with whole results", err)
}

// overlay lays out the report of several training runs. Their names are those of their folders, or the paths
// where two are the same.
func overlay(folders []string) (*report.Report, error) {
	var runs []*compare.Training
	var names []string
	for _, folder := range folders {
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
	if !report.HoldsTraining(folder) && !job.HasSteps(folder) {
		return nil, usagef("%s holds no training run, or one without a step", folder)
	}
	var t *compare.Training
	var err error
	if report.HoldsTraining(folder) {
		t, err = report.ReadTraining(folder)
	} else {
		var summary *record.Summary
		if summary, err = job.Unfinished(folder); err == nil {
			t, err = report.ReadUnfinished(summary.Directory, summary)
		}
	}
	if err != nil {
		return nil, usagef("%v; give a folder whose files are whole", err)
	}
	return t, nil
}

// writeUnfinished renders the report of a run that has left no summary into its directory.
func writeUnfinished(summary *record.Summary) error {
	t, err := report.ReadUnfinished(summary.Directory, summary)
	if err != nil {
		return err
	}
	return report.Run(t).Write(summary.Directory)
}

// isAbsent reports whether there is nothing at path.
func isAbsent(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}
