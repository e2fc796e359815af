package agent

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lockstep/internal/regular"
)

// Host is a machine and how many workers it takes.
type Host struct {
	Name  string // for ssh: a name, an address, or user@name
	Slots int    // at least 1
}

// Bounds of a list of hosts.
const (
	maxHosts    = 1024
	maxSlots    = 1024
	maxHostfile = 1 << 20 // bytes
)

// wantHost says how a host is written.
const wantHost = "want HOST, HOST:SLOTS or in a file also HOST slots=SLOTS, an IPv6 address in brackets"

// hostForm is HOST or HOST:SLOTS. What ssh could take for an option is none.
var hostForm = regexp.MustCompile(`^((?:\w[\w.-]{0,254}@)?\w[\w.-]{0,254}|\[[[:xdigit:]:.]+\])(:.*)?$`)

// ParseHosts reads the value of --hosts: hosts such as a:2,b:2. A host without a number has one slot.
func ParseHosts(text string) (hosts []Host, err error) {
	for entry := range strings.SplitSeq(text, ",") {
		if hosts, err = addHost(hosts, strings.TrimSpace(entry)); err != nil {
			return nil, fmt.Errorf("--hosts: %w", err)
		}
	}
	return hosts, nil
}

// HostfileForm is the form of a hostfile, as help tells it.
const HostfileForm = "a host in each line, as Open MPI (node0 slots=4), MPICH (node0:4) or PBS " +
	"(node0, once for each slot) write it; # begins a comment"

// ReadHostfile reads a file of HostfileForm.
func ReadHostfile(path string) ([]Host, error) {
	text, err := regular.ReadFile(path, maxHostfile)
	if err != nil {
		return nil, fmt.Errorf("--hostfile: %w", err)
	}
	return parseHostfile(path, string(text))
}

// parseHostfile reads the text of the hostfile at path.
func parseHostfile(path, text string) (hosts []Host, err error) {
	number := 0
	for line := range strings.Lines(text) {
		number++
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		hosts, err = addHost(hosts, strings.Replace(strings.Join(fields, " "), " slots=", ":", 1))
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, number, err)
		}
	}
	if len(hosts) == 0 {
		return nil, fmt.Errorf("%s: names no host; want a line such as node0 slots=2", path)
	}
	return hosts, nil
}

// addHost adds a host, or its slots to those that it has already.
func addHost(hosts []Host, entry string) ([]Host, error) {
	parts := hostForm.FindStringSubmatch(entry)
	if parts == nil {
		return nil, fmt.Errorf("%.80q is no host; %s", entry, wantHost)
	}
	name, slots := strings.Trim(parts[1], "[]"), 1
	if _, err := netip.ParseAddr(name); err != nil && name != parts[1] {
		return nil, fmt.Errorf("%.80q is no IPv6 address; %s", name, wantHost)
	}
	if text, isGiven := strings.CutPrefix(parts[2], ":"); isGiven {
		var err error
		if slots, err = strconv.Atoi(text); err != nil || slots < 1 || slots > maxSlots {
			return nil, fmt.Errorf("%.80q slots: want a whole number from 1 to %d", text, maxSlots)
		}
	}
	i := slices.IndexFunc(hosts, func(h Host) bool { return h.Name == name })
	if i < 0 {
		i, hosts = len(hosts), append(hosts, Host{Name: name})
	}
	if hosts[i].Slots += slots; hosts[i].Slots > maxSlots || len(hosts) > maxHosts {
		return nil, fmt.Errorf("more than %d hosts, or than %d slots of %s", maxHosts, maxSlots, name)
	}
	return hosts, nil
}
