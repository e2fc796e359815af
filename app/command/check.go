package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"lockstep/app/bundle"
	"lockstep/app/check"
	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/finding"
	"lockstep/app/job"
	"lockstep/app/job/launcher"
	"lockstep/app/record"
	"lockstep/app/report"
	"lockstep/internal/regular"
	"lockstep/internal/spelling"

	"github.com/spf13/cobra"
)

// checkCommand judges the figures of a document.
func checkCommand(a *app) *cobra.Command {
	var isJSON bool
	c := &cobra.Command{
		Use:   "check FILE [flags]",
		Short: "Check the figures of a report on training runs",
		Long: `Check the figures of a report on training runs.

The file is somebody's Markdown, CSV, JSON, log or plain text, or a results.json of lockstep bench, the
folder that has it, or a bundle of one; - is standard input. It may also be the folder or the bundle of a
training run. Lockstep's own files are refused if they were changed after they were sealed.
Every number is read with its unit and what it measures, from tables in either orientation, lists, logs and
sentences. Then relations are tested among those that belong together: speed-up and times, efficiency, count
per time, parts and whole, cost, Amdahl's law, what is stated twice, and more; rounding is allowed for.

Each objection cites its places with the arithmetic and what would answer it. How many figures were read,
and which were not, stands below. The status is 8 if something is refused, 0 if there are only warnings, 2
if the file cannot be read or holds no figure. docs/check.md lists what is read and tested.`,
		Example: "  lockstep check report.md\n" +
			"  lockstep check table.csv --json\n" +
			"  lockstep check runs/20261121-101500-bench\n" +
			"  lockstep check runs/20261121-093000-vgg11-ddp-w2\n" +
			"  lockstep bench --quick --json | lockstep check -",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("check takes one file, got %d; - is standard input", len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			show := newProgress(a, false)
			report, err := checkFile(args[0], show)
			show.end()
			if err != nil {
				return err
			}
			write := func() error { return check.Write(a.stdout, report) }
			if isJSON {
				write = func() error { return writeJSON(a, report) }
			}
			if failed := write(); failed != nil {
				return failed
			}
			if report.IsRefused() {
				return errRefused
			}
			return nil
		},
	}
	addJSON(c, &isJSON)
	return c
}

// errRefused says that a document was read and something in it refused. It ends the program with
// job.ExitCheck and without another line: the objections have been printed.
var errRefused = errors.New("refused")

// slowBytes is the size of a file from which reading it takes a second or more.
const slowBytes = 8 << 20

// reading shows what is done with a file, if that takes long enough to be asked.
func (p *progress) reading(f *os.File, what string) {
	if info, err := f.Stat(); err == nil && info.Size() >= slowBytes {
		p.show(launcher.Progress{Phase: fmt.Sprintf("%s, %d MiB", what, info.Size()>>20)})
	}
}

// checkFile reads a file, a bundle, or standard input, and judges it.
func checkFile(path string, show *progress) (found *check.Report, err error) {
	if path != "-" && isBundle(path) {
		err = unpacked(path, func(folder string, m bundle.Manifest) error {
			if m.Kind == bundle.Training {
				found, err = checkTraining(folder)
			} else {
				found, err = checkFile(filepath.Join(folder, report.ResultsFile), show)
			}
			return err
		})
		return found, err
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		if report.HoldsTraining(path) || job.HasSteps(path) {
			return checkTraining(path)
		}
		folder := path
		path = filepath.Join(path, report.ResultsFile)
		if isAbsent(path) {
			return nil, badResults(folder, fs.ErrNotExist)
		}
	}
	file := os.Stdin
	if path != "-" {
		f, err := regular.Open(path)
		if err != nil {
			return nil, usagef("%v; give a file with figures, or a results.json, or the folder of a "+
				"benchmark or of a training run", err)
		}
		defer f.Close()
		file = f
	}
	show.reading(file, "read")
	d, err := check.Read(file, path)
	if err != nil {
		return nil, usagef("%s: %v", path, err)
	}
	show.reading(file, "check")
	if d.Results != nil {
		return checkResults(d.Results), nil
	}
	return check.Check(d), nil
}

// checkResults judges results of Lockstep's own by what a report finds in them.
func checkResults(r *record.Results) *check.Report {
	var found []check.Objection
	for _, f := range compare.Compare(r).Findings {
		severity := check.Warn
		if f.Severity == finding.Refused {
			severity = check.Refuse
		}
		if f.Severity != finding.Fact {
			found = append(found, check.Objection{Rule: f.Rule, Severity: severity, Text: report.Word(f),
				Remedy: report.Remedy(f)})
		}
	}
	runs := 0
	for _, row := range r.Rows {
		runs += len(row.Runs)
	}
	return check.Own(runs, spelling.Count(len(r.Rows), "row"), found)
}

// checkTraining judges the training run in a folder.
func checkTraining(folder string) (*check.Report, error) {
	t, err := openTraining(folder)
	if err != nil {
		return nil, err
	}
	var found []check.Objection
	for _, text := range t.Changed() {
		found = append(found, check.Objection{Rule: "seal", Severity: check.Refuse, Text: text,
			Remedy: "the folder as lockstep train wrote it"})
	}
	return check.Own(0, "training run: "+comparedOf(t), found), nil
}

// comparedOf says which files of a training run its seal was compared with.
func comparedOf(t *compare.Training) string {
	switch {
	case t.IsInterrupted:
		return "not compared, as it has no summary"
	case t.Seal == "":
		return "not compared, as its summary has no seal"
	case !t.HasSteps && t.Steps > 0:
		return "summary compared with its seal; steps.jsonl is not there or is empty"
	}
	return "summary and steps compared with their seal"
}
