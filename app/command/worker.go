package command

import (
	"github.com/spf13/cobra"

	"lockstep/app/commbench"
	"lockstep/app/job"
)

// commbenchWork is the argument of a worker that commbench has started.
const commbenchWork = "commbench"

// workerCommand is what train and commbench start; it is of no use by hand. A signal ends it at once,
// and the launcher says which.
func workerCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:         "worker [" + commbenchWork + "]",
		Short:       "Be one worker of a run that train or commbench has started",
		Hidden:      true,
		Annotations: map[string]string{anywhere: "true"},
		ValidArgs:   []string{commbenchWork},
		Args:        cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return commbench.Work(c.Context(), a.environment)
			}
			return job.Work(c.Context(), a.environment, &a.catalog, a.stderr)
		},
	}
}
