package command

import (
	"github.com/spf13/cobra"
	"os"

	"lockstep/app/job"
)

// serverCommand runs a parameter server that train has started. A signal ends it at once, and the launcher
// reports the signal.
func serverCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "server",
		Short: "Run one parameter server of a run that train has started",
		Long: `Run one parameter server of a run that train has started.

A server holds a part of the weights, and the optimizer of that part. lockstep train starts one
process of this command for each of its --servers with --strategy ps --server-place apart, and
tells it by environment variables which run it belongs to and how to reach that.`,
		Example:     "  lockstep train --workers 2 --strategy ps --servers 2 --server-place apart",
		Annotations: map[string]string{anywhere: "true"},
		Args:        noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if _, err := a.environment.ResolveMember(); err != nil {
				return usagef("server: %v; a server is started by its run: lockstep train --workers 2 "+
					"--strategy ps --servers 1 --server-place apart", err)
			}
			return job.Work(c.Context(), a.environment, &a.catalog, a.stderr, os.Exit)
		},
	}
}
