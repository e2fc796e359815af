package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"lockstep/app/bench"
	"lockstep/app/bundle"
	"lockstep/app/claim"
	"lockstep/app/job"
	"lockstep/app/report"
	"lockstep/internal/regular"
)

// checkCommand judges a table and the sentences around it.
func checkCommand(a *app) *cobra.Command {
	var isJSON bool
	c := &cobra.Command{
		Use:   "check FILE [flags]",
		Short: "Check a table of training runs, and the sentences around it",
		Long: `Check a table of training runs, and the sentences around it.

The file is somebody's CSV, Markdown or JSON, or a results.json of lockstep bench, the folder that
has it, or a bundle of one; - is standard input. It may also be the folder or the bundle of a training
run: its steps.jsonl is compared with its summary.json.
Columns are known by their names, in any order and with units: strategy, workers, nodes, threads, batch,
samples, epochs, total s, epoch s, step ms, samples/s, speed-up, efficiency, loss, accuracy, seed,
repeat, low, high, cores, cost, source (measured or projected). Sentences such as "ddp is 1.8x faster
than single" are compared with the table; those that the grammar does not understand are listed as not
checked.

Each objection comes with its arithmetic and with what would answer it. The status is 8 if something is
refused, 0 if there are only notes, 2 if the file cannot be read or holds no table. docs/check.md lists
columns, rules and grammar.`,
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
			if report == nil {
				return err
			}
			write := func() error { return claim.Write(a.stdout, report) }
			if isJSON {
				write = func() error { return writeJSON(a, report) }
			}
			if failed := write(); failed != nil {
				return failed
			}
			if err == nil && report.IsRefused() {
				err = errRefused
			}
			return err
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
		p.show(job.Progress{Phase: fmt.Sprintf("%s, %d MiB", what, info.Size()>>20)})
	}
}

// checkFile reads a file, a bundle, or standard input, and judges it.
func checkFile(path string, show *progress) (found *claim.Report, err error) {
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
			return nil, usagef("%v; give a file with a table, or a results.json, or the folder of a "+
				"benchmark or of a training run", err)
		}
		defer f.Close()
		file = f
	}
	show.reading(file, "read")
	d, err := claim.Read(file, path)
	if err != nil {
		return nil, usagef("%s: %v", path, err)
	}
	show.reading(file, "check")
	found = claim.Check(d)
	switch {
	case d.Results == nil && found.Tables == 0 && !found.IsRefused():
		return nil, usagef("%s: no table to compare its sentences with; give a file that has both", path)
	case d.Results == nil || path == "-":
		return found, nil
	}
	other, err := bench.CheckKept(filepath.Dir(path), d.Results)
	if other != "" {
		found.Objections = append([]claim.Objection{{Severity: claim.Refused, Rule: "raw samples",
			Where: "results", Text: other, Answer: "the folder as lockstep bench wrote it"}},
			found.Objections...)
	}
	if err != nil {
		err = usagef("%v; what else was found is above", err)
	}
	return found, err
}

// checkTraining judges the training run in a folder.
func checkTraining(folder string) (*claim.Report, error) {
	t, err := openTraining(folder)
	if err != nil {
		return nil, err
	}
	return claim.CheckTraining(t), nil
}
