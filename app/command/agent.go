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
	var isHash bool
	var send string
	c := &cobra.Command{
		Use:         agent.Argument,
		Short:       "Start and end processes of a job on this host, as lockstep launch asks it to",
		Hidden:      true,
		Annotations: map[string]string{anywhere: "true"},
		Args:        noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if send != "" {
				return launch.Send(c.Context(), os.Stdin, a.stdout, send)
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
	c.Flags().StringVar(&send, "send", "", "send the results of a job of this `NAME`")
	return c
}

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
