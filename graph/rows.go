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

// withStarts appends the starts of the texts to the inputs of an op on x, if x is ragged.
func withStarts(x *Node, in ...*Node) []*Node {
	if x.typ.Ragged {
		in = append(in, x.graph.texts.starts)
	}
	return in
}

// Drop is dropout at one place of the network. An element's factor is drawn from 16 bits of its sample's
// random words, at a position given by row and column; see Start.
type Drop struct {
	// Share is the part of the elements that is set to zero, 0 to below 1.
	Share float64
	// Site is the number of the place.
	Site int
}

// Start returns the start of the random words of sample i of a run. Each seed, step, place and sample of
// the data set has a stream of its own.
func (d Drop) Start(draws *Draws, i int) uint64 {
	return random.Derive(draws.Seed, dropPurpose, uint64(draws.Step), uint64(d.Site),
		uint64(draws.Samples[i])).Start()
}

// newDrop returns dropout at the next place of g.
func newDrop(g *Graph, share float64) Drop {
	if share == 0 {
		return Drop{}
	}
	g.sites++
	return Drop{share, g.sites}
}

// check fails unless the share is possible.
func (d Drop) check() error {
	if !(d.Share >= 0 && d.Share < 1) {
		return fmt.Errorf("dropout of %v, want 0 to below 1", d.Share)
	}
	return nil
}

// dropPurpose separates the streams of dropout from other uses of the same seed.
const dropPurpose = 2

// dropper draws a place's dropout anew for each run.
type dropper struct {
	Drop
	d row.Dropout
}

func (d Drop) dropper() *dropper {
	return &dropper{Drop: d, d: row.Dropout{Limit: row.DropLimit(d.Share)}}
}

// of returns the dropout of a run.
func (d *dropper) of(draws *Draws) row.Dropout {
	d.d.Keys = d.d.Keys[:0]
	if d.d.Limit > 0 {
		for i := range draws.Samples {
			d.d.Keys = append(d.d.Keys, d.Start(draws, i))
		}
	}
	return d.d
}
