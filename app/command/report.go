package command

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"lockstep/app/report"
)

// reportCommand renders the report of a benchmark or of a training run again.
func reportCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "report FOLDER",
		Short: "Render the report of a benchmark or of a training run again",
		Long: `Render a report again: of a benchmark, report.md and report.html from its results.json; of a
training run, report.html from its summary.json, steps.jsonl and config.yaml.`,
		Example: "  lockstep report runs/20261121-101500-bench",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("report takes one folder, got %d", len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if report.HoldsTraining(args[0]) {
				if err := report.WriteTraining(args[0]); err != nil {
					return usagef("%v; give a folder whose files are whole", err)
				}
				fmt.Fprintln(a.stdout, filepath.Join(args[0], report.HTMLFile))
				return nil
			}
			results, err := report.Read(args[0])
			if err != nil {
				return badResults(args[0], err)
			}
			if err := report.Write(args[0], results); err != nil {
				return err
			}
			fmt.Fprintln(a.stdout, filepath.Join(args[0], report.HTMLFile))
			return nil
		},
	}
}

// badResults words why a folder cannot be rendered.
func badResults(folder string, err error) error {
	switch {
	case errors.Is(err, syscall.ENOTDIR):
		return usagef("%s is no folder; give the one that lockstep bench wrote", folder)
	case errors.Is(err, fs.ErrNotExist):
		return usagef("%s holds no %s; give the folder that lockstep bench wrote", folder,
			report.ResultsFile)
	}
	return usagef("%v; give a folder whose results are whole, or run the benchmark again", err)
}
