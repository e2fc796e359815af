package launch

import (
	"context"
	"errors"

	"lockstep/app/doctor"
	"lockstep/app/job"
	"lockstep/app/launch/agent"
	"lockstep/app/record"
	"lockstep/app/transfer"
)

// DialAll connects to the agents of all hosts at once. The caller must close the connections with CloseAll.
func DialAll(ctx context.Context, c agent.Console, hosts []agent.Host) ([]*agent.Connection, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	agents := make([]*agent.Connection, len(hosts))
	err := each(agents, func(k int, _ *agent.Connection) (err error) {
		agents[k], err = c.Dial(ctx, hosts[k])
		return err
	})
	if err != nil {
		CloseAll(agents)
		return nil, err
	}
	return agents, nil
}

// CloseAll closes the connections that there are.
func CloseAll(agents []*agent.Connection) {
	each(agents, func(_ int, c *agent.Connection) error {
		if c != nil {
			c.Close()
		}
		return nil
	})
}

// Preflight examines the hosts of some agents.
func Preflight(ctx context.Context, agents []*agent.Connection, c doctor.Config) (*record.Hosts, error) {
	var members []doctor.Member
	for _, a := range agents {
		members = append(members, doctor.Member{Label: a.Host.Name, Slots: a.Host.Slots, Asker: a})
	}
	return doctor.Preflight(ctx, members, c)
}

// preflightConfig names the model that the command would train first, whose exchange is predicted. Of what is
// wrong with it, the command says that.
func (l *launching) preflightConfig() doctor.Config {
	if len(l.plan.Configs) == 0 {
		return doctor.Config{}
	}
	model := l.plan.Configs[0].Model
	bytes, err := l.GradientBytes(model)
	if err != nil {
		return doctor.Config{}
	}
	return doctor.Config{Model: model, GradientBytes: bytes}
}

// Status returns the exit status of an error of hosts; 0: it is none.
func Status(err error) int {
	switch {
	case isA[*doctor.HostError](err):
		return job.ExitRendezvous
	}
	refusal, lost, asked := (*doctor.Refusal)(nil), (*agent.HostError)(nil), (*agent.AskError)(nil)
	unsent := (*transfer.HostError)(nil)
	switch {
	case errors.As(err, &unsent) && !unsent.IsCut:
		return job.ExitData
	case unsent != nil:
		return job.ExitRendezvous
	case errors.As(err, &asked):
		return asked.Status
	case errors.As(err, &refusal) && refusal.IsFull():
		return job.ExitCheckpoint
	case errors.As(err, &lost) && lost.IsLost:
		return job.ExitPeerLost
	case refusal != nil, lost != nil:
		return job.ExitRendezvous
	}
	return 0
}

// isA reports whether err is, or wraps, an E.
func isA[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}
