package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"lockstep/app/bundle"
	"lockstep/app/job"
	"lockstep/app/job/launcher"
	"lockstep/app/job/worker"
	"lockstep/app/launch"
	"lockstep/app/setting"
	"lockstep/cluster"
	"lockstep/internal/spelling"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// commands lists all commands; a new one is a line here.
func commands() []func(*app) *cobra.Command {
	return []func(*app) *cobra.Command{
		trainCommand,
		recipeCommand,
		benchCommand,
		reportCommand,
		checkCommand,
		bundleCommand,
		replayCommand,
		commbenchCommand,
		runCommand,
		launchCommand,
		generateCommand,
		labCommand,
		doctorCommand,
		dataCommand,
		checkpointCommand,
		tokenCommand,
		versionCommand,
		serverCommand,
		workerCommand,
		agentCommand,
		receiveCommand,
	}
}

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

// Main executes the process's command line, with the models and data sets of k, and exits with its status.
// The worker processes of a run execute the same program, so a program must call Main before anything else.
func Main(k setting.Catalog) {
	a := &app{stdout: os.Stdout, stderr: os.Stderr, environment: cluster.ProcessEnvironment(), catalog: k,
		clock: time.Now}
	os.Exit(a.run(os.Args[1:]))
}

// run executes one command line and returns its exit status.
func (a *app) run(args []string) int {
	status := a.execute(args)
	if a.meeting != nil {
		a.meeting.End(status)
	}
	return status
}

// execute executes one command line, prints its error and returns its exit status.
func (a *app) execute(args []string) int {
	root := a.root()
	root.SetArgs(args)
	err := root.ExecuteContext(context.Background())
	a.failed = err
	if err == nil {
		return job.ExitOK
	}
	if status := statusOf(err); status != 0 {
		return status // of a command in a lab or of rank 0, which has printed its error
	}
	if errors.Is(err, errRefused) {
		return job.ExitCheck
	}
	code := job.ExitCode(err)
	if changed := (*changedError)(nil); errors.As(err, &changed) {
		code = job.ExitCheck
	}
	if bad := (*bundle.FormatError)(nil); errors.As(err, &bad) {
		code = job.ExitData
	}
	if status := launch.Status(err); status != 0 {
		code = status
	}
	if ended := (*interruptedError)(nil); errors.Is(err, context.Canceled) && !errors.As(err, &ended) {
		text := "interrupted; all workers have stopped"
		if lost := (*lostRun)(nil); errors.As(err, &lost) {
			text += "; there is no checkpoint to resume from (--checkpoint-every 100 leaves some)"
		}
		err = errors.New(text)
	}
	for line := range strings.Lines(err.Error()) {
		line = strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", "    ") // of a stack
		fmt.Fprintf(a.stderr, "lockstep: %s\n", spelling.Plain(spelling.Brief(line)))
	}
	return code
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "lockstep",
		Short: "Train neural networks data-parallel on CPUs, and measure where the time goes",
		Example: "  lockstep bench --quick\n" +
			"  lockstep train\n" +
			"  lockstep train --model vgg11 --data cifar10 --workers 2 --epochs 5",
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(c *cobra.Command, _ []string) error {
			if c.Annotations[anywhere] != "" || !c.HasParent() || c.Name() == "help" {
				return nil
			}
			return a.locate(c)
		},
	}
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(flagError)
	root.SetUsageFunc(func(c *cobra.Command) error { return printUsage(c, c.OutOrStderr()) })
	root.SetHelpFunc(printHelp)
	for _, command := range commands() {
		root.AddCommand(command(a))
	}
	return group(root)
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

// interruptible returns a context that is cancelled by the first signal that asks to stop; see hear. A second
// Ctrl-C or SIGTERM, if it is no echo, ends the program and its workers at once. The caller must call stop.
func (a *app) interruptible(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals, silence := a.signals, func() {}
	if signals == nil {
		signals, silence = hear()
	}
	done, finished := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(finished)
		var cause error
		isEarly := false // the first signal is one that others follow
		select {
		case s := <-signals:
			if isPreemption(s) {
				cause = launcher.ErrTerminated
			}
			isEarly = s != syscall.SIGTERM && s != os.Interrupt
		case <-done:
			return
		}
		if a.isTerminal(a.stderr) {
			fmt.Fprintln(a.stderr) // leave the line of progress
		}
		fmt.Fprintln(a.stderr, "lockstep: "+stopping(cause))
		cancel(cause)
		for {
			select {
			case s := <-signals:
				isFinal := s == syscall.SIGTERM || s == os.Interrupt
				if isFinal && !isEarly {
					if a.isTerminal(a.stderr) {
						fmt.Fprintln(a.stderr) // leave the line of progress
					}
					fmt.Fprintln(a.stderr, "lockstep: quit; nothing more is saved")
					os.Exit(job.ExitInterrupted)
				}
				isEarly = isEarly && !isFinal
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

// stopping says that a run is asked to stop, and how to end it at once, for the cause of interruptible.
func stopping(cause error) string {
	if cause == nil {
		return "stopping; press Ctrl-C again to quit at once"
	}
	return "stopping; a second signal ends the run at once"
}

// isTerminal reports whether w is a terminal on which lines may be rewritten.
func (a *app) isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	isThere := w == a.stderr && a.environment[cluster.EnvTerminal] != "" // at the console
	return (isThere || ok && term.IsTerminal(int(f.Fd()))) && !a.environment.IsPlain()
}
