package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"lockstep/app/analysis"
	"lockstep/app/job"
	"lockstep/app/report"
)

// reportCommand renders the report of a benchmark or of a training run again.
func reportCommand(a *app) *cobra.Command {
	var isJSON bool
	var out string
	c := &cobra.Command{
		Use:   "report FOLDER|BUNDLE [flags]",
		Short: "Render the report of a benchmark or of a training run again",
		Long: `Render a report again, report.md and report.html: of a benchmark or of commbench from its
results.json; of a training run from its summary.json, steps.jsonl and config.yaml. A run that was
interrupted has no summary.json; its report tells of the steps that were done. A bundle is taken out into
a new folder first.

Results that contradict themselves, because the file was changed after it was written, are refused with
the reasons and status 8 (see lockstep check).`,
		Example: "  lockstep report runs/20261121-101500-bench\n" +
			"  lockstep report mine.tar.gz --out mine",
		Args: oneArgument("report", "folder or bundle"),
		RunE: func(_ *cobra.Command, args []string) error {
			folder := args[0]
			if isBundle(folder) {
				var err error
				if folder, err = unpackBeside(folder, out); err != nil {
					return err
				}
			} else if out != "" {
				return usagef("--out is for bundles; the report of a folder is written into it")
			}
			if err := renderAgain(folder); err != nil {
				return err
			}
			path := filepath.Join(folder, report.HTMLFile)
			if isJSON {
				return writeJSON(a, rendered{path})
			}
			_, err := fmt.Fprintln(a.stdout, path)
			return err
		},
	}
	c.Flags().StringVarP(&out, "out", "o", "", "of a bundle: new `FOLDER` for its files (default: its name "+
		"without "+bundleSuffix+")")
	addJSON(c, &isJSON)
	return c
}

// rendered is what report prints.
type rendered struct {
	Report string `json:"report"` // path of report.html
}

// renderAgain renders the report of the benchmark or of the training run in a folder.
func renderAgain(folder string) error {
	if report.HoldsTraining(folder) || job.HasSteps(folder) {
		if err := writeTraining(folder); err != nil {
			return usagef("%v; give a folder whose files are whole", err)
		}
		return nil
	}
	if m := report.ReadCollectives(folder); m != nil {
		return report.WriteCollectives(folder, *m)
	}
	results, err := report.Read(folder)
	if err != nil {
		return badResults(folder, err)
	}
	if wrong := analysis.Compare(results).Contradictions(); len(wrong) > 0 {
		return &doctoredError{folder, wrong}
	}
	return report.Write(folder, results)
}

// doctoredError says that the results in a folder contradict themselves, so that nothing was rendered. It
// ends the program with job.ExitCheck.
type doctoredError struct {
	folder string
	wrong  []analysis.Note
}

// Error lists the contradictions, one a line.
func (e *doctoredError) Error() string {
	text := filepath.Join(e.folder, report.ResultsFile) +
		" contradicts itself, so it was changed after it was written; no report is made of it"
	for _, n := range e.wrong {
		text += "\nrefused: " + analysis.Plain(n.Text)
	}
	return text
}

// writeTraining renders the report of the training run in folder, whether or not it has ended.
func writeTraining(folder string) error {
	if report.HoldsTraining(folder) {
		return report.WriteTraining(folder)
	}
	summary, err := job.Unfinished(folder)
	if err != nil {
		return err
	}
	text, err := json.Marshal(summary)
	if err != nil {
		return err
	}
	return report.WriteUnfinished(folder, bytes.NewReader(text))
}

// isAbsent reports whether there is nothing at path.
func isAbsent(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// badResults words why a folder cannot be rendered.
func badResults(folder string, err error) error {
	switch {
	case errors.Is(err, syscall.ENOTDIR):
		return usagef("%s is no folder; give that of a benchmark or of a training run", folder)
	case isAbsent(folder):
		return usagef("%s does not exist; give the folder of a benchmark or of a training run", folder)
	case errors.Is(err, fs.ErrNotExist):
		return usagef("%s holds no %s and no training run; give the folder of a benchmark or of a training "+
			"run", folder, report.ResultsFile)
	}
	return usagef("%v; give a folder whose results are whole, or run the benchmark again", err)
}
