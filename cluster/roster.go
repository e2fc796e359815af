package cluster

import (
	"net"
	"strconv"
	"strings"
)

// RosterHost is one of the hosts of a run of several. The first one is the launcher's own; an [Agent] on each
// of the others starts processes for it.
type RosterHost struct {
	Name    string // such as node1; the workers on it use it as their host name
	Address string // at which its workers, and on the first host the rendezvous, listen
	Slots   int    // how many workers it takes, at least 1
	Cores   int    // usable processors; 0: as many as the first host has
}

// RosterEnvironment returns the environment of a process that launches workers on these hosts: the variable
// LOCKSTEP_HOSTS. Names have neither "=" nor ",".
func RosterEnvironment(hosts []RosterHost) Environment {
	entries := make([]string, len(hosts))
	for i, h := range hosts {
		entries[i] = h.Name + "=" + h.Address + "=" + strconv.Itoa(h.Slots)
		if h.Cores > 0 {
			entries[i] += "=" + strconv.Itoa(h.Cores)
		}
	}
	return Environment{EnvHosts: strings.Join(entries, ",")}
}

// Roster returns the hosts on which this process launches workers, or none if it has only its own. The error
// is an *EnvironmentError.
func (e Environment) Roster() ([]RosterHost, error) {
	if e[EnvHosts] == "" {
		return nil, nil
	}
	var hosts []RosterHost
	taken := map[string]bool{}
	for entry := range strings.SplitSeq(e[EnvHosts], ",") {
		h, ok := parseRosterHost(entry)
		if !ok {
			return nil, environmentErrorf("%s: %q, want NAME=ADDRESS=SLOTS or NAME=ADDRESS=SLOTS=CORES",
				EnvHosts, entry)
		}
		if taken[h.Name] {
			return nil, environmentErrorf("%s: host %s is listed twice", EnvHosts, h.Name)
		}
		taken[h.Name] = true
		hosts = append(hosts, h)
	}
	return hosts, nil
}

// parseRosterHost reads one host of the variable.
func parseRosterHost(entry string) (h RosterHost, ok bool) {
	part := strings.Split(entry, "=")
	if len(part) != 3 && len(part) != 4 {
		return h, false
	}
	h.Name, h.Address = part[0], part[1]
	ip := net.ParseIP(h.Address)
	if h.Name == "" || ip == nil || ip.IsUnspecified() {
		return h, false
	}
	var err error
	if h.Slots, err = strconv.Atoi(part[2]); err != nil || h.Slots < 1 || h.Slots > maxWorld {
		return h, false
	}
	if len(part) == 4 {
		h.Cores, err = strconv.Atoi(part[3])
		return h, err == nil && h.Cores > 0
	}
	return h, true
}
