package nn

import (
	"lockstep/graph"
	"lockstep/random"
)

// ByIdentity is the initial distribution of convolutions that start as the identity: of the filters
// [Out, in, size, size] the first in are 1 at the centre of their own input channel and 0
// elsewhere; the others are uniform as by default (Jordan 2024, arXiv 2404.00498, section 3.3).
// size must be odd.
func ByIdentity(in, size int) graph.Init { return identity{in, size} }

type identity struct{ in, size int }

// Draw implements graph.Init.
func (d identity) Draw(s random.Stream, i uint64) float32 {
	area := uint64(d.size * d.size)
	filter, rest := i/(uint64(d.in)*area), i%(uint64(d.in)*area)
	switch {
	case filter >= uint64(d.in):
		return byFanIn(d.in*d.size*d.size).Draw(s, i)
	case rest == filter*area+area/2:
		return 1
	}
	return 0
}
