package command

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"lockstep/app/setting"
	"lockstep/app/transfer"
	"lockstep/cluster"
)

// receiveArgument is the command of lockstep that takes data sets from a console.
const receiveArgument = "receive"

// receiveCommand is started on a host by a console, not by users: it takes files of data sets over standard
// input and answers over standard output.
func receiveCommand(a *app) *cobra.Command {
	var also, job string
	c := &cobra.Command{
		Use:         receiveArgument,
		Short:       "Take files of data sets over standard input",
		Hidden:      true,
		Annotations: map[string]string{anywhere: "true"},
		Args:        noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if job != "" {
				if !filepath.IsLocal(job) {
					return usagef("receive: --job %.80q, want a name", job)
				}
				return transfer.Receive(c.Context(), os.Stdin, a.stdout, filepath.Join(jobsFolder(), job))
			}
			o := setting.DataOptions("", a.environment)
			return transfer.Receive(c.Context(), os.Stdin, a.stdout, o.Cache, also,
				a.environment[cluster.EnvData])
		},
	}
	c.Flags().StringVar(&also, "also", "", "`FOLDER` that may have the files")
	c.Flags().StringVar(&job, "job", "", "`NAME` of a job, whose folder takes the files")
	return c
}
