package command

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"lockstep/app/bench"
	"lockstep/app/bundle"
	"lockstep/app/evidence/compare"
	"lockstep/app/job"
	"lockstep/app/job/chooser"
	"lockstep/app/job/launcher"
	"lockstep/app/record"
	"lockstep/app/report"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/cluster"
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
again from it. Equal folders give equal bytes. lockstep report, check and replay take the file on another
machine; files in it that are not those of its list are refused with status 3. Results that were
changed after they were sealed are refused with the reasons and status 8.`,
		Example: "  lockstep bundle runs/20261121-101500-bench\n" +
			"  lockstep bundle runs/20261121-101500-bench -o mine.tar.gz\n" +
			"  lockstep report mine.tar.gz",
		Args: oneArgument("bundle", "folder"),
	}
	c.Flags().StringVarP(&out, "out", "o", "", "new `FILE` (default: the folder's name with "+
		bundleSuffix+")")
	return a.answering(c, func(_ *cobra.Command, args []string) (answer, error) {
		folder := filepath.Clean(args[0])
		if out == "" {
			var err error
			if out, err = bundleOf(folder); err != nil {
				return answer{}, err
			}
		}
		m, err := a.pack(folder, out)
		if err != nil {
			return answer{}, err
		}
		if why := notReplayed(folder, m.Kind); why != "" {
			fmt.Fprintf(a.stderr, "note: lockstep replay will refuse this bundle: %s\n", why)
		}
		return answer{packed{out, m}, packed{out, m}.tell}, nil
	})
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
	}
	if err := packable(folder, m.Kind); err != nil {
		return m, err
	}
	if !isAbsent(out) {
		return m, usagef("--out: %s is there already; choose a new name", out)
	}
	if isAbsent(filepath.Dir(out)) {
		return m, usagef("--out: there is no folder %s; make it first", filepath.Dir(out))
	}
	m, err := bundle.Scan(folder, m)
	if err != nil {
		return m, err
	}
	return m, regular.Replace(out, func(w io.Writer) error { return bundle.Write(w, folder, m) })
}

// packable refuses a folder whose results or summary were changed or cannot be read: who takes the
// bundle could not read them either. A run that ended early has no summary.
func packable(folder, kind string) error {
	if kind == bundle.Training {
		_, err := readTraining(folder)
		if wrong := (*changedError)(nil); errors.As(err, &wrong) || report.HoldsTraining(folder) {
			return err
		}
		return nil
	}
	r, err := readResults(folder)
	if err != nil {
		return err
	}
	return refuseChanged(folder, r)
}

// tell writes a line on a bundle.
func (p packed) tell(w io.Writer) error {
	var total int64
	for _, f := range p.Manifest.Files {
		total += f.Bytes
	}
	_, err := fmt.Fprintf(w, "%s: %s of %s; left out: %s\n", p.File,
		spelling.Count(len(p.Manifest.Files), "file"), setting.Size(total), leftOut(p.Manifest.LeftOut))
	return err
}

// leftOut counts files and says what they are: a few by name, those of checkpoints together.
func leftOut(names []string) string {
	const most = 3
	isCheckpoint := func(name string) bool { return slices.Contains(strings.Split(name, "/"), "checkpoints") }
	parts := slices.DeleteFunc(slices.Clone(names), isCheckpoint)
	n := len(names) - len(parts)
	if len(parts) > most {
		parts = append(parts[:most], fmt.Sprintf("%d more of weights and batches", len(parts)-most))
	}
	if n > 0 {
		parts = append(parts, fmt.Sprintf("%d in checkpoints", n))
	}
	text := spelling.Count(len(names), "file")
	if len(parts) > 0 {
		text += " (" + spelling.Plain(strings.Join(parts, ", ")) + ")"
	}
	return text
}

// bundleOf returns the file that a folder is packed into: in the current folder, or beside that if it is the
// one to pack.
func bundleOf(folder string) (string, error) {
	whole, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	name := filepath.Base(whole) + bundleSuffix
	if here, err := filepath.Abs("."); err == nil && here == whole {
		name = filepath.Join("..", name)
	}
	return name, nil
}

// notReplayed says why what is in a folder cannot be run again from its bundle; "" if it can.
func notReplayed(folder, kind string) string {
	if kind != bundle.Training {
		return ""
	}
	t, err := openTraining(folder)
	switch {
	case err != nil:
		return "what its files say of it cannot be read"
	case t.IsInterrupted:
		return "the run did not end, so there is nothing to compare with"
	case t.Resumed != nil:
		return "the run was resumed from a checkpoint, which is not in the bundle"
	case t.Weights != nil:
		return "the run began with weights, which are not in the bundle"
	}
	return ""
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
	f, err := regular.Open(path)
	if err != nil {
		return noBundle(path, err)
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
	if err := use(folder, m); err != nil {
		return &bundledError{err, folder, path}
	}
	return nil
}

// noBundle says what to give in place of a path that cannot be opened as a regular file.
func noBundle(path string, err error) error {
	if isAbsent(path) {
		return usagef("%s does not exist; give a file that lockstep bundle wrote", path)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return usagef("%s is a folder; give the file that lockstep bundle %s writes", path,
			spelling.Word(path))
	}
	return usagef("%v; give a file that lockstep bundle wrote", err)
}

// bundledError is an error about what was taken out of a bundle into a temporary folder, which means nothing
// to the reader. It names the bundle instead.
type bundledError struct {
	err          error
	folder, path string
}

// Error puts the bundle's path in the folder's place.
func (e *bundledError) Error() string { return strings.ReplaceAll(e.err.Error(), e.folder, e.path) }

// Unwrap returns the error that names the folder.
func (e *bundledError) Unwrap() error { return e.err }

// unpackBeside takes a bundle out into a new folder and returns it.
func unpackBeside(path, out string) (string, error) {
	if out == "" {
		out = strings.TrimSuffix(filepath.Base(path), bundleSuffix)
		if out == filepath.Base(path) {
			out += ".d"
		}
	}
	if out == "" {
		return "", usagef("%s has no name for a folder; give one for the bundle's files: --out FOLDER", path)
	}
	if !isAbsent(out) {
		return "", usagef("%s is there already; want another folder for the bundle's files: --out "+
			"FOLDER", out)
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return "", usagef("--out: %v", err)
	}
	f, err := regular.Open(path)
	if err != nil {
		return "", noBundle(path, err)
	}
	defer f.Close() // only read
	if _, err := bundle.Extract(f, out); err != nil {
		os.RemoveAll(out) // it was absent
		return "", err
	}
	return out, nil
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
status is 8. Speed is called the same, different or undecided; it may differ between machines. Data sets are
those of LOCKSTEP_DATA or the user's cache folder, wherever the bundle had them.`,
		Example: "  lockstep replay mine.tar.gz\n  lockstep replay mine.tar.gz --out again --json",
		Args:    oneArgument("replay", "file"),
	}
	c.Flags().StringVarP(&out, "out", "o", "", "new `FOLDER` for the results (default: runs/<time>-replay)")
	c.Flags().BoolVarP(&isQuiet, "quiet", "q", false, "show no progress")
	return a.answering(c, func(c *cobra.Command, args []string) (found answer, err error) {
		out = cmp.Or(out, newFolder("replay"))
		err = unpacked(args[0], func(folder string, m bundle.Manifest) error {
			rows, err := a.replay(c, folder, m, out, isQuiet)
			if errors.Is(err, context.Canceled) && m.Kind == bundle.Training {
				return &interruptedError{"all workers have stopped; lockstep replay " +
					spelling.Word(args[0]) + " runs it again from the start", err}
			}
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
	there, err := report.Read(folder)
	if err != nil {
		return nil, &bundle.FormatError{Entry: report.ResultsFile, Reason: err.Error()}
	}
	if err := refuseChanged(folder, there); err != nil {
		return nil, err
	}
	show := newProgress(a, isQuiet)
	v := describeVersion()
	here, err := bench.Replay(ctx, folder, out, &a.catalog, bench.Options{
		Label: record.Results{Version: v.Version, Revision: v.Revision, Command: there.Command,
			Recipe: there.Recipe, Lab: a.environment[cluster.EnvLabFlags]},
		Progress: show.bench, Job: launcher.Options{Environment: a.environment}})
	show.end()
	isInterrupted := here != nil && errors.Is(err, context.Canceled)
	if err != nil && !isInterrupted {
		return nil, err
	}
	if failed := benchmarkReport(here, compare.Compare(here)).Write(out); failed != nil {
		return nil, failed
	}
	if isInterrupted {
		return nil, &interruptedError{goesOn(here, out) + ", without comparing them with the bundle", err}
	}
	return compare.Replay(there, here), nil
}

// replayTraining runs a training run again.
func (a *app) replayTraining(ctx context.Context, folder, out string) ([]compare.Replayed, error) {
	if !report.HoldsTraining(folder) {
		return nil, &bundle.FormatError{Entry: rundir.SummaryFile,
			Reason: "the run did not end, so there is nothing to compare with"}
	}
	kept, err := readTraining(folder)
	if changed := (*changedError)(nil); err != nil && !errors.As(err, &changed) {
		err = &bundle.FormatError{Entry: rundir.SummaryFile, Reason: err.Error()}
	}
	if err != nil {
		return nil, err
	}
	there := &kept.Summary
	if there.Resumed != nil || there.Weights != nil {
		return nil, usagef("the run began with weights or a checkpoint, which are not in the bundle; want " +
			"one that began anew")
	}
	config, err := setting.ReadFile(filepath.Join(folder, rundir.ConfigFile))
	if err != nil {
		return nil, err
	}
	if err := isLengthOf(config, there); err != nil {
		return nil, err
	}
	config = config.Foreign()
	config.Catalog, config.Out, config.Save = &a.catalog, out, false
	here, err := chooser.Run(ctx, config, launcher.Options{Environment: a.environment, Stderr: a.stderr})
	if here == nil {
		a.showUnfinished(config, nil, err, false)
	}
	if err != nil {
		return nil, err
	}
	return []compare.Replayed{compare.ReplayTraining(there, here, config.Inexact() == "")}, nil
}

// isLengthOf refuses a configuration that trains for longer than the run that it is said to be of: nobody
// would run a stranger's bundle for that long.
func isLengthOf(c setting.Config, there *record.Summary) error {
	asked, _ := time.ParseDuration(c.For) // 0 without one
	switch {
	case asked.Seconds() > 2*there.TrainSeconds+60:
	case c.Until == 0 && c.Steps > there.Steps:
	case c.Until == 0 && float64(c.Epochs) > there.Epochs+1:
	default:
		return nil
	}
	length := cmp.Or(c.For, fmt.Sprintf("%d steps, %d epochs", c.Steps, c.Epochs))
	reason := fmt.Sprintf("it asks for %s, and the run took %d steps, %.4g epochs, %.4g s of training: they "+
		"are not of one run", length, there.Steps, there.Epochs, there.TrainSeconds)
	return &bundle.FormatError{Entry: rundir.ConfigFile, Reason: reason}
}

// printReplay prints what replaying showed.
func printReplay(w io.Writer, out string, rows []compare.Replayed) error {
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
		fmt.Fprintf(t, "%s\t%s (%s)\t%s\t%s\t\n", spelling.Plain(r.Name), r.Parameters,
			spelling.Plain(r.Why), r.Speed, ratio)
	}
	fmt.Fprintf(t, "\n%s\n", out)
	return t.Flush()
}

// isBadBundle reports whether err says that a bundle is malformed.
func isBadBundle(err error) bool {
	bad := (*bundle.FormatError)(nil)
	return errors.As(err, &bad)
}
