package comm

import "slices"

// Topology says which ranks share a host. Links within a host are faster than those between hosts,
// which its ranks share. It is the same on all ranks of a group.
type Topology struct {
	hosts [][]int // ranks by host, ascending; hosts in the order of their lowest rank
	place []place // by rank
}

// place is the host of a rank and its index there.
type place struct{ host, index int }

// OneHost returns the topology of size ranks on one host.
func OneHost(size int) Topology { return NewTopology(make([]string, size)) }

// NewTopology returns the topology of ranks whose hosts have these names, by rank.
func NewTopology(names []string) Topology {
	var t Topology
	var known []string
	for rank, name := range names {
		host := slices.Index(known, name)
		if host < 0 {
			host = len(known)
			known, t.hosts = append(known, name), append(t.hosts, nil)
		}
		t.place = append(t.place, place{host, len(t.hosts[host])})
		t.hosts[host] = append(t.hosts[host], rank)
	}
	return t
}

// Size returns the number of ranks.
func (t Topology) Size() int { return len(t.place) }

// Hosts returns the number of hosts.
func (t Topology) Hosts() int { return len(t.hosts) }

// Peers returns the ranks that share rank's host, itself included, ascending.
func (t Topology) Peers(rank int) []int { return slices.Clone(t.peers(rank)) }

func (t Topology) peers(rank int) []int { return t.hosts[t.place[rank].host] }

// isMixed reports whether there are links of both kinds: within a host and between hosts.
func (t Topology) isMixed() bool { return len(t.hosts) > 1 && len(t.hosts) < len(t.place) }

// isWithin reports whether two ranks share a host.
func (t Topology) isWithin(a, b int) bool { return t.place[a].host == t.place[b].host }
