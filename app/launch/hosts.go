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
	agents := make([]*agent.Connection, len(hosts))
	err := agent.Each(agents, func(k int, _ *agent.Connection) (err error) {
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
	agent.Each(agents, func(_ int, c *agent.Connection) error {
		if c != nil {
			c.Close()
		}
		return nil
	})
}

// Preflight examines the hosts of some agents.
func Preflight(ctx context.Context, agents []*agent.Connection) (*record.Hosts, error) {
	var members []doctor.Member
	for _, a := range agents {
		members = append(members, doctor.Member{Label: a.Host.Name, Slots: a.Host.Slots, Asker: a})
	}
	return doctor.Preflight(ctx, members)
}

// Status returns the exit status of an error of hosts; 0: it is none.
func Status(err error) int {
	if unsent, ok := errors.AsType[*transfer.HostError](err); ok && !unsent.IsCut {
		return job.ExitData
	} else if ok {
		return job.ExitRendezvous
	}
	if asked, ok := errors.AsType[*agent.AskError](err); ok {
		return asked.Status
	}
	refusal, isRefused := errors.AsType[*doctor.Refusal](err)
	if isRefused && refusal.IsFull() {
		return job.ExitCheckpoint
	}
	host, isHost := errors.AsType[*agent.HostError](err)
	switch _, isUnfit := errors.AsType[*doctor.HostError](err); {
	case isHost && host.IsLost:
		return job.ExitPeerLost
	case isRefused, isHost, isUnfit:
		return job.ExitRendezvous
	}
	return 0
}
