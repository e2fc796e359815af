package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"lockstep/app/bench"
	"lockstep/app/explain"
	"lockstep/app/explain/variant"
	"lockstep/app/job/launcher"
	"lockstep/app/record"
	"lockstep/app/report"

	"github.com/spf13/cobra"
)

// explainFlags are the flags of explain.
type explainFlags struct {
	out      string
	budget   time.Duration
	isNoRuns bool
	isQuiet  bool
}

// explainBudget is how long explain runs things unless told otherwise.
const explainBudget = time.Minute

// explainCommand says why the steps of one run or row take longer than those of another.
func explainCommand(a *app) *cobra.Command {
	flags := explainFlags{budget: explainBudget}
	c := &cobra.Command{
		Use:   "explain RUN [OTHER] [flags]",
		Short: "Say why the steps of one run take longer than those of another",
		Long: `Say why the steps of one run take longer than those of another, or than its own ideal: one of
its workers alone, with its share of the batch.

A run is the folder of a training run, or a row of a benchmark: FOLDER#N by its number, FOLDER#NAME by words
of its name. The difference OTHER - RUN of their mean steps is cut into terms that add up to it: work of each
worker, efficiency of kernels, cores, memory, exchange (latency, bandwidth, codec), stragglers, imbalance of
shards, data, optimizer, checkpoints, the runtime and the rest.

Both are run again in turns, beside variants without the cause of a large term: without exchange, alone, with
another link, without a codec, loader or checkpoint. What they change confirms a term, or does not. A
difference that does not come back was passing. The new folder holds results.json with every raw sample,
explain.json, explain.md and explain.html.`,
		Example: "  lockstep explain runs/one runs/two\n" +
			"  lockstep explain runs/20261121-101500-bench#1 runs/20261121-101500-bench#ddp --budget 3m\n" +
			"  lockstep explain runs/one\n" +
			"  lockstep explain runs/one runs/two --no-runs --json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return usagef("explain takes a run and perhaps another one, got %d; a run is a folder, or "+
					"FOLDER#ROW of a benchmark", len(args))
			}
			return nil
		},
	}
	f := c.Flags()
	f.Var(budget(&flags.budget), "budget", "make runs for this `TIME`, such as 3m")
	f.StringVarP(&flags.out, "out", "o", "", "new `FOLDER` for the runs and the page (default: "+
		"runs/<time>-explain)")
	f.BoolVar(&flags.isNoRuns, "no-runs", false, "cut up what was recorded, and confirm nothing by runs")
	f.BoolVarP(&flags.isQuiet, "quiet", "q", false, "show no progress")
	return a.answering(c, func(c *cobra.Command, args []string) (answer, error) {
		e, folder, err := a.explain(c, args, flags)
		if none := (*explain.IncomparableError)(nil); errors.As(err, &none) {
			return answer{}, usagef("%v", err)
		}
		if err != nil {
			return answer{}, err
		}
		return answer{e, func(w io.Writer) error {
			err := e.Report().Text(w)
			if folder != "" && err == nil {
				_, err = fmt.Fprintf(w, "\n%s\n", folder)
			}
			return err
		}}, nil
	})
}

// explain explains what the arguments name, and returns the folder of the page; "" if there is none.
func (a *app) explain(c *cobra.Command, args []string, flags explainFlags) (e report.Explained, folder string,
	err error) {
	var all []bench.Subject
	if len(args) == 2 && filepath.Clean(args[0]) == filepath.Clean(args[1]) {
		return e, "", usagef("%s is given twice; give two runs, or one to hold it against its own ideal",
			args[0])
	}
	for _, text := range args {
		s, err := bench.SubjectNamed(text, &a.catalog)
		if err != nil {
			return e, "", err
		}
		all = append(all, s)
	}
	b := all[len(all)-1]
	var first *explain.Explanation
	if len(all) == 2 {
		if all[0].Name == b.Name {
			all[0].Name, b.Name = args[0], args[1]
		}
		first, err = explain.Decompose(variant.SideOf(all[0]), variant.SideOf(b))
	}
	unfit := cmp.Or(all[0].Unfit, b.Unfit)
	if first != nil && variant.IsSettled(all[0], b, first) {
		unfit = "both are set alike, and their rounds do not tell them apart"
	}
	switch {
	case err != nil:
		return e, "", err
	case flags.isNoRuns && first == nil, unfit != "" && first == nil:
		return e, "", usagef("%s: its ideal has to be run%s; give another run to compare it with", args[0],
			strings.TrimSuffix(", and "+unfit, ", and "))
	case flags.isNoRuns || unfit != "":
		if unfit != "" && !flags.isNoRuns {
			fmt.Fprintf(a.stderr, "note: nothing is run again: %s\n", unfit)
		}
		if e = report.NewExplained(first); flags.out != "" {
			err = e.Write(flags.out)
		}
		return e, flags.out, err
	}
	var x *variant.Experiment
	if first != nil {
		x = variant.New(all[0], b, first, flags.budget)
	} else if x, err = variant.Ideal(b, flags.budget); err != nil {
		return e, "", err
	}
	folder = cmp.Or(flags.out, newFolder("explain"))
	r, err := a.runExperiment(c.Context(), x, folder, flags)
	if err != nil {
		return e, "", err
	}
	found, err := x.Explain(r)
	if none := (*explain.IncomparableError)(nil); errors.As(err, &none) && first != nil {
		fmt.Fprintf(a.stderr, "note: only what was recorded is cut up: %v in the %s that its runs had; give "+
			"them more time, as by --budget %s\n", none, flags.budget, 2*flags.budget)
		found, err = first, nil
	}
	if err != nil {
		return e, "", err
	}
	e = report.NewExplained(found)
	return e, folder, e.Write(folder)
}

// runExperiment makes the runs of an experiment.
func (a *app) runExperiment(ctx context.Context, x *variant.Experiment, out string, flags explainFlags) (
	*record.Results, error) {
	ctx, stop := a.interruptible(ctx)
	defer stop()
	show := newProgress(a, flags.isQuiet)
	defer show.end()
	v := describeVersion()
	return x.Run(ctx, out, flags.budget, bench.Options{
		Label:    record.Results{Version: v.Version, Revision: v.Revision},
		Progress: show.bench, Job: launcher.Options{Environment: a.environment}})
}
