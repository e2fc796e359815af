package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"lockstep/app/doctor"
	"lockstep/app/job"
	"lockstep/app/launch"
	"lockstep/app/record"
	"lockstep/app/transfer"
	"lockstep/cluster"

	"github.com/spf13/cobra"
)

// hostFlags name hosts and say how they are reached.
type hostFlags struct {
	hosts, hostfile string
	ssh             string
	binaries        []string // PLATFORM=PATH
}

// add gives c the flags.
func (h *hostFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&h.hosts, "hosts", "", "a `LIST` of hosts and their slots, such as a:2,b:2 or node[01-03]:4")
	f.StringVar(&h.hostfile, "hostfile", "", "read the hosts from a `FILE`: "+
		launch.HostfileForm)
	f.StringVar(&h.ssh, "ssh", "ssh", "`COMMAND` that reaches a host, such as \"ssh -F my_config\"")
	f.StringSliceVar(&h.binaries, "binary", nil, "`PLATFORM=PATH` of this program for hosts of another "+
		"platform, such as linux/arm64=bin/lockstep-arm64")
}

// isGiven reports whether the flags name hosts.
func (h *hostFlags) isGiven() bool { return h.hosts != "" || h.hostfile != "" }

// list returns the hosts.
func (h *hostFlags) list() ([]launch.Host, error) {
	switch {
	case h.hosts != "" && h.hostfile != "":
		return nil, usagef("--hosts and --hostfile both name hosts; leave out one")
	case h.hostfile != "":
		return launch.ReadHostfile(h.hostfile)
	}
	return launch.ParseHosts(h.hosts)
}

// console returns what connects to hosts. It says on stderr what takes its time.
func (h *hostFlags) console(a *app) (launch.Console, error) {
	self, err := os.Executable()
	if err != nil {
		return launch.Console{}, fmt.Errorf("find this program to copy it to hosts: %w", err)
	}
	hash, err := ownHash()
	if err != nil {
		return launch.Console{}, err
	}
	binaries, err := h.programs()
	if err != nil {
		return launch.Console{}, err
	}
	ssh := strings.Fields(h.ssh)
	if len(ssh) == 0 {
		return launch.Console{}, usagef("--ssh: no command")
	}
	return launch.Console{Program: self, Hash: hash, Version: sourceVersion(), SSH: ssh, Binaries: binaries,
		Environment: a.environment.With(cluster.Environment{cluster.EnvLab: ""}),
		Notice:      func(text string) { fmt.Fprintln(a.stderr, text) }}, nil
}

// programs returns the paths of this program for other platforms.
func (h *hostFlags) programs() (map[string]string, error) {
	paths := map[string]string{}
	for _, text := range h.binaries {
		platform, path, ok := strings.Cut(text, "=")
		if !ok || !strings.Contains(platform, "/") || path == "" {
			return nil, usagef("--binary %.80q: want PLATFORM=PATH, such as linux/arm64=lockstep-arm64", text)
		}
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			return nil, usagef("--binary %s: %s is no file", platform, path)
		}
		if err := launch.CheckProgram(path, platform); err != nil {
			return nil, usagef("--binary %s: %v", platform, err)
		}
		paths[platform] = path
	}
	return paths, nil
}

// dialAll connects to the agents of all hosts at once. The caller must close the connections. The first
// error in the order of hosts is returned.
func dialAll(ctx context.Context, c launch.Console, hosts []launch.Host) ([]*launch.Connection, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	agents, failed := make([]*launch.Connection, len(hosts)), make([]error, len(hosts))
	var all sync.WaitGroup
	for i, h := range hosts {
		all.Go(func() { agents[i], failed[i] = c.Dial(ctx, h) })
	}
	all.Wait()
	if err := errors.Join(failed...); err != nil {
		closeAll(agents)
		return nil, err
	}
	return agents, nil
}

// closeAll closes the connections that there are.
func closeAll(agents []*launch.Connection) {
	var all sync.WaitGroup
	for _, a := range agents {
		if a != nil {
			all.Go(a.Close)
		}
	}
	all.Wait()
}

// preflight examines the hosts of some agents.
func preflight(ctx context.Context, agents []*launch.Connection, c doctor.Config) (*record.Hosts, error) {
	var members []doctor.Member
	for _, a := range agents {
		members = append(members, doctor.Member{Label: a.Host.Name, Slots: a.Host.Slots, Asker: a})
	}
	return doctor.Preflight(ctx, members, c)
}

// preflightConfig names the model that a command line would train first, whose exchange is predicted.
func (a *app) preflightConfig(ctx context.Context, args []string) doctor.Config {
	configs, err := a.configsOf(ctx, args)
	if err != nil || len(configs) == 0 {
		return doctor.Config{} // the command says what is wrong, with the hosts that it has then
	}
	bytes, err := a.gradientBytes(configs[0].Model)
	if err != nil {
		return doctor.Config{}
	}
	return doctor.Config{Model: configs[0].Model, GradientBytes: bytes}
}

// hostStatus returns the exit status of an error of hosts; 0: it is none.
func hostStatus(err error) int {
	switch {
	case isA[*launch.HostsError](err):
		return job.ExitUsage
	case isA[*transfer.HostError](err):
		return job.ExitData
	case isA[*transfer.CutError](err), isA[*doctor.HostError](err):
		return job.ExitRendezvous
	}
	refusal, lost, asked := (*doctor.Refusal)(nil), (*launch.HostError)(nil), (*launch.AskError)(nil)
	switch {
	case errors.As(err, &asked):
		return asked.Status
	case errors.As(err, &refusal) && refusal.IsFull():
		return job.ExitCheckpoint
	case errors.As(err, &lost) && lost.IsFull:
		return job.ExitData
	case lost != nil && lost.IsLost:
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
