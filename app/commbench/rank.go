package commbench

import (
	"fmt"
	"math"
	"slices"
	"time"

	"lockstep/cluster"
	"lockstep/comm"
	"lockstep/comm/codec"
	"lockstep/random"
)

// findings holds the measurements of one rank.
type findings struct {
	Tuning *comm.Tuning `json:"tuning"` // measurements behind "auto"; nil: nothing was reduced
	Points []sampling   `json:"-"`      // told one by one: a message has a bound
	// Encryption of the links between ranks.
	Encryption cluster.Encryption `json:"encryption"`
}

// sampling holds the samples of one rank at one point.
type sampling struct {
	Seconds []float64 `json:"seconds"` // per call, by sample
	Sent    int64     `json:"sent"`    // bytes per call
}

// measure goes through the points on one rank of a group.
func measure(g *comm.Group, points []point, repeats int, done func(at int, s sampling)) (findings, error) {
	var found findings
	if slices.ContainsFunc(points, func(p point) bool { return p.Op == comm.AllReduce }) {
		tuning, err := g.Tune()
		if err != nil {
			return found, err
		}
		found.Tuning = &tuning
	}
	floats := 0
	for _, p := range points {
		floats = max(floats, p.Bytes/4)
	}
	memory := g.Alloc(floats) // once for all points, because it cannot be returned before the end
	for i, p := range points {
		s, err := p.measure(g, memory[:p.Bytes/4], repeats)
		if err != nil {
			return found, fmt.Errorf("%v of %d bytes: %w", p.Op, p.Bytes, err)
		}
		found.Points = append(found.Points, s)
		done(i, s)
	}
	return found, nil
}

// measure checks one collective over data and times it.
func (p point) measure(g *comm.Group, data []float32, repeats int) (sampling, error) {
	v, err := newVector(p, g, data)
	if err != nil {
		return sampling{}, err
	}
	h := g.Prepare(v.call)
	if err := h.Do(); err != nil {
		return sampling{}, err
	}
	if err := v.check(); err != nil {
		return sampling{}, err
	}
	v.refill()
	before := g.Counters().Total().Sent
	calls := p.calls()
	s := sampling{Seconds: make([]float64, repeats)}
	for i := range calls { // a warm-up as long as a sample
		if err := h.Do(); err != nil {
			return s, err
		}
		if i == 0 {
			s.Sent = g.Counters().Total().Sent - before
		}
	}
	for i := range s.Seconds {
		if err := g.Barrier(); err != nil {
			return s, err
		}
		begin := time.Now()
		for range calls {
			if err := h.Do(); err != nil {
				return s, err
			}
		}
		s.Seconds[i] = time.Since(begin).Seconds() / float64(calls)
	}
	return s, nil
}

// vector is a rank's memory for a collective.
type vector struct {
	point
	rank, size int
	data       []float32 // contributed
	out        []float32 // the result, in data unless a codec would see sums grow
	bounds     []int     // parts, in floats
	call       comm.Call
}

// newVector fills data so that the result is known: every rank contributes rank+1 everywhere.
func newVector(p point, g *comm.Group, data []float32) (*vector, error) {
	rank, size := g.Rank(), g.Size()
	form, err := codec.New(p.Codec)
	if err != nil {
		return nil, err
	}
	v := &vector{point: p, rank: rank, size: size, data: data}
	v.out = v.data
	if form != nil {
		v.out = make([]float32, len(v.data))
	}
	for r := range size + 1 {
		v.bounds = append(v.bounds, r*len(v.data)/size)
	}
	for i := range v.data {
		v.data[i] = float32(rank + 1)
	}
	c := comm.Call{Op: p.Op, Codec: form}
	switch p.Op {
	case comm.AllReduce, comm.ReduceScatter, comm.Reduce:
		c.Algorithm = p.Algorithm
		c.Pieces = [][]float32{v.data}
		if p.Op != comm.Reduce || rank == 0 {
			c.Out = v.out
		}
	case comm.Barrier:
	default:
		c.Buf = comm.Bytes(v.data)
		for _, b := range v.bounds {
			c.Bounds = append(c.Bounds, 4*b)
		}
		if p.Op == comm.Broadcast {
			c.Bounds = nil
		}
	}
	v.call = c
	return v, nil
}

// refill replaces the contribution by the values to time: zeros, whose sums stay zeros, or with a codec
// random values from -1 to 1 of many magnitudes, which resemble gradients.
func (v *vector) refill() {
	clear(v.data)
	if v.Codec == plain {
		return
	}
	values := random.Stream(v.rank)
	for i := range v.data {
		n := uint64(i)
		v.data[i] = float32(math.Ldexp(float64(values.Symmetric(n, 1)), -values.Intn(n, 8)))
	}
}

// check returns an error unless the result of the collective is right.
func (v *vector) check() error {
	lo, hi := 0, len(v.data)
	want := func(int) float32 { return float32(v.size * (v.size + 1) / 2) }
	part := func(i int) float32 { // the rank that owns element i, plus one
		for r := range v.size {
			if i < v.bounds[r+1] {
				return float32(r + 1)
			}
		}
		return 0
	}
	switch v.Op {
	case comm.ReduceScatter:
		own := comm.Part(len(v.data), v.size, v.rank)
		lo, hi = own.Lo, own.Hi
	case comm.Reduce:
		if v.rank != 0 {
			hi = 0
		}
	case comm.AllGather:
		want = part
	case comm.Gather:
		if want = part; v.rank != 0 {
			hi = 0
		}
	case comm.Scatter:
		lo, hi = v.bounds[v.rank], v.bounds[v.rank+1]
		want = func(int) float32 { return 1 }
	case comm.Broadcast:
		want = func(int) float32 { return 1 }
	}
	most := float32(0) // difference
	if c := v.call.Codec; c != nil && c.Loss() != comm.Lossless {
		most = 1. / 64
	}
	for i := lo; i < hi; i++ {
		if d := v.out[i] - want(i); d > most*want(i) || -d > most*want(i) || d != d {
			return fmt.Errorf("rank %d: element %d is %v, want %v", v.rank, i, v.out[i], want(i))
		}
	}
	return nil
}
