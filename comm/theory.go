package comm

import "math/bits"

// Theory is the closed form of what an all-reduce of n elements costs the busiest of p ranks
// when every rank brings one piece, to be printed beside what was counted. Divisions are exact
// when p divides n. For halving-doubling with p not a power of two it is a lower bound, up to a
// quarter below (TestScheduleCostsAreTheFormulas): where folded runs do not meet the tree, some
// pieces travel apart. "auto" stands for what Resolve picks.
func Theory(algorithm string, p, n int) Cost {
	if p == 1 {
		return Cost{}
	}
	switch Resolve(algorithm, p, 4*n) {
	case "direct":
		return Cost{Steps: 2, Sent: 2 * n * (p - 1) / p, Received: 2 * n * (p - 1) / p}
	case "gather":
		return Cost{Steps: 2, Sent: n * (p - 1), Received: n * (p - 1)}
	case "one-shot":
		return Cost{Steps: 1, Sent: n * (p - 1), Received: n * (p - 1)}
	case "ring":
		return Cost{Steps: 2 * (p - 1), Sent: 2 * n * (p - 1) / p, Received: 2 * n * (p - 1) / p}
	case "halving-doubling":
		levels := bits.Len(uint(p)) - 1
		k := 1 << levels
		c := Cost{Steps: 2 * levels, Sent: 2 * n * (k - 1) / k, Received: 2 * n * (k - 1) / k}
		if k < p { // the even rank of a folded pair
			c.Steps += 2
			c.Sent += n
			c.Received += n
		}
		return c
	}
	return Cost{}
}
