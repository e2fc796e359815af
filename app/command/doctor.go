package command

import (
	"context"
	"io"
	"time"

	"lockstep/app/doctor"
	"lockstep/app/job/worker"
	"lockstep/app/launch"
	"lockstep/app/record"

	"github.com/spf13/cobra"
)

func doctorCommand(a *app) *cobra.Command {
	var f hostFlags
	c := &cobra.Command{
		Use:   "doctor [flags]",
		Short: "Examine this machine or hosts, and say what it would change for a job",
		Long: `Examine this machine or hosts, and say what it would change for a job.

Shows processors, kernels, memory, disks and load, and what of them hinders a job or slows it down, each with
what mends it. Of this machine a binary built with -tags cuda also shows the GPUs.

With --hosts it does so for each of them over ssh, as lockstep launch does before a job, and then tries every
address of each host from every other: who answers there, round trip, rate, and how far the clocks are apart.
It chooses an address for each host that all others reach, of several the fastest, and says what is unequal.
Nothing but lockstep's own program is installed.

The exit status is 0 if nothing hinders a job, 6 if only a full disk does, and 4 for everything else.`,
		Example: `  lockstep doctor
  lockstep doctor --hosts a:2,b:2
  lockstep doctor --hostfile hosts --json`,
		Args: noArguments,
	}
	f.add(c)
	return a.answering(c, func(c *cobra.Command, _ []string) (answer, error) {
		ctx, stop := a.interruptible(c.Context())
		defer stop()
		examine := examineHere
		if f.isGiven() {
			examine = func() (*record.Hosts, error) { return a.examineHosts(ctx, f) }
		}
		h, err := examine()
		if err != nil {
			return answer{}, err
		}
		return answer{h, func(w io.Writer) error { return doctor.Text(w, h) }}, doctor.Refuse(h.Findings)
	})
}

// examineHosts describes hosts and the routes between them.
func (a *app) examineHosts(ctx context.Context, f hostFlags) (*record.Hosts, error) {
	hosts, err := f.list()
	if err != nil {
		return nil, err
	}
	console, err := f.console(a)
	if err != nil {
		return nil, err
	}
	agents, err := launch.DialAll(ctx, console, hosts)
	if err != nil {
		return nil, err
	}
	defer launch.CloseAll(agents)
	return launch.Preflight(ctx, agents)
}

// examineHere describes this machine.
func examineHere() (*record.Hosts, error) {
	start := time.Now()
	f := doctor.Describe()
	f.Slots = 1
	worker.DescribeGPUs(&f)
	h := &record.Hosts{Started: start.UTC(), Hosts: []record.HostFacts{f}, Routes: []record.Route{},
		Findings: doctor.Advise(f, f.Slots)}
	h.Seconds = time.Since(start).Seconds()
	return h, nil
}
