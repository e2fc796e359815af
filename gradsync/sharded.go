package gradsync

import (
	"fmt"
	"time"

	"lockstep/comm"
)

// Sharded is "ddp" with reduce-scatter, local update, all-gather: each worker receives the sum of
// its share of every bucket (comm.Part), updates the weights of its shares, and an all-gather
// distributes them. These are the two halves of a direct all-reduce, with as many bytes. It
// satisfies train.ShardSync. A step ends with WaitShares, StartAllGather and WaitAllGather.
type Sharded struct {
	*exchange
	gathering gathering
}

// gathering is an all-gather in progress of a vector of which each worker has its shares.
type gathering struct {
	vector    *float32
	handles   []*comm.Handle // by bucket
	isMissing []bool
	err       error // the first error
}

// NewSharded returns an exchange for workers that each update a share of the weights. It returns an
// error if c.Wire keeps residuals or is "auto".
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

// WaitShares blocks until this worker's shares of Pieces[0] hold the global sum and the rows are
// complete. After a *comm.PeerError the exchange is unusable.
func (s *Sharded) WaitShares() error { return s.wait() }

// partBounds returns the bounds of the workers' parts of a bucket, in bytes.
func (s *Sharded) partBounds(b *Bucket) []int {
	size := s.config.Group.Size()
	bounds := make([]int, size+1)
	for r := range size {
		bounds[r+1] = 4 * comm.Part(b.Hi-b.Lo, size, r).Hi
	}
	return bounds
}

// Shares returns this worker's ranges [lo, hi) of the flat vector, one per bucket in order; some
// may be empty. The shares of all workers cover the buckets.
func (s *Sharded) Shares() [][2]int {
	g := s.config.Group
	shares := make([][2]int, len(s.buckets))
	for i, b := range s.buckets {
		part := comm.Part(b.Hi-b.Lo, g.Size(), g.Rank())
		shares[i] = [2]int{b.Lo + part.Lo, b.Lo + part.Hi}
	}
	return shares
}

// StartAllGather starts to fill v on all workers from each worker's shares; v is laid out as the
// gradients. All workers must call it at the same place between WaitShares and Begin, with one
// vector for the whole run. Buckets are gathered in forward order, the last one first.
func (s *Sharded) StartAllGather(v []float32) {
	if s.gathering.vector != &v[0] {
		s.gathering = gathering{vector: &v[0], isMissing: make([]bool, len(s.buckets))}
		for i := range s.buckets {
			b := &s.buckets[i]
			s.gathering.handles = append(s.gathering.handles, s.config.Group.Prepare(comm.Call{
				Op: comm.AllGather, Name: "weights of " + s.nameOf(i), Buf: comm.Bytes(v[b.Lo:b.Hi]),
				Bounds: s.partBounds(b)}))
		}
	}
	s.gathering.err = nil
	for i := len(s.buckets) - 1; i >= 0; i-- {
		s.gathering.handles[i].Start()
		s.gathering.isMissing[i] = true
	}
}

// WaitAllGather blocks until the bucket of param is gathered, or every bucket if param is negative.
// Every bucket must be gathered before the next WaitShares.
func (s *Sharded) WaitAllGather(param int) error {
	if param >= 0 {
		return s.waitBucket(s.bucketOf[param])
	}
	for i := len(s.gathering.handles) - 1; i >= 0; i-- {
		s.waitBucket(i)
	}
	return s.gathering.err
}

// waitBucket waits until bucket i is gathered.
func (s *Sharded) waitBucket(i int) error {
	if s.gathering.isMissing[i] {
		s.gathering.isMissing[i] = false
		wait := time.Now()
		if err := s.gathering.handles[i].Wait(); err == nil {
			s.book(i, s.gathering.handles[i], wait)
		} else if s.gathering.err == nil {
			s.gathering.err = err
		}
	}
	return s.gathering.err
}

// Collect fills rank 0's dst, laid out as the gradients, except for the gaps between buckets. own
// holds a worker's shares one after another. All workers must call it at the same place. It
// allocates.
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
