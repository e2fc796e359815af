package command

import (
	"os"

	"github.com/spf13/cobra"

	"lockstep/app/launch"
)

// receiveCommand is started on a host by a console, not by users: it takes files of data sets over standard
// input and answers over standard output.
func receiveCommand(a *app) *cobra.Command {
	var job string
	c := &cobra.Command{
		Use:         launch.ReceiveArgument,
		Short:       "Take files of data sets over standard input",
		Hidden:      true,
		Annotations: map[string]string{anywhere: "true"},
		Args:        noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			return launch.Receive(c.Context(), os.Stdin, a.stdout, a.environment, job)
		},
	}
	c.Flags().StringVar(&job, "job", "", "`NAME` of a job, whose folder takes the files")
	return c
}
