package command

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"lockstep/app/doctor"
	"lockstep/app/job"
	"lockstep/app/record"
)

func doctorCommand(a *app) *cobra.Command {
	var isJSON bool
	c := &cobra.Command{
		Use:   "doctor [flags]",
		Short: "Examine this machine, and say what it would change for a job",
		Long: `Examine this machine, and say what it would change for a job.

Shows processors, memory, disks, limits, clock and network interfaces, and what of them hinders a job or
slows it down, each with the command that mends it.

The exit status is 0 if nothing hinders a job, 6 if a full disk does, and 4 for everything else.`,
		Example: `  lockstep doctor
  lockstep doctor --json`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return a.examine(isJSON) },
	}
	addJSON(c, &isJSON)
	return c
}

// examine describes this machine. The error is a *doctor.Refusal if it cannot run a job.
func (a *app) examine(isJSON bool) error {
	start := time.Now()
	f := doctor.Describe(doctorPlaces())
	f.Slots = 1
	h := &record.Hosts{Started: start.UTC(), Hosts: []record.HostFacts{f}, Routes: []record.Route{},
		Findings: doctor.Advise(f, f.Slots)}
	h.Seconds = time.Since(start).Seconds()
	return a.showHosts(h, isJSON)
}

// showHosts prints what was found. The error is a *doctor.Refusal if a job cannot run there.
func (a *app) showHosts(h *record.Hosts, isJSON bool) error {
	show := func() error { return doctor.Text(a.stdout, h) }
	if isJSON {
		show = func() error { return writeJSON(a, h) }
	}
	if err := show(); err != nil {
		return err
	}
	return doctor.Refuse(h.Findings)
}

// doctorPlaces returns the folders to which a job on this machine writes.
func doctorPlaces() doctor.Places {
	places := doctor.Places{doctor.UseJob: "."}
	if cache, err := os.UserCacheDir(); err == nil {
		places[doctor.UseCache] = filepath.Join(cache, "lockstep")
	}
	return places
}

// hostStatus returns the exit status of an error of hosts; 0: it is none.
func hostStatus(err error) int {
	refusal, unreached := (*doctor.Refusal)(nil), (*doctor.HostError)(nil)
	switch {
	case errors.As(err, &refusal) && refusal.IsFull():
		return job.ExitCheckpoint
	case refusal != nil, errors.As(err, &unreached):
		return job.ExitRendezvous
	}
	return 0
}
