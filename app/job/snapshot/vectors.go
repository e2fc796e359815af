package snapshot

import (
	"slices"

	"lockstep/checkpoint"
	"lockstep/comm"
	"lockstep/optim"
)

// heldElems is the number of elements of a vector that each rank sends in one message.
const heldElems = 1 << 18

// gatherer collects vectors of all ranks at rank 0. It allocates only in the first call.
type gatherer struct {
	chunk  []float32 // of one message
	bounds []int     // of the ranks' parts of it, in bytes
}

// collect gathers the vectors that each rank has, counts[rank] of them, into all, which rank 0 has by rank.
// Vectors of one number have the same length on all ranks.
func (g *gatherer) collect(group *comm.Group, own [][]float32, lengths, counts []int,
	all [][][]float32) error {
	size, rank := group.Size(), group.Rank()
	if g.chunk == nil {
		g.chunk, g.bounds = make([]float32, size*heldElems), make([]int, size+1)
	}
	for i, elems := range lengths {
		for lo := 0; lo < elems; lo += heldElems {
			hi := min(lo+heldElems, elems)
			for r, n := range counts {
				g.bounds[r+1] = g.bounds[r]
				if i < n {
					g.bounds[r+1] += 4 * (hi - lo)
				}
			}
			if i < counts[rank] {
				copy(g.part(rank), own[i][lo:hi])
			}
			if err := group.Gather(comm.Bytes(g.chunk[:g.bounds[size]/4]), g.bounds, 0); err != nil {
				return err
			}
			for r := range all {
				if i < counts[r] {
					copy(all[r][i][lo:hi], g.part(r))
				}
			}
		}
	}
	return nil
}

// part returns what a rank has in the message.
func (g *gatherer) part(rank int) []float32 { return g.chunk[g.bounds[rank]/4 : g.bounds[rank+1]/4] }

func clones(vectors []optim.Vector) []optim.Vector {
	all := slices.Clone(vectors)
	for i := range all {
		all[i].Data = slices.Clone(all[i].Data)
	}
	return all
}

func copyAll(dst, src []optim.Vector) {
	for i, v := range src {
		copy(dst[i].Data, v.Data)
	}
}

// vectorsOf names an optimizer's vectors for package checkpoint.
func vectorsOf(state []optim.Vector) []checkpoint.Vector {
	vectors := make([]checkpoint.Vector, len(state))
	for i, v := range state {
		vectors[i] = checkpoint.Vector(v)
	}
	return vectors
}

// DataOf returns the values of vectors.
func DataOf(vectors []checkpoint.Vector) [][]float32 {
	data := make([][]float32, len(vectors))
	for i, v := range vectors {
		data[i] = v.Data
	}
	return data
}

func vectorsOfLen(num, elems int) [][]float32 {
	all := make([][]float32, num)
	for i := range all {
		all[i] = make([]float32, elems)
	}
	return all
}
