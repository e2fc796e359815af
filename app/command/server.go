package command

import (
	"lockstep/app/job/worker"

	"github.com/spf13/cobra"
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
tells it by environment variables and an inherited connection which run it belongs to. By hand,
or by mpirun and its like, it cannot be started; their processes may have servers with the workers.
A server on a host of its own is one of a run on several hosts: ranks are spread over them in order,
the workers first.`,
		Example: "  lockstep train --workers 2 --strategy ps --servers 2 --server-place apart\n" +
			"  lockstep launch --hosts a:1,b:1,c:1 -- train --workers 2 --strategy ps --server-place apart",
		Annotations: map[string]string{anywhere: "true"},
		Args:        noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if _, err := a.environment.ResolveMember(); err != nil {
				return usagef("server: only a run can start it: lockstep train --workers 2 --strategy ps "+
					"--server-place apart (%v)", err)
			}
			return worker.Work(c.Context(), a.environment, a.program())
		},
	}
}
