package command

import (
	"os"
	"os/signal"

	"lockstep/app/commbench"
	"lockstep/app/job/worker"

	"github.com/spf13/cobra"
)

// commbenchWork is the argument of the workers of commbench.
const commbenchWork = "commbench"

// program is what a worker or a server gets.
func (a *app) program() worker.Program {
	return worker.Program{Catalog: &a.catalog, Log: a.stderr, Abandon: os.Exit, Between: a.between}
}

// workerCommand is started by train and commbench, not by users. It leaves the signals that ask a run to stop
// to its launcher, because some schedulers send them to all processes of a job. Any other signal ends it, and
// the launcher reports the signal.
func workerCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:         "worker [" + commbenchWork + "]",
		Short:       "Run one worker of a run that train or commbench has started",
		Hidden:      true,
		Annotations: map[string]string{anywhere: "true"},
		ValidArgs:   []string{commbenchWork},
		Args:        cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		RunE: func(c *cobra.Command, args []string) error {
			signal.Ignore(preemptions()...)
			if len(args) > 0 {
				return commbench.Work(c.Context(), a.environment)
			}
			return worker.Work(c.Context(), a.environment, a.program())
		},
	}
}
