package gradsync

import (
	"fmt"
	"time"

	"lockstep/comm"
)

// Sharded is "ddp" that leaves each worker the sum of its share of every bucket, comm.Part, by a
// reduce-scatter, and brings together what the workers make of their shares by an all-gather: the two
// halves of a direct all-reduce, with as many bytes. It satisfies train.ShardSync. A step ends with
// WaitShares, Spread and Arrived.
type Sharded struct {
	*exchange
	spread spread
}

// spread is a vector of which each worker has shares, on its way to all.
type spread struct {
	vector    *float32
	handles   []*comm.Handle // by bucket
	isMissing []bool
	err       error // the first
}

// NewSharded returns the exchange of workers that each update a share of the weights. It takes no error
// feedback.
func NewSharded(c Config) (*Sharded, error) {
	if !c.Wire.IsFixed() {
		return nil, fmt.Errorf("gradsync: sharded: want no error feedback")
	}
	s, err := newExchange(c, comm.ReduceScatter, true)
	if err != nil {
		return nil, fmt.Errorf("gradsync: sharded: %w", err)
	}
	return &Sharded{exchange: s}, nil
}

// WaitShares blocks until Pieces[0] is the global sum in this worker's shares and the rows are
// complete. After a *comm.PeerError the exchange is unusable.
func (s *Sharded) WaitShares() error { return s.wait() }

// partBounds returns where the workers' parts of a bucket begin, in bytes.
func (s *Sharded) partBounds(b *Bucket) []int {
	size := s.config.Group.Size()
	bounds := make([]int, size+1)
	for r := range size {
		bounds[r+1] = 4 * comm.Part(b.Hi-b.Lo, size, r).Hi
	}
	return bounds
}

// Shares returns this worker's ranges [lo, hi) of the flat vector, one of each bucket in order; some may
// be empty. The shares of all workers cover the buckets.
func (s *Sharded) Shares() [][2]int {
	g := s.config.Group
	shares := make([][2]int, len(s.buckets))
	for i, b := range s.buckets {
		part := comm.Part(b.Hi-b.Lo, g.Size(), g.Rank())
		shares[i] = [2]int{b.Lo + part.Lo, b.Lo + part.Hi}
	}
	return shares
}

// Spread begins to fill v, laid out as the gradients, on all workers; each brings its shares. All call it
// at the same place between WaitShares and Begin, with one vector for the whole run. The last bucket
// goes first, in forward order.
func (s *Sharded) Spread(v []float32) {
	if s.spread.vector != &v[0] {
		s.spread = spread{vector: &v[0], isMissing: make([]bool, len(s.buckets))}
		for i := range s.buckets {
			b := &s.buckets[i]
			s.spread.handles = append(s.spread.handles, s.config.Group.Prepare(comm.Call{
				Op: comm.AllGather, Name: "weights of " + s.nameOf(i), Buf: comm.Bytes(v[b.Lo:b.Hi]),
				Bounds: s.partBounds(b)}))
		}
	}
	s.spread.err = nil
	for i := len(s.buckets) - 1; i >= 0; i-- {
		s.spread.handles[i].Start()
		s.spread.isMissing[i] = true
	}
}

// Arrived blocks until the bucket of a parameter has arrived, or all if param is negative; all must have
// before the next WaitShares.
func (s *Sharded) Arrived(param int) error {
	if param >= 0 {
		return s.arrived(s.bucketOf[param])
	}
	for i := len(s.spread.handles) - 1; i >= 0; i-- {
		s.arrived(i)
	}
	return s.spread.err
}

// arrived waits for a bucket of the vector that is spread.
func (s *Sharded) arrived(i int) error {
	if s.spread.isMissing[i] {
		s.spread.isMissing[i] = false
		wait := time.Now()
		if err := s.spread.handles[i].Wait(); err == nil {
			s.book(i, s.spread.handles[i], wait)
		} else if s.spread.err == nil {
			s.spread.err = err
		}
	}
	return s.spread.err
}

// Collect fills rank 0's dst, laid out as the gradients, but for the gaps between buckets: each worker
// brings its shares, in own one after another. All call it at the same place. It allocates.
func (s *Sharded) Collect(dst, own []float32) error {
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
