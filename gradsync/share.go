package gradsync

import (
	"lockstep/comm"
)

// Shares of a sharded exchange: of every bucket each worker gets the sum of its part, comm.Part, which one
// reduce-scatter leaves there; one all-gather brings what the workers make of their parts together. Both
// steps of a direct all-reduce, so as many bytes travel.

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

func (s *exchange) Complete(v []float32) error {
	if s.completed != &v[0] {
		s.completed, s.completing = &v[0], nil
		for i := range s.buckets {
			b := &s.buckets[i]
			s.completing = append(s.completing, s.config.Group.Prepare(comm.Call{Op: comm.AllGather,
				Buf: comm.Bytes(v[b.Lo:b.Hi]), Bounds: s.partBounds(b)}))
		}
	}
	for _, h := range s.completing {
		h.Start()
	}
	var first error
	for i, h := range s.completing {
		if err := h.Wait(); err == nil {
			s.book(i, h)
		} else if first == nil {
			first = err
		}
	}
	return first
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
