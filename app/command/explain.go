package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"lockstep/app/explain"
	"lockstep/app/explain/variant"
	"lockstep/app/report"
	"lockstep/app/rundir"

	"github.com/spf13/cobra"
)

// explainFlags are the flags of explain.
type explainFlags struct {
	out      string
	budget   time.Duration
	isNoRuns bool
	isQuiet  bool
}

// explainCommand says why the steps of one run or row take longer than those of another.
func explainCommand(a *app) *cobra.Command {
	flags := explainFlags{budget: time.Minute}
	c := &cobra.Command{
		Use:   "explain RUN [OTHER] [flags]",
		Short: "Say why the steps of one run take longer than those of another",
		Long: `Say why the steps of one run take longer than those of another, or than its own ideal: one of
its workers alone, with its share of the batch.

A run is the folder of a training run, or a row of a benchmark: FOLDER#A by its letter on the page,
FOLDER#NAME by words of its name. The difference OTHER - RUN of their mean steps is cut into terms that add
up to it: work of each worker, efficiency of kernels, cores, memory, exchange (latency, bandwidth, codec),
stragglers, imbalance of shards, data, optimizer, checkpoints, the runtime and the rest.

Both are run again in turns, beside variants without the cause of a large term: without exchange, alone, with
another link, without a codec, loader or checkpoint. What they change confirms a term, or does not. A
difference that does not come back was passing. The new folder holds results.json with every raw sample,
explain.json, explain.md and explain.html.`,
		Example: "  lockstep explain runs/one runs/two\n" +
			"  lockstep explain runs/20261121-101500-bench#A runs/20261121-101500-bench#ddp --budget 3m\n" +
			"  lockstep explain runs/one\n" +
			"  lockstep explain runs/one runs/two --no-runs --json",
		Args: takes(1, 2, "a run and perhaps another one, each a folder, or FOLDER#ROW of a benchmark"),
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
	all, unfit, err := variant.Subjects(args, &a.catalog)
	if err != nil {
		return e, "", err
	}
	b := all[len(all)-1]
	var first *explain.Explanation
	if len(all) == 2 {
		if first, err = explain.Decompose(variant.SideOf(all[0]), variant.SideOf(b)); err != nil {
			return e, "", err
		}
		if variant.IsSettled(all[0], b, first) {
			unfit = "both are set alike, and their rounds do not tell them apart"
		}
	}
	switch {
	case first == nil && (flags.isNoRuns || unfit != ""):
		return e, "", usagef("%s: its ideal has to be run%s; give another run to compare it with", args[0],
			strings.TrimSuffix(", and "+unfit, ", and "))
	case flags.isNoRuns || unfit != "":
		if unfit != "" && !flags.isNoRuns {
			fmt.Fprintf(a.stderr, "note: nothing is run again: %s\n", unfit)
		}
		if e = report.NewExplained(first); flags.out == "" {
			return e, "", nil
		}
		release, err := rundir.Reserve(flags.out)
		if err == nil {
			defer release()
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
	found, err := a.confirm(c.Context(), x, first, folder, flags)
	if err != nil {
		return e, "", err
	}
	e = report.NewExplained(found)
	return e, folder, e.Write(folder)
}

// confirm makes the runs of an experiment and explains what they tell; by what was recorded, first, if they
// have not enough steps.
func (a *app) confirm(ctx context.Context, x *variant.Experiment, first *explain.Explanation, folder string,
	flags explainFlags) (*explain.Explanation, error) {
	ctx, stop := a.interruptible(ctx)
	defer stop()
	show := newProgress(a, flags.isQuiet)
	r, err := x.Run(ctx, folder, flags.budget, a.benchOptions(show, nil))
	show.end()
	if err != nil {
		return nil, err
	}
	found, err := x.Explain(r)
	if none := (*explain.IncomparableError)(nil); !errors.As(err, &none) {
		return found, err
	}
	text := fmt.Sprintf("not every row has a run that ended in %s; give them more time, as by --budget %s",
		flags.budget, 2*flags.budget)
	if first == nil {
		return nil, usagef("%s", text)
	}
	fmt.Fprintf(a.stderr, "note: only what was recorded is cut up: %s\n", text)
	return first, nil
}
