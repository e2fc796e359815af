package gradsync

import (
	"time"

	"lockstep/comm"
)

// Shares of a sharded exchange: of every bucket each worker gets the sum of its part, comm.Part, which one
// reduce-scatter leaves there; one all-gather brings what the workers make of their parts together. Both
// steps of a direct all-reduce, so as many bytes travel.

// spread is a vector of which each worker has shares, on its way to all.
type spread struct {
	vector    *float32
	handles   []*comm.Handle // by bucket
	isMissing []bool
	err       error // the first
}

// partBounds returns where the workers' parts of a bucket begin, in bytes.
func (s *exchange) partBounds(b *Bucket) []int {
	size := s.config.Group.Size()
	bounds := make([]int, size+1)
	for r := range size {
		bounds[r+1] = 4 * comm.Part(b.Hi-b.Lo, size, r).Hi
	}
	return bounds
}

func (s *exchange) Shares() [][2]int {
	if !s.config.Sharded {
		return nil
	}
	g := s.config.Group
	shares := make([][2]int, len(s.buckets))
	for i, b := range s.buckets {
		part := comm.Part(b.Hi-b.Lo, g.Size(), g.Rank())
		shares[i] = [2]int{b.Lo + part.Lo, b.Lo + part.Hi}
	}
	return shares
}

func (s *exchange) Spread(v []float32) {
	if s.spread.vector != &v[0] {
		s.spread = spread{vector: &v[0], isMissing: make([]bool, len(s.buckets))}
		for i := range s.buckets {
			b := &s.buckets[i]
			s.spread.handles = append(s.spread.handles, s.config.Group.Prepare(comm.Call{
				Op: comm.AllGather, Buf: comm.Bytes(v[b.Lo:b.Hi]), Bounds: s.partBounds(b)}))
		}
	}
	s.spread.err = nil
	for i := len(s.buckets) - 1; i >= 0; i-- {
		s.spread.handles[i].Start()
		s.spread.isMissing[i] = true
	}
}

func (s *exchange) Arrived(param int) error {
	if param >= 0 {
		return s.arrived(s.bucketOf[param])
	}
	for i := len(s.spread.handles) - 1; i >= 0; i-- {
		s.arrived(i)
	}
	return s.spread.err
}

// arrived waits for a bucket of the vector that is spread.
func (s *exchange) arrived(i int) error {
	if s.spread.isMissing[i] {
		s.spread.isMissing[i] = false
		wait := time.Now()
		if err := s.spread.handles[i].Wait(); err == nil {
			s.book(i, s.spread.handles[i], wait)
		} else if s.spread.err == nil {
			s.spread.err = s.failed(i, err)
		}
	}
	return s.spread.err
}

func (s *exchange) Collect(dst, own []float32) error {
	g := s.config.Group
	for i := range s.buckets {
		b := &s.buckets[i]
		bounds := s.partBounds(b)
		all := make([]float32, b.Hi-b.Lo)
		own = own[copy(all[bounds[g.Rank()]/4:bounds[g.Rank()+1]/4], own):]
		if err := g.Gather(comm.Bytes(all), bounds, 0); err != nil {
			return err
		}
		if g.Rank() == 0 {
			copy(dst[b.Lo:b.Hi], all)
		}
	}
	return nil
}
