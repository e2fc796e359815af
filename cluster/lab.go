package cluster

import (
	"net"
	"strings"
)

// LabHost is a host of a lab: a network namespace of this machine.
type LabHost struct {
	Name      string // such as host0; the workers on it use it as their host name
	Address   string // of its interface
	Namespace string // path of its network namespace
}

// LabEnvironment returns the environment of a process that launches workers in a lab with these
// hosts.
func LabEnvironment(hosts []LabHost) Environment {
	entries := make([]string, len(hosts))
	for i, h := range hosts {
		entries[i] = h.Name + "=" + h.Address + "=" + h.Namespace
	}
	return Environment{EnvLab: strings.Join(entries, ",")}
}

// LabHosts returns the hosts of this process's lab, or none outside a lab. The error is an
// *EnvironmentError.
func (e Environment) LabHosts() ([]LabHost, error) {
	if e[EnvLab] == "" {
		return nil, nil
	}
	var hosts []LabHost
	for entry := range strings.SplitSeq(e[EnvLab], ",") {
		part := strings.Split(entry, "=")
		if len(part) != 3 || part[0] == "" || net.ParseIP(part[1]) == nil || part[2] == "" {
			return nil, environmentErrorf("%s: %.80q, want NAME=ADDRESS=NAMESPACE", EnvLab, entry)
		}
		hosts = append(hosts, LabHost{Name: part[0], Address: part[1], Namespace: part[2]})
	}
	return hosts, nil
}

// labHost returns the index of rank's host: hosts take contiguous ranks, as evenly as possible; if
// there are more hosts than ranks, the first hosts take one each.
func labHost(rank, world, hosts int) int { return rank * min(hosts, world) / world }
