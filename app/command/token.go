package command

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"lockstep/cluster"
	"lockstep/cluster/pass"
)

func tokenCommand(*app) *cobra.Command {
	var life time.Duration
	c := &cobra.Command{
		Use:   "token [flags]",
		Short: "Make a token, which admits the processes of one job on several hosts",
		Long: `Make a token, which admits the processes of one job on several hosts.

Processes that mpirun, srun or torchrun starts on several hosts prove by it that they belong
together, and that rank 0 is the real one. It is a secret: give it to all of them in ` + cluster.EnvToken + `,
or in a file that nobody else can read and that ` + cluster.EnvTokenFile + ` names ("-" for the
standard input); never as an argument. Make a new one for each job. One machine needs none.`,
		Example: `  export LOCKSTEP_TOKEN=$(lockstep token)
  (umask 077; lockstep token --valid 2h > token) && export LOCKSTEP_TOKEN_FILE=$PWD/token`,
		Args:        noArguments,
		Annotations: map[string]string{anywhere: "true"},
		RunE: func(c *cobra.Command, _ []string) error {
			t, err := pass.NewToken(life)
			if err != nil {
				return usagef("--valid %v: %v", life, err)
			}
			_, err = fmt.Fprintln(c.OutOrStdout(), t.Reveal())
			return err
		},
	}
	c.Flags().DurationVar(&life, "valid", pass.MaxLife, "`TIME` within which processes may join, at most 24h")
	return c
}
