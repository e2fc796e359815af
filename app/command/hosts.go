package command

import (
	"fmt"
	"os"
	"strings"

	"lockstep/app/launch"
	"lockstep/app/launch/agent"
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
	f.StringVar(&h.hosts, "hosts", "", "a `LIST` of hosts and their slots, such as a:2,b:2")
	f.StringVar(&h.hostfile, "hostfile", "", "read the hosts from a `FILE`: "+agent.HostfileForm)
	f.StringVar(&h.ssh, "ssh", "ssh", "`COMMAND` that reaches a host, such as \"ssh -F my_config\"")
	f.StringSliceVar(&h.binaries, "binary", nil, "`PLATFORM=PATH` of this program for hosts of another "+
		"platform, such as linux/arm64=bin/lockstep-arm64")
}

// isGiven reports whether the flags name hosts.
func (h *hostFlags) isGiven() bool { return h.hosts != "" || h.hostfile != "" }

// list returns the hosts.
func (h *hostFlags) list() (hosts []agent.Host, err error) {
	switch {
	case h.hosts != "" && h.hostfile != "":
		return nil, usagef("--hosts and --hostfile both name hosts; leave out one")
	case h.hostfile != "":
		hosts, err = agent.ReadHostfile(h.hostfile)
	default:
		hosts, err = agent.ParseHosts(h.hosts)
	}
	if err != nil {
		return nil, usagef("%v", err)
	}
	return hosts, nil
}

// console returns what connects to hosts. It says on stderr what takes its time.
func (h *hostFlags) console(a *app) (agent.Console, error) {
	self, err := os.Executable()
	if err != nil {
		return agent.Console{}, fmt.Errorf("find this program to copy it to hosts: %w", err)
	}
	hash, err := launch.OwnHash()
	if err != nil {
		return agent.Console{}, err
	}
	binaries, err := h.programs()
	if err != nil {
		return agent.Console{}, err
	}
	ssh := strings.Fields(h.ssh)
	if len(ssh) == 0 {
		return agent.Console{}, usagef("--ssh: no command")
	}
	return agent.Console{Program: self, Hash: hash, Version: describeVersion().source(), SSH: ssh,
		Binaries:    binaries,
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
		paths[platform] = path
	}
	return paths, nil
}
