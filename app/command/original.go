package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"lockstep/app/evidence/compare"
	"lockstep/app/original"
	"lockstep/app/record"
	"lockstep/app/report"
	"lockstep/cluster"
	"lockstep/recipe"
)

// benchmarkReport lays out the results of a benchmark, which c compares, with the page of the original report
// if its recipe has one.
func benchmarkReport(r *record.Results, c *compare.Comparison) *report.Report {
	if page, ok := original.Page(r, c); ok {
		return report.Compared(r, c, page)
	}
	return report.Compared(r, c)
}

// needsLab reports whether a recipe needs hosts and this process has none.
func (a *app) needsLab(r recipe.Comparison) bool {
	return r.Hosts > 0 && a.environment[cluster.EnvLab] == "" && a.environment[cluster.EnvHosts] == ""
}

// runInLab runs a recipe again, in a lab with the hosts that it needs.
func (a *app) runInLab(c *cobra.Command, r recipe.Comparison, out string, isJSON, isQuiet bool) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program to run it in a lab: %w", err)
	}
	ctx, stop := a.interruptible(c.Context())
	defer stop()
	args := slices.Concat([]string{"lab", "--quiet", "--hosts", strconv.Itoa(r.Hosts), "--", "recipe", "run",
		r.Name}, commandLine(c), []string{"--out=" + out})
	if isJSON {
		args = append(args, "--json")
	}
	if isQuiet {
		args = append(args, "--quiet")
	} else {
		fmt.Fprintf(a.stderr, "note: %s needs %d hosts; this is one machine, so they are made in a lab "+
			"(lockstep launch takes real ones)\n", r.Name, r.Hosts)
	}
	lab := exec.CommandContext(ctx, self)
	lab.Args = append(os.Args[:1:1], args...)
	lab.Env, lab.Stdout, lab.Stderr = a.environment.Pairs(), a.stdout, a.stderr
	lab.Cancel = func() error { return lab.Process.Signal(os.Interrupt) }
	lab.WaitDelay = 10 * time.Second
	err = lab.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() > 0 {
		return &statusError{exit.ExitCode()}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
