package graph

import (
	"fmt"

	"lockstep/internal/kernel/row"
	"lockstep/random"
)

// rowSource tells which rows of a value belong to which sample.
type rowSource struct {
	cols   int
	starts []int32 // nil for a ragged value, whose rows are known when it runs
}

// rowsOf returns the rows of the last axis of t.
func rowsOf(t Type) rowSource {
	r := rowSource{cols: lastAxis(t)}
	if t.Ragged {
		return r
	}
	n := t.Shape[0]
	r.starts = make([]int32, n+1)
	for i := range r.starts {
		r.starts[i] = int32(i * (t.Shape.Elems() / r.cols / n))
	}
	return r
}

// of returns the rows of a run; starts is where the texts start, and is read for a ragged value only.
func (r rowSource) of(starts *Buffer) row.Rows {
	if r.starts != nil {
		return row.Rows{Cols: r.cols, Starts: r.starts}
	}
	return row.Rows{Cols: r.cols, Starts: starts.I}
}

// withStarts adds to the inputs of an op on x where the texts start, if x is ragged.
func withStarts(x *Node, in ...*Node) []*Node {
	if x.typ.Ragged {
		in = append(in, x.graph.texts.starts)
	}
	return in
}

// drop is dropout at one place of the network.
type drop struct {
	share float64
	site  int
}

// newDrop returns dropout at the next place of g.
func newDrop(g *Graph, share float64) drop {
	if share == 0 {
		return drop{}
	}
	g.sites++
	return drop{share, g.sites}
}

// check fails unless the share is possible.
func (d drop) check() error {
	if !(d.share >= 0 && d.share < 1) {
		return fmt.Errorf("dropout of %v, want 0 to below 1", d.share)
	}
	return nil
}

// dropPurpose separates the streams of dropout from other uses of the same seed.
const dropPurpose = 2

// dropper draws a place's dropout anew for each run.
type dropper struct {
	drop
	d row.Dropout
}

func (d drop) dropper() *dropper {
	return &dropper{drop: d, d: row.Dropout{Limit: row.DropLimit(d.share)}}
}

// of returns the dropout of a run: each sample has a stream of its own for each step and place.
func (d *dropper) of(draws *Draws) row.Dropout {
	d.d.Keys = d.d.Keys[:0]
	if d.d.Limit > 0 {
		for _, sample := range draws.Samples {
			s := random.Derive(draws.Seed, dropPurpose, uint64(draws.Step), uint64(d.site), uint64(sample))
			d.d.Keys = append(d.d.Keys, s.Start())
		}
	}
	return d.d
}
