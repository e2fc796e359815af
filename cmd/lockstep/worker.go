package main

import (
	"github.com/spf13/cobra"

	"lockstep/internal/job"
)

// workerCommand is what train starts; it is of no use by hand. A signal ends it at once, and the
// launcher says which.
func workerCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    "worker",
		Short:  "Be one worker of a run that train has started",
		Hidden: true,
		Args:   noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			return job.Work(c.Context(), a.environment, a.stderr)
		},
	}
}
