package command

import (
	"fmt"
	"os"

	"lockstep/app/launch"
	"lockstep/app/launch/agent"

	"github.com/spf13/cobra"
)

// agentCommand is started on a host by lockstep launch, not by users. It ends with its standard input.
func agentCommand(a *app) *cobra.Command {
	var isHash, isSend bool
	c := &cobra.Command{
		Use:         agent.Argument,
		Short:       "Start and end processes of a job on this host, as lockstep launch asks it to",
		Hidden:      true,
		Annotations: map[string]string{anywhere: "true"},
		Args:        noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if isSend {
				return agent.Send(os.Stdin, a.stdout, launch.JobsFolder())
			}
			hash, err := launch.OwnHash()
			if err != nil {
				return err
			}
			if isHash {
				_, err := fmt.Fprintln(a.stdout, hash)
				return err
			}
			return launch.Serve(c.Context(), a.stdout, a.environment, a.clock, describeVersion().source(),
				hash)
		},
	}
	c.Flags().BoolVar(&isHash, "hash", false, "print the SHA-256 of this program")
	c.Flags().BoolVar(&isSend, "send", false, "send the results of a job that standard input names")
	return c
}
