package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"lockstep/app/bundle"
	"lockstep/app/job"
	"lockstep/app/launch"
	"lockstep/app/setting"
	"lockstep/cluster"
	"lockstep/internal/spelling"

	"github.com/spf13/cobra"
)

// commands lists all commands; a new one is a line here.
func commands() []func(*app) *cobra.Command {
	return []func(*app) *cobra.Command{
		trainCommand,
		recipeCommand,
		benchCommand,
		predictCommand,
		reportCommand,
		checkCommand,
		explainCommand,
		inferCommand,
		serveCommand,
		exportTrainedCommand,
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
		err = errors.New("interrupted; all workers have stopped")
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
