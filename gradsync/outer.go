package gradsync

import (
	"fmt"
	"time"

	"lockstep/comm"
	"lockstep/trace"
)

// OuterConfig configures an Outer.
type OuterConfig struct {
	// Group connects the workers. Its plan has one shard for each, so that vectors are added along a
	// tree over workers.
	Group *comm.Group
	// Parts are the ranges [lo, hi) of the flat vector that are exchanged at once, in floats.
	Parts [][2]int
	// Wire says how parts are transferred: a codec or none. Vectors that are no parts are never
	// encoded.
	Wire Wire
	// Track records a span per exchange; nil records nothing.
	Track *trace.Track
}

// Outer adds up vectors over all workers in the background, for workers that update their own weights
// and average them from time to time. It satisfies train.OuterSync.
//
// Vectors have numbers; the first len(OuterConfig.Parts) are parts of the weights. All workers must
// start the same vectors in the same order. The bits of a sum depend on the number of workers, not on
// the algorithm unless it is "ring" or the codec is lossy. Nothing is allocated once every vector has
// been exchanged.
type Outer struct {
	config  OuterConfig
	buckets []Bucket
	plain   []int64        // by part: bytes that this rank would send uncompressed
	handles []*comm.Handle // by vector; nil: not exchanged yet
	exposed comm.Split
}

// NewOuter returns an Outer. It returns an error if the wire keeps residuals or is "auto", or if the
// group's plan is not one shard for each worker.
func NewOuter(c OuterConfig) (*Outer, error) {
	if !c.Wire.IsFixed() {
		return nil, fmt.Errorf("gradsync: outer: wire %q, want a codec", c.Wire)
	}
	if plan := c.Group.Plan(); plan.Shards() != plan.Workers() {
		return nil, fmt.Errorf("gradsync: outer: %d shards of %d workers, want one each",
			plan.Shards(), plan.Workers())
	}
	o := &Outer{config: c, plain: make([]int64, len(c.Parts))}
	for i, p := range c.Parts {
		o.buckets = append(o.buckets, Bucket{Lo: p[0], Hi: p[1]})
		o.plain[i] = 4 * int64(c.Group.Cost(comm.Call{Op: comm.AllReduce}, p[1]-p[0]).Sent)
	}
	return o, nil
}

// Start begins to replace v by its sum over all workers. A number must stand for one v in the whole
// run, which must not be touched until Wait has returned.
func (o *Outer) Start(number int, v []float32) {
	for number >= len(o.handles) {
		o.handles = append(o.handles, nil)
	}
	if o.handles[number] == nil {
		o.handles[number] = o.prepare(number, v)
	}
	o.handles[number].Start()
}

// prepare prepares the all-reduce of a vector.
func (o *Outer) prepare(number int, v []float32) *comm.Handle {
	call := comm.Call{Op: comm.AllReduce, Out: v, Pieces: [][]float32{v},
		Name: fmt.Sprintf("vector %d of the average", number+1)}
	if number < len(o.buckets) {
		call.Name = fmt.Sprintf("part %d of %d of the average", number+1, len(o.buckets))
		call.Codec = o.config.Wire.Codec()
	}
	return o.config.Group.Prepare(call)
}

// Wait blocks until the sum of the vector that was started is there. After a *comm.PeerError the
// exchange is unusable.
func (o *Outer) Wait(number int) error {
	h, since := o.handles[number], time.Now()
	err := h.Wait()
	o.exposed.Add(h.Report().After(since))
	if err != nil || number >= len(o.buckets) {
		return err
	}
	b := &o.buckets[number]
	b.Steps++
	b.Spared += o.plain[number] - h.Report().Vector
	b.book(h.Report(), since)
	note(o.config.Track, "part", number, h.Report())
	return nil
}

// Sum replaces counts by their sum over all workers.
func (o *Outer) Sum(counts []int64) error { return sumCounts(o.config.Group, counts) }

// Close frees the resources of the exchange; the group stays open.
func (o *Outer) Close() error { return nil }

// Exposed returns what the time went into, since NewOuter, in which training waited.
func (o *Outer) Exposed() comm.Split { return o.exposed }

// Buckets returns the parts with their totals since NewOuter.
func (o *Outer) Buckets() []Bucket { return append([]Bucket(nil), o.buckets...) }
