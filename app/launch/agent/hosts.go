package agent

import (
	"fmt"
	"net/netip"
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
	maxName     = 255     // bytes
	maxDigits   = 10      // of a number in a range
)

// wantHost says how a host is written.
const wantHost = "want HOST, HOST:SLOTS or in a file also HOST slots=SLOTS"

// ParseHosts reads the value of --hosts: hosts such as a:2 or node[01-03]:2, separated by commas. A host
// without a number has one slot. An IPv6 address stands in brackets. The error is a *HostsError.
func ParseHosts(text string) ([]Host, error) {
	const flag = "--hosts"
	var hosts []Host
	for _, entry := range splitHosts(text) {
		more, err := parseEntry(strings.TrimSpace(entry), 0)
		if err != nil {
			return nil, &HostsError{flag, err.Error()}
		}
		if hosts, err = appendHosts(hosts, more); err != nil {
			return nil, &HostsError{flag, err.Error()}
		}
	}
	return hosts, nil
}

// HostfileForm is the form of a hostfile, as help tells it.
const HostfileForm = "a host in each line, as Open MPI (node0 slots=4 max_slots=8), MPICH (node0:4) or PBS " +
	"(node0, once for each slot) write it; names may have ranges (node[01-03]), and # begins a comment"

// ReadHostfile reads a file of HostfileForm. A byte order mark before it is skipped. The slots of a host that
// several lines name are added, and max_slots, a bound for more processes than slots, says nothing here. The
// error is a *HostsError.
func ReadHostfile(path string) ([]Host, error) {
	text, err := regular.ReadFile(path, maxHostfile)
	if err != nil {
		return nil, &HostsError{"--hostfile", err.Error()}
	}
	return parseHostfile(path, string(text))
}

// parseHostfile reads the text of the hostfile at path.
func parseHostfile(path, text string) ([]Host, error) {
	var hosts []Host
	number := 0
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		number++
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		more, err := parseLine(fields)
		for _, h := range more {
			i := slices.IndexFunc(hosts, func(o Host) bool { return o.Name == h.Name })
			switch {
			case err != nil:
			case i < 0:
				hosts, err = appendHosts(hosts, []Host{h})
			default:
				hosts[i].Slots += h.Slots
				err = checkSlots(hosts[i].Slots)
			}
		}
		if err != nil {
			return nil, &HostsError{fmt.Sprintf("%s:%d", path, number), err.Error()}
		}
	}
	if len(hosts) == 0 {
		return nil, &HostsError{path, "names no host; want a line such as node0 slots=2"}
	}
	return hosts, nil
}

// parseLine reads the fields of a line of a hostfile.
func parseLine(fields []string) ([]Host, error) {
	slots := 0
	for _, field := range fields[1:] {
		key, value, ok := strings.Cut(field, "=")
		switch key {
		case "max_slots", "max-slots":
			continue
		case "slots":
		case "binding":
			return nil, fmt.Errorf("%.80q: the system chooses the cores of a worker; leave it out", field)
		default:
			ok = false
		}
		if !ok || slots != 0 {
			return nil, fmt.Errorf("%.80q; %s", field, wantHost)
		}
		var err error
		if slots, err = parseSlots(value); err != nil {
			return nil, err
		}
	}
	return parseEntry(fields[0], slots)
}

// appendHosts adds hosts that are not there yet.
func appendHosts(hosts, more []Host) ([]Host, error) {
	for _, h := range more {
		if slices.ContainsFunc(hosts, func(o Host) bool { return o.Name == h.Name }) {
			return nil, fmt.Errorf("host %s is there twice; give it once, with the sum of its slots", h.Name)
		}
		if len(hosts) == maxHosts {
			return nil, fmt.Errorf("more than %d hosts", maxHosts)
		}
		hosts = append(hosts, h)
	}
	return hosts, nil
}

// splitHosts splits at commas outside of brackets.
func splitHosts(text string) []string {
	var entries []string
	depth, begin := 0, 0
	for i, r := range text {
		switch {
		case r == '[':
			depth++
		case r == ']':
			depth--
		case r == ',' && depth == 0:
			entries = append(entries, text[begin:i])
			begin = i + 1
		}
	}
	return append(entries, text[begin:])
}

// parseEntry reads HOST or HOST:SLOTS. If slots is not 0 it stands elsewhere.
func parseEntry(entry string, slots int) ([]Host, error) {
	name, number, err := cutSlots(entry)
	if err != nil {
		return nil, err
	}
	switch {
	case number != "" && slots != 0:
		return nil, fmt.Errorf("%.80q: slots are there twice", entry)
	case number != "":
		if slots, err = parseSlots(number[1:]); err != nil {
			return nil, err
		}
	case slots == 0:
		slots = 1
	}
	names, err := expand(name)
	if err != nil {
		return nil, err
	}
	var hosts []Host
	for _, name := range names {
		if err := checkName(name); err != nil {
			return nil, err
		}
		hosts = append(hosts, Host{Name: name, Slots: slots})
	}
	return hosts, nil
}

// cutSlots splits an entry before the colon of its slots, if it has any, and takes an IPv6 address out of
// its brackets.
func cutSlots(entry string) (name, slots string, err error) {
	if inner, rest, ok := strings.Cut(strings.TrimPrefix(entry, "["), "]"); ok && entry[0] == '[' {
		if ip, err := netip.ParseAddr(inner); err == nil && ip.Is6() && (rest == "" || rest[0] == ':') {
			return inner, rest, nil
		}
		return "", "", fmt.Errorf("%.80q: %.80q is no IPv6 address", entry, inner)
	}
	switch strings.Count(entry, ":") {
	case 0:
		return entry, "", nil
	case 1:
		i := strings.IndexByte(entry, ':')
		return entry[:i], entry[i:], nil
	}
	return "", "", fmt.Errorf("%.80q has several colons; an IPv6 address stands in brackets, as in "+
		"[fe80::1]:2", entry)
}

// parseSlots reads a number of slots.
func parseSlots(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf(wantSlots, text, maxSlots)
	}
	return n, checkSlots(n)
}

// wantSlots says how many slots a host has.
const wantSlots = "%.80q slots: want a whole number from 1 to %d"

// checkSlots refuses what is no number of slots.
func checkSlots(n int) error {
	if n < 1 || n > maxSlots {
		return fmt.Errorf(wantSlots, strconv.Itoa(n), maxSlots)
	}
	return nil
}

// expand returns the names that one with ranges stands for: node[01-03,7] for node01, node02, node03 and
// node7.
func expand(name string) ([]string, error) {
	before, rest, found := strings.Cut(name, "[")
	if !found {
		return []string{name}, nil
	}
	list, after, found := strings.Cut(rest, "]")
	if !found {
		return nil, fmt.Errorf("%.80q: no ] behind [", name)
	}
	ends, err := expand(after)
	if err != nil {
		return nil, err
	}
	var names []string
	for part := range strings.SplitSeq(list, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, err := strconv.ParseUint(first, 10, 31)
		to, failed := strconv.ParseUint(last, 10, 31)
		switch {
		case err != nil || failed != nil || from > to:
			return nil, fmt.Errorf("%.80q: %.80q is no range; want one such as [01-03]", name, part)
		case to-from >= maxHosts || (len(names)+int(to-from))*len(ends) > maxHosts:
			return nil, fmt.Errorf("%.80q: more than %d hosts", name, maxHosts)
		}
		for n := from; n <= to; n++ {
			for _, end := range ends {
				names = append(names, fmt.Sprintf("%s%0*d%s", before, min(len(first), maxDigits), n, end))
			}
		}
	}
	return names, nil
}

// checkName refuses what is no name of a host, or could be taken for something else by ssh.
func checkName(name string) error {
	if ip, err := netip.ParseAddr(name); err == nil && (ip.Is4() || ip.Zone() == "") {
		return nil
	}
	user, host, hasUser := strings.Cut(name, "@")
	if !hasUser {
		user, host = "user", name
	}
	for _, part := range []string{user, host} {
		isOdd := strings.ContainsFunc(part, func(r rune) bool {
			return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' ||
				strings.ContainsRune("-._", r))
		})
		if part == "" || len(part) > maxName || part[0] == '-' || part[0] == '.' || isOdd {
			return fmt.Errorf("%.80q is no host; %s", name, wantHost)
		}
	}
	return nil
}
