package cluster

import (
	"net"
	"slices"
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
			return nil, environmentErrorf("%s: %.80q, want NAME=ADDRESS=SLOTS or NAME=ADDRESS=SLOTS=CORES",
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
	if h.Slots, err = strconv.Atoi(part[2]); err != nil || h.Slots < 1 || h.Slots > MaxWorld {
		return h, false
	}
	if len(part) == 4 {
		h.Cores, err = strconv.Atoi(part[3])
		return h, err == nil && h.Cores > 0
	}
	return h, true
}

// placement says on which host each rank of a launch is. It is empty if all are on this machine.
type placement struct {
	variable string   // that lists the hosts
	names    []string // of the hosts, by rank
	first    string   // address of the first host, if it is not the only one

	networks []string // in a lab: path of the network namespace, by rank

	roster  []RosterHost // outside a lab
	hosts   []int        // number of the host in the roster, by rank
	workers int          // that are not servers
}

// place returns the placement of so many workers and servers. The error is an *EnvironmentError.
func (e Environment) place(workers, servers int) (placement, error) {
	lab, err := e.LabHosts()
	if err != nil {
		return placement{}, err
	}
	roster, err := e.Roster()
	switch {
	case err != nil:
		return placement{}, err
	case lab != nil && roster != nil:
		return placement{}, environmentErrorf("%s: the hosts of a lab are this machine, and %s has others; "+
			"want one of them", EnvLab, EnvHosts)
	case lab != nil:
		return placeInLab(lab, workers+servers), nil
	case roster == nil:
		return placement{}, nil
	}
	if slots := numSlots(roster); workers > slots {
		return placement{}, environmentErrorf("%s: its hosts have %d slots, for %d workers; want at most %d "+
			"workers, or more slots", EnvHosts, slots, workers, slots)
	}
	return placeOnHosts(roster, workers, servers), nil
}

// placeInLab returns the placement in a lab.
func placeInLab(lab []LabHost, world int) placement {
	p := placement{variable: EnvLab, first: lab[0].Address, names: make([]string, world),
		networks: make([]string, world)}
	for rank := range world {
		host := lab[labHost(rank, world, len(lab))]
		p.names[rank], p.networks[rank] = host.Name, host.Namespace
	}
	return p
}

// placeOnHosts returns the placement on a roster: hosts take contiguous workers, each as many as it has
// slots. More workers than slots are distributed in the same proportion. Servers take no slots; they are
// spread evenly over the hosts that have workers.
func placeOnHosts(roster []RosterHost, workers, servers int) placement {
	p := placement{variable: EnvHosts, roster: roster, workers: workers}
	for slot := range workers {
		host := 0
		for ; slot >= roster[host].Slots; host++ {
			slot -= roster[host].Slots
		}
		p.hosts = append(p.hosts, host)
	}
	used := p.hosts[workers-1] + 1
	for server := range servers {
		p.hosts = append(p.hosts, server*used/servers)
	}
	for _, host := range p.hosts {
		p.names = append(p.names, roster[host].Name)
	}
	if p.isRemote() {
		p.first = roster[0].Address
	}
	return p
}

// numSlots returns the slots of all hosts.
func numSlots(roster []RosterHost) int {
	slots := 0
	for _, h := range roster {
		slots += h.Slots
	}
	return slots
}

// isRemote reports whether some ranks are on other hosts than the launcher.
func (p placement) isRemote() bool { return len(p.hosts) > 0 && slices.Max(p.hosts) > 0 }

// isApart reports whether each of several ranks is on a host of its own.
func (p placement) isApart() bool {
	world := len(p.names)
	return world > 1 && len(slices.Compact(slices.Sorted(slices.Values(p.names)))) == world
}

// ranksOn returns the ranks of a host of the roster.
func (p placement) ranksOn(host int) []int {
	var ranks []int
	for rank, h := range p.hosts {
		if h == host {
			ranks = append(ranks, rank)
		}
	}
	return ranks
}

// here returns the ranks of this machine, in a world of so many.
func (p placement) here(world int) []int {
	if p.hosts != nil {
		return p.ranksOn(0)
	}
	ranks := make([]int, world)
	for rank := range ranks {
		ranks[rank] = rank
	}
	return ranks
}

// list names ranks for people.
func (p placement) list(ranks []int) string {
	texts := make([]string, len(ranks))
	for i, rank := range ranks {
		texts[i] = Name(rank, p.workers)
	}
	return strings.Join(texts, ", ")
}

// IsApart reports whether each of these processes, two or more, is on its own host, in the lab of e or on its
// hosts.
func (e Environment) IsApart(workers, servers int) bool {
	p, err := e.place(workers, servers)
	return err == nil && p.isApart()
}

// HostNames returns the name of each worker's host, for so many workers, in the lab of e or on its hosts; nil
// if all are on this machine. The error is an *EnvironmentError.
func (e Environment) HostNames(workers int) ([]string, error) {
	p, err := e.place(workers, 0)
	return p.names, err
}

// HostNumbers returns the number in the roster of each rank's host, for so many workers and servers; nil if e
// has no roster. The error is an *EnvironmentError, such as that the hosts have too few slots.
func (e Environment) HostNumbers(workers, servers int) ([]int, error) {
	p, err := e.place(workers, servers)
	return p.hosts, err
}

// OnHosts returns e with its first hosts only, in the lab or in the roster, each with so many slots. The
// error is an *EnvironmentError: there are fewer hosts, or they have fewer slots.
func (e Environment) OnHosts(hosts, perHost int) (Environment, error) {
	lab, err := e.LabHosts()
	if err != nil {
		return nil, err
	}
	roster, err := e.Roster()
	if err != nil {
		return nil, err
	}
	if all := len(lab) + len(roster); hosts < 1 || hosts > all {
		return nil, environmentErrorf("%d hosts, but there are %d; want 1 to %d, or more in --hosts of "+
			"launch or lab", hosts, all, all)
	}
	if lab != nil {
		return e.With(LabEnvironment(lab[:hosts])), nil
	}
	roster = slices.Clone(roster[:hosts])
	for i := range roster {
		if h := &roster[i]; perHost > h.Slots {
			return nil, environmentErrorf("%d workers on each host, but %s has %d slots; want at most as "+
				"many, or more slots", perHost, h.Name, h.Slots)
		}
		roster[i].Slots = perHost
	}
	return e.With(RosterEnvironment(roster)), nil
}

// NumHosts returns how many hosts e lists, in a lab or in a roster; 0 if there is this machine only.
func (e Environment) NumHosts() int {
	lab, _ := e.LabHosts() // Launch reports the errors
	roster, _ := e.Roster()
	return len(lab) + len(roster)
}

// Load is what one host has of a run.
type Load struct {
	RosterHost
	Workers, Servers int
}

// Loads returns what each host of e has of a run with so many workers and servers, without the hosts that
// have nothing; none if e has no roster, or the hosts too few slots.
func (e Environment) Loads(workers, servers int) []Load {
	p, err := e.place(workers, servers)
	if err != nil || p.roster == nil {
		return nil
	}
	loads := make([]Load, len(p.roster))
	for rank, host := range p.hosts {
		loads[host].RosterHost = p.roster[host]
		if rank < workers {
			loads[host].Workers++
		} else {
			loads[host].Servers++
		}
	}
	return slices.DeleteFunc(loads, func(l Load) bool { return l.Workers+l.Servers == 0 })
}

// NumSlots returns how many workers the hosts of e take; 0 if it lists none.
func (e Environment) NumSlots() int {
	roster, _ := e.Roster() // Launch reports the error
	return numSlots(roster)
}
