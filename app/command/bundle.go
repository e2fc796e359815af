package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"lockstep/app/bench"
	"lockstep/app/bundle"
	"lockstep/app/evidence/compare"
	"lockstep/app/job/chooser"
	"lockstep/app/job/launcher"
	"lockstep/app/record"
	"lockstep/app/report"
	"lockstep/internal/regular"
	"lockstep/internal/spelling"

	"github.com/spf13/cobra"
)

// bundleSuffix is the usual end of a bundle's name.
const bundleSuffix = ".tar.gz"

// bundleCommand packs a folder.
func bundleCommand(a *app) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "bundle FOLDER [flags]",
		Short: "Pack a benchmark or a training run into one file, with all its raw data",
		Long: `Pack a benchmark or a training run into one file, with all its raw data.

The file is a gzip'd tar with results, configurations, logs, reports, and the digest of each. Weights,
checkpoints and exported batches stay out and are named in it; a run that began with some cannot be run
again from it. Equal folders give equal bytes. lockstep replay takes the file on another machine; files in
it that are not those of its list are refused with status 3.`,
		Example: "  lockstep bundle runs/20261121-101500-bench\n" +
			"  lockstep bundle runs/20261121-101500-bench -o mine.tar.gz",
		Args: takes(1, 1, "one folder"),
	}
	c.Flags().StringVarP(&out, "out", "o", "", "new `FILE` (default: the folder's name with "+
		bundleSuffix+")")
	return a.answering(c, func(_ *cobra.Command, args []string) (answer, error) {
		folder, err := filepath.Abs(args[0])
		if err != nil {
			return answer{}, err
		}
		out = cmp.Or(out, filepath.Base(folder)+bundleSuffix)
		m, err := pack(args[0], out)
		return answer{packed{out, m}, packed{out, m}.tell}, err
	})
}

// packed is what bundle prints.
type packed struct {
	File     string          `json:"file"`
	Manifest bundle.Manifest `json:"manifest"`
}

// pack writes the bundle of a folder.
func pack(folder, out string) (bundle.Manifest, error) {
	v := describeVersion()
	m := bundle.Manifest{Version: v.Version, Revision: v.Revision, Kind: bundle.Bench}
	if report.HoldsTraining(folder) {
		m.Kind = bundle.Training
	} else if _, err := readResults(folder); err != nil {
		return m, err
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
	_, err := fmt.Fprintf(w, "%s: %s of %s; left out: %s of weights, checkpoints and batches\n", p.File,
		spelling.Count(len(p.Manifest.Files), "file"), spelling.Size(total),
		spelling.Count(len(p.Manifest.LeftOut), "file"))
	return err
}

// unpacked calls use with a temporary folder that holds a bundle's files.
func unpacked(path string, use func(folder string, m bundle.Manifest) error) error {
	f, err := regular.Open(path)
	if err != nil {
		return usagef("%v; give a file that lockstep bundle wrote", err)
	}
	defer f.Close() // only read
	folder, remove, err := regular.MakeFolder("", "bundle")
	if err != nil {
		return err
	}
	defer remove()
	m, err := bundle.Extract(f, folder)
	if err != nil {
		return err
	}
	return use(folder, m)
}

// replayCommand runs again what a bundle holds.
func replayCommand(a *app) *cobra.Command {
	var out string
	var isQuiet bool
	c := &cobra.Command{
		Use:   "replay FILE [flags]",
		Short: "Run a bundled benchmark or training run again here, and compare",
		Long: `Run a bundled benchmark or training run again here, and compare.

Every run is repeated with its own settings into a new folder. Parameters must be the same, bit for bit,
where the run promises those of one process and both machines have the same kernels; if they are not, the
status is 8. The ratio of the steps is told and decides nothing. Data sets are those of LOCKSTEP_DATA or the
user's cache folder, wherever the bundle had them.`,
		Example: "  lockstep replay mine.tar.gz\n  lockstep replay mine.tar.gz --out again --json",
		Args:    takes(1, 1, "one file"),
	}
	c.Flags().StringVarP(&out, "out", "o", "", "new `FOLDER` for the results (default: runs/<time>-replay)")
	c.Flags().BoolVarP(&isQuiet, "quiet", "q", false, "show no progress")
	return a.answering(c, func(c *cobra.Command, args []string) (found answer, err error) {
		out = cmp.Or(out, newFolder("replay"))
		err = unpacked(args[0], func(folder string, m bundle.Manifest) error {
			rows, err := a.replay(c, folder, m, out, isQuiet)
			if err != nil {
				return err
			}
			found = answer{replayed{out, rows}, func(w io.Writer) error { return printReplay(w, out, rows) }}
			isOther := func(r compare.Replayed) bool { return r.Parameters == compare.Different }
			if slices.ContainsFunc(rows, isOther) {
				return errRefused
			}
			return nil
		})
		return found, err
	})
}

// replayed is what replay prints.
type replayed struct {
	Folder string             `json:"folder"` // of the new runs
	Rows   []compare.Replayed `json:"rows"`
}

// replay runs what lies in a folder again and compares.
func (a *app) replay(c *cobra.Command, folder string, m bundle.Manifest, out string, isQuiet bool) (
	[]compare.Replayed, error) {
	ctx, stop := a.interruptible(c.Context())
	defer stop()
	if m.Kind == bundle.Training {
		return a.replayTraining(ctx, folder, out)
	}
	there, err := readResults(folder)
	if err != nil {
		return nil, err
	}
	show := newProgress(a, isQuiet)
	o := a.benchOptions(show, there.Command)
	o.Label.Recipe = there.Recipe
	here, err := bench.Replay(ctx, folder, out, &a.catalog, o)
	show.end()
	isInterrupted := here != nil && errors.Is(err, context.Canceled)
	if err != nil && !isInterrupted {
		return nil, err
	}
	if failed := report.Benchmark(here).Write(out); failed != nil {
		return nil, failed
	}
	if isInterrupted {
		return nil, &interruptedError{goesOn(here, out) + ", without comparing them with the bundle", err}
	}
	return compare.Replay(there, here), nil
}

// replayTraining runs a training run again.
func (a *app) replayTraining(ctx context.Context, folder, out string) ([]compare.Replayed, error) {
	kept, err := readTraining(folder)
	if err != nil {
		return nil, err
	}
	there := &kept.Summary
	if there.IsInterrupted || there.Resumed != nil || there.Weights != nil {
		return nil, usagef("the run did not end, or began with weights or a checkpoint, which are not in " +
			"the bundle; want one that began anew and ended")
	}
	was, err := bench.SubjectNamed(folder, &a.catalog)
	if err != nil {
		return nil, err
	}
	config := was.Row.Foreign()
	config.Out, config.Save = out, false
	o := launcher.Options{Environment: a.environment, Stderr: a.stderr}
	if _, err := chooser.Run(ctx, config, o); err != nil {
		return nil, err
	}
	is, err := bench.SubjectNamed(out, &a.catalog)
	if err != nil {
		return nil, err
	}
	one := func(s bench.Subject) *record.Results {
		return &record.Results{Rounds: 1, Rows: []record.Row{s.Record}}
	}
	return compare.Replay(one(was), one(is)), nil
}

// printReplay prints what replaying showed.
func printReplay(w io.Writer, out string, rows []compare.Replayed) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "row\tparameters\tstep there / here\t")
	for _, r := range rows {
		ratio := "–"
		if r.Ratio > 0 {
			ratio = fmt.Sprintf("%.2f", r.Ratio)
		}
		fmt.Fprintf(t, "%s\t%s (%s)\t%s\t\n", spelling.Plain(r.Name), r.Parameters, spelling.Plain(r.Why),
			ratio)
	}
	fmt.Fprintf(t, "\n%s\n", out)
	return t.Flush()
}
