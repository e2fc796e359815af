package comm

import (
	"math/bits"

	"lockstep/shard"
)

// Theory is the closed form of what an all-reduce of n elements costs the busiest of the ranks of
// a topology when every rank brings one piece, to be printed beside what was counted. Divisions
// are exact when the number of ranks divides n, for hierarchical also that of hosts times that of
// the largest host's ranks. For halving-doubling with p not a power of two it is a lower bound, up
// to a quarter below (TestScheduleCostsAreTheFormulas): where folded runs do not meet the tree,
// some pieces travel apart. "auto" stands for what Resolve picks.
func Theory(algorithm string, t Topology, n int) Cost {
	p := t.Size()
	if p == 1 {
		return Cost{}
	}
	levels := bits.Len(uint(p)) - 1 // of the largest power of two
	k := 1 << levels
	switch Resolve(algorithm, t, 4*n) {
	case "direct":
		return Cost{Steps: 2, Sent: 2 * n * (p - 1) / p, Received: 2 * n * (p - 1) / p}
	case "gather":
		return Cost{Steps: 2, Sent: n * (p - 1), Received: n * (p - 1)}
	case "one-shot":
		return Cost{Steps: 1, Sent: n * (p - 1), Received: n * (p - 1)}
	case "ring":
		return Cost{Steps: 2 * (p - 1), Sent: 2 * n * (p - 1) / p, Received: 2 * n * (p - 1) / p}
	case "tree":
		if k < p {
			levels++
		}
		return Cost{Steps: 2 * levels, Sent: n * levels, Received: n * levels}
	case "halving-doubling":
		c := Cost{Steps: 2 * levels, Sent: 2 * n * (k - 1) / k, Received: 2 * n * (k - 1) / k}
		if k < p { // the even rank of a folded pair
			c.Steps += 2
			c.Sent += n
			c.Received += n
		}
		return c
	case "hierarchical":
		return hierarchicalTheory(t, n)
	}
	return Cost{}
}

// hierarchicalTheory is the cost at the first rank of the busiest host. Of K columns of w = n/K
// elements on H hosts it owns m = K/L, rounded up, where its host has L ranks, and its host holds
// s subtrees, of all hosts' S. It sends n - mw within the host, the slices of the others; then
// s m (w - w/H) and (H-1) m w/H between hosts; then (L-1) m w within. It receives (L-1) m w within,
// then (S-s) m w/H and m (w - w/H) between hosts, then n - mw within.
func hierarchicalTheory(t Topology, n int) Cost {
	plan, err := shard.Cut(t.Size(), t.Size())
	if err != nil {
		panic(err) // a topology has ranks
	}
	h := hierarchy{t, plan, n}
	hosts, numColumns, all := len(t.hosts), t.numColumns(), 0
	for host := range t.hosts {
		all += len(h.nodes(host))
	}
	c := Cost{}
	if hosts > 1 {
		c.Steps += 2
	}
	if numColumns > 1 {
		c.Steps += 2
	}
	for host, ranks := range t.hosts {
		own := len(h.nodes(host))
		slice := (numColumns + len(ranks) - 1) / len(ranks) * n / numColumns
		within, away := slice*(len(ranks)-1), slice*(hosts-1)/hosts
		c.Sent = max(c.Sent, n-slice+own*away+away+within)
		c.Received = max(c.Received, within+(all-own)*slice/hosts+away+n-slice)
	}
	return c
}
