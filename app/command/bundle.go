package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"lockstep/app/analysis"
	"lockstep/app/bench"
	"lockstep/app/bundle"
	"lockstep/app/job"
	"lockstep/app/record"
	"lockstep/app/report"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/internal/regular"
)

// bundleSuffix is the usual end of a bundle's name.
const bundleSuffix = ".tar.gz"

// bundleCommand packs a folder.
func bundleCommand(a *app) *cobra.Command {
	var out string
	var isJSON bool
	c := &cobra.Command{
		Use:   "bundle FOLDER [flags]",
		Short: "Pack a benchmark or a training run into one file, with all its raw data",
		Long: `Pack a benchmark or a training run into one file, with all its raw data.

The file is a gzip'd tar with results, configurations, logs, reports, and the digest of each. Weights,
checkpoints and exported batches stay out and are named in it. Equal folders give equal bytes. lockstep
report, check and replay take the file on another machine.`,
		Example: "  lockstep bundle runs/20261121-101500-bench\n" +
			"  lockstep bundle runs/20261121-101500-bench -o mine.tar.gz\n" +
			"  lockstep report mine.tar.gz",
		Args: oneArgument("bundle", "folder"),
		RunE: func(_ *cobra.Command, args []string) error {
			folder := filepath.Clean(args[0])
			if out == "" {
				out = filepath.Base(folder) + bundleSuffix
			}
			m, err := a.pack(folder, out)
			switch {
			case err != nil:
				return err
			case isJSON:
				return writeJSON(a, packed{out, m})
			}
			return packed{out, m}.tell(a.stdout)
		},
	}
	c.Flags().StringVarP(&out, "out", "o", "", "new `FILE` (default: the folder's name with "+
		""+bundleSuffix+")")
	addJSON(c, &isJSON)
	return c
}

// packed is what bundle prints.
type packed struct {
	File     string          `json:"file"`
	Manifest bundle.Manifest `json:"manifest"`
}

// oneArgument requires exactly one argument.
func oneArgument(command, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usagef("%s takes one %s, got %d", command, what, len(args))
		}
		return nil
	}
}

// pack writes the bundle of a folder.
func (a *app) pack(folder, out string) (bundle.Manifest, error) {
	v := describeVersion()
	m := bundle.Manifest{Version: v.Version, Revision: v.Revision, Kind: bundle.Bench}
	if report.HoldsTraining(folder) || job.HasSteps(folder) {
		m.Kind = bundle.Training
	} else if _, err := report.Read(folder); err != nil {
		return m, badResults(folder, err)
	}
	if !isAbsent(out) {
		return m, usagef("--out: %s is there already; choose a new name", out)
	}
	m, err := bundle.Scan(folder, m)
	if err != nil {
		return m, err
	}
	return m, regular.Replace(out, func(w io.Writer) error { return bundle.Write(w, folder, m) })
}

// tell writes a line on a bundle.
func (p packed) tell(w io.Writer) error {
	var total int64
	for _, f := range p.Manifest.Files {
		total += f.Bytes
	}
	_, err := fmt.Fprintf(w, "%s: %s of %s; left out: %s\n", p.File, count(len(p.Manifest.Files), "file"),
		setting.Size(total), count(len(p.Manifest.LeftOut), "file"))
	return err
}

// isBundle reports whether a path may be a bundle: a file that begins as gzip does.
func isBundle(path string) bool {
	f, err := regular.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	start := make([]byte, 2)
	_, err = io.ReadFull(f, start)
	return err == nil && bytes.Equal(start, []byte{0x1f, 0x8b})
}

// unpacked calls use with a temporary folder that holds a bundle's files.
func unpacked(path string, use func(folder string, m bundle.Manifest) error) error {
	folder, err := os.MkdirTemp("", "lockstep-bundle-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	m, err := bundle.ExtractFile(path, folder)
	if err != nil {
		return err
	}
	return use(folder, m)
}

// unpackBeside takes a bundle out into a new folder and returns it.
func unpackBeside(path, out string) (string, error) {
	if out == "" {
		out = strings.TrimSuffix(filepath.Base(path), bundleSuffix)
		if out == filepath.Base(path) {
			out += ".d"
		}
	}
	if !isAbsent(out) {
		return "", usagef("%s is there already; want another folder for the bundle's files: --out "+
			"FOLDER", out)
	}
	if _, err := bundle.ExtractFile(path, out); err != nil {
		os.RemoveAll(out) // it was absent
		return "", err
	}
	return out, nil
}

// replayCommand runs again what a bundle holds.
func replayCommand(a *app) *cobra.Command {
	var out string
	var isJSON, isQuiet bool
	c := &cobra.Command{
		Use:   "replay FILE [flags]",
		Short: "Run a bundled benchmark or training run again here, and compare",
		Long: `Run a bundled benchmark or training run again here, and compare.

Every run is repeated with its own settings into a new folder. Parameters must be the same, bit for bit,
where the run promises those of one process and both machines have the same kernels; if they are not, the
status is 8. Speed is called the same, different or undecided; it may differ between machines.`,
		Example: "  lockstep replay mine.tar.gz\n  lockstep replay mine.tar.gz --out again --json",
		Args:    oneArgument("replay", "file"),
		RunE: func(c *cobra.Command, args []string) error {
			if out == "" {
				out = filepath.Join("runs", time.Now().Format("20060102-150405")+"-replay")
			}
			return unpacked(args[0], func(folder string, m bundle.Manifest) error {
				rows, err := a.replay(c, folder, m, out, isQuiet)
				if err != nil {
					return err
				}
				if isJSON {
					err = writeJSON(a, replayed{out, rows})
				} else {
					err = printReplay(a.stdout, out, rows)
				}
				isOther := func(r analysis.Replayed) bool { return r.Parameters == analysis.Different }
				if err == nil && slices.ContainsFunc(rows, isOther) {
					err = errRefused
				}
				return err
			})
		},
	}
	c.Flags().StringVarP(&out, "out", "o", "", "new `FOLDER` for the results (default: runs/<time>-replay)")
	c.Flags().BoolVarP(&isQuiet, "quiet", "q", false, "show no progress")
	addJSON(c, &isJSON)
	return c
}

// replayed is what replay prints.
type replayed struct {
	Folder string              `json:"folder"` // of the new runs
	Rows   []analysis.Replayed `json:"rows"`
}

// replay runs what lies in a folder again and compares.
func (a *app) replay(c *cobra.Command, folder string, m bundle.Manifest, out string, isQuiet bool) (
	[]analysis.Replayed, error) {
	ctx, stop := a.interruptible(c.Context())
	defer stop()
	if m.Kind == bundle.Training {
		return a.replayTraining(ctx, folder, out)
	}
	there, err := report.Read(folder)
	if err != nil {
		return nil, &bundle.FormatError{Entry: report.ResultsFile, Reason: err.Error()}
	}
	if wrong := analysis.Compare(there).Contradictions(); len(wrong) > 0 {
		return nil, &doctoredError{folder, wrong}
	}
	show := newBenchProgress(a, isQuiet)
	v := describeVersion()
	here, err := bench.Replay(ctx, folder, out, &a.catalog, bench.Options{
		Label: record.Results{Version: v.Version, Revision: v.Revision, Command: there.Command,
			Recipe: there.Recipe},
		Progress: show.bench, Job: job.Options{Environment: a.environment}})
	show.end()
	if err != nil {
		return nil, err
	}
	if err := benchmarkReport(here).Write(out); err != nil {
		return nil, err
	}
	return analysis.Replay(there, here), nil
}

// replayTraining runs a training run again.
func (a *app) replayTraining(ctx context.Context, folder, out string) ([]analysis.Replayed, error) {
	text, err := os.ReadFile(filepath.Join(folder, rundir.SummaryFile))
	if err != nil {
		return nil, &bundle.FormatError{Entry: rundir.SummaryFile,
			Reason: "the run did not end, so there is nothing to compare with"}
	}
	there := &record.Summary{}
	if err := json.Unmarshal(text, there); err != nil {
		return nil, &bundle.FormatError{Entry: rundir.SummaryFile, Reason: err.Error()}
	}
	if there.Resumed != nil || there.Weights != nil {
		return nil, usagef("the run began with weights or a checkpoint, which are not in the bundle; " +
			"want one " +
			"that began anew")
	}
	config, err := setting.ReadFile(filepath.Join(folder, rundir.ConfigFile))
	if err != nil {
		return nil, err
	}
	config.Catalog, config.Out, config.Save = &a.catalog, out, false
	if _, err := os.Stat(config.DataDir); err != nil {
		config.DataDir = ""
	}
	here, err := job.Run(ctx, config, job.Options{Environment: a.environment, Stderr: a.stderr})
	if err != nil {
		return nil, err
	}
	return []analysis.Replayed{analysis.ReplayTraining(there, here, config.Inexact() == "")}, nil
}

// printReplay prints what replaying showed.
func printReplay(w io.Writer, out string, rows []analysis.Replayed) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "row\tparameters\tspeed\tstep there / here\t")
	for _, r := range rows {
		ratio := "–"
		if r.Ratio > 0 {
			ratio = fmt.Sprintf("%.2f", r.Ratio)
		}
		if r.High > 0 {
			ratio += fmt.Sprintf(" (%.2f to %.2f)", r.Low, r.High)
		}
		fmt.Fprintf(t, "%s\t%s (%s)\t%s\t%s\t\n", r.Name, r.Parameters, r.Why, r.Speed, ratio)
	}
	fmt.Fprintf(t, "\n%s\n", out)
	return t.Flush()
}

// isBadBundle reports whether err says that a bundle is malformed.
func isBadBundle(err error) bool {
	bad := (*bundle.FormatError)(nil)
	return errors.As(err, &bad)
}
