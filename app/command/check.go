package command

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"lockstep/app/check"
	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/finding"
	"lockstep/app/job"
	"lockstep/app/record"
	"lockstep/app/report"
	"lockstep/internal/regular"
	"lockstep/internal/spelling"

	"github.com/spf13/cobra"
)

// checkCommand judges the figures of a document.
func checkCommand(a *app) *cobra.Command {
	return a.answering(&cobra.Command{
		Use:   "check FILE [flags]",
		Short: "Check the figures of a report on training runs",
		Long: `Check the figures of a report on training runs.

The file is somebody's Markdown, CSV, JSON, log or plain text, or a results.json of lockstep bench, or the
folder that has it; - is standard input. It may also be the folder of a training run. Lockstep's own files
are refused if they were changed after they were sealed.
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
		Args: takes(1, 1, "one file; - is standard input"),
	}, func(_ *cobra.Command, args []string) (answer, error) {
		found, err := checkFile(args[0])
		if err != nil {
			return answer{}, err
		}
		if found.IsRefused() {
			err = errRefused
		}
		return answer{found, func(w io.Writer) error { return check.Write(w, found) }}, err
	})
}

// errRefused says that a document was read and something in it refused. It ends the program with
// job.ExitCheck and without another line: the objections have been printed.
var errRefused = errors.New("refused")

// checkFile reads a file, a folder, or standard input, and judges it.
func checkFile(path string) (*check.Report, error) {
	if report.HoldsTraining(path) || job.HasSteps(path) {
		return checkTraining(path)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, report.ResultsFile)
	}
	file := os.Stdin
	if path != "-" {
		f, err := regular.Open(path)
		if err != nil {
			return nil, usagef("%v; give a file with figures, or the folder of a benchmark or of a training "+
				"run", err)
		}
		defer f.Close() // only read
		file = f
	}
	d, err := check.Read(file, path)
	if err != nil {
		return nil, usagef("%s: %v", path, err)
	}
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
	return check.Own(0, "training run", found), nil
}
