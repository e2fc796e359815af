package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"lockstep/app/job"
	"lockstep/app/job/launcher"
	"lockstep/app/job/worker"
	"lockstep/app/setting"
	"lockstep/cluster"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// app holds the outside world of a command: its streams, its environment and its clock.
type app struct {
	stdout, stderr io.Writer
	environment    cluster.Environment
	clock          func() time.Time // of this host
	catalog        setting.Catalog
	place          cluster.Place    // among the processes that another launcher has started
	meeting        *cluster.Meeting // of these, if this one has rank 0
	failed         error            // of the last command line
	substituted    []string         // data sets that were not found, each of which is told once
	survey         *survey          // collects what would be run; nil: it is run
	between        worker.Between   // of workers; nil outside tests

	signals <-chan os.Signal // heard for several command lines that are executed in turn; nil: by each itself
}

// anywhere is the annotation of commands that may also be started by another launcher, such as mpirun.
const anywhere = "anywhere"

// usagef returns an error that ends the program with job.ExitUsage.
func usagef(format string, args ...any) error {
	return setting.Refuse(format, args...)
}

// noArguments refuses arguments that are not flags.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no argument %.80q; values follow flags, as in --batch 64",
			c.CommandPath(), args[0])
	}
	return nil
}

// takes refuses fewer than least and more than most arguments, which are what the sentence says.
func takes(least, most int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return usagef("%s takes %s, got %d", c.CommandPath(), what, len(args))
		}
		return nil
	}
}

// interruptible returns a context that is cancelled by the first signal that asks to stop; see hear. A Ctrl-C
// after it ends the program and its workers at once. The caller must call stop.
func (a *app) interruptible(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals, silence := a.signals, func() {}
	if signals == nil {
		signals, silence = hear()
	}
	say := func(text string) {
		if a.isTerminal(a.stderr) {
			fmt.Fprintln(a.stderr) // leave the line of progress
		}
		fmt.Fprintln(a.stderr, "lockstep: "+text)
	}
	done, finished := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(finished)
		for isFirst := true; ; isFirst = false {
			select {
			case s := <-signals:
				switch {
				case isFirst && isPreemption(s):
					say("stopping")
					cancel(launcher.ErrTerminated)
				case isFirst:
					say("stopping; press Ctrl-C again to quit at once")
					cancel(nil)
				case s == os.Interrupt:
					say("quit; nothing more is saved")
					os.Exit(job.ExitInterrupted)
				}
			case <-done:
				return
			}
		}
	}()
	return ctx, func() {
		silence()
		close(done)
		<-finished
		cancel(nil)
	}
}

// isTerminal reports whether w is a terminal on which lines may be rewritten.
func (a *app) isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	isThere := w == a.stderr && a.environment[cluster.EnvTerminal] != "" // at the console
	return (isThere || ok && term.IsTerminal(int(f.Fd()))) && !a.environment.IsPlain()
}
