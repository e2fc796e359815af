package gradsync

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/comm"
	"lockstep/shard"
	"lockstep/trace"
)

// Segment is one parameter's place in the flat gradient vector, in floats.
type Segment struct {
	Offset, Len int
	// Rows and Cols are the shape of a matrix, stored row by row; both are 0 if it is not a matrix.
	Rows, Cols int
}

// Config configures an exchange. Group, Segments, Order and Pieces are required.
type Config struct {
	// Group connects the workers. Its plan is the plan of the pieces.
	Group *comm.Group
	// Algorithm of the all-reduces; "" means the group's. "gather-scatter" ignores it.
	Algorithm string
	// Segments lists the parameters by number; Order lists the numbers in the order in which
	// gradients become final. Segments lie in this order, so a bucket is one range; gaps between
	// them (alignment) hold zeros and are exchanged as part of a bucket.
	Segments []Segment
	Order    []int
	// Pieces are this worker's partial gradients, one flat vector for each of its subtrees.
	// Pieces[0] receives the global sum; the others are scratch afterwards.
	Pieces [][]float32
	// BucketBytes is the size at which "ddp" closes a bucket. Zero means DefaultBucketBytes.
	BucketBytes int
	// Wire says how gradients are transferred; the zero value is "fp32".
	Wire Wire
	// OnVerdict receives the choice of a Wire that is "auto", with its reasons. It may be nil.
	OnVerdict func(*Verdict)
	// Track records a span per bucket; nil records nothing.
	Track *trace.Track
}

// DefaultBucketBytes keeps the cost of starting an exchange at a few percent of its transfer on
// links of 10 Gbit/s, and gives models of a few million parameters several buckets to overlap.
const DefaultBucketBytes = 4 << 20

// edgeBytes is the size at which "ddp" closes its first bucket, so that communication begins early.
// It also bounds the last bucket, which cannot be hidden. It is a quarter of BucketBytes if that is
// less.
const edgeBytes = 256 << 10

// Strategy leaves the global sum of the gradients on every worker. It satisfies train.GradSync. A
// step ends with Wait.
type Strategy interface {
	Exchange
	// Wait blocks until Pieces[0] is the global sum and the rows are complete. After a
	// *comm.PeerError the strategy is unusable.
	Wait() error
}

// Exchange has the methods common to all kinds of exchange. They must be called from one goroutine,
// each step in this order: Begin, Ready for every parameter in Order with GatherRows somewhere before
// the last, then the method that waits.
type Exchange interface {
	// Begin starts a step.
	Begin(step int)
	// Ready reports that the pieces of a parameter's gradient are final.
	Ready(param int)
	// GatherRows all-gathers rows, [shards][n] flat, where each worker has filled the rows of its
	// shards.
	GatherRows(rows []float32)
	// Sum replaces counts by their sum over all workers.
	Sum(counts []int64) error
	// Replan continues with another plan, which the group must not use yet, and the pieces of this worker by
	// it. All ranks must call it at the same place between two steps, when every sum of the step before
	// has been waited for. It allocates. It returns an error, and then the exchange is unusable, if the
	// wire is "auto" or keeps residuals, which belong to pieces.
	Replan(plan shard.Plan, pieces [][]float32) error
	// Close frees the resources of the exchange; the group stays open.
	Close() error
	// Buckets returns the buckets with their totals since New.
	Buckets() []Bucket
	// Exposed returns what the time went into, since New, in which training waited for exchanges or
	// compressed for them.
	Exposed() comm.Split
	// State returns the state between steps. The slices are the exchange's own memory: to restore,
	// overwrite every vector before the first step, with the same plan.
	State() State
}

// State is the state of an exchange between steps.
type State struct {
	// Residuals are the residuals of error feedback, one for each piece and in its layout, or nil.
	Residuals [][]float32
	// Factors are the guesses of PowerSGD, the same on all workers.
	Factors []Factor
}

// Factor is the right factor of a matrix: vectors of Cols elements, one after another.
type Factor struct {
	Param, Cols int
	Data        []float32
}

// Bucket is a range of the gradient that is exchanged at once, with the totals of its exchanges.
type Bucket struct {
	Params []int // numbers of its parameters
	Lo, Hi int   // range of the flat vector, in floats
	Steps  int   // number of exchanges

	// Sent and Received are bytes over all steps. Spared is what fp32 would have sent, by the
	// algorithm that fp32 would use, minus the size of what was sent before its codec: what factors
	// save, or what a codec costs by requiring another algorithm.
	Sent, Received, Spared int64
	// Exposed is the time of its exchanges while training waited (exposed communication), Hidden
	// the rest, which overlapped with backward.
	// Parameter servers (package ps) leave Hidden 0: their exchange is mostly a wait for other workers.
	Exposed, Hidden time.Duration
}

// The strategies that New knows.
const (
	GatherScatter = "gather-scatter"
	AllReduce     = "all-reduce"
	DDP           = "ddp"
)

// Names returns the strategies that New knows.
func Names() []string { return []string{GatherScatter, AllReduce, DDP} }

// New returns the strategy of that name.
//
//   - "gather-scatter": after backward, each parameter's gradient is gathered and summed at rank 0, and the
//     sum is scattered to all.
//   - "all-reduce": after backward, each parameter's gradient is all-reduced.
//   - "ddp": buckets of parameters are all-reduced as soon as their gradients are final, during backward.
func New(name string, c Config) (Strategy, error) {
	if !slices.Contains(Names(), name) {
		return nil, fmt.Errorf("gradsync: strategy %q, want one of %s", name, strings.Join(Names(), ", "))
	}
	if name == GatherScatter {
		c.Algorithm = "gather"
	}
	if c.Wire.IsAuto() {
		return newGovernor(name, c)
	}
	s, err := newExchange(c, comm.AllReduce, name == DDP)
	if err != nil {
		return nil, fmt.Errorf("gradsync: %s: %w", name, err)
	}
	return atEnd{s}, nil
}

// newExchange makes the exchange of c: with buckets of c.BucketBytes if isEager, else with one
// bucket per parameter. op is the collective of each bucket.
func newExchange(c Config, op comm.Op, isEager bool) (*exchange, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	s := &exchange{config: c, op: op, isEager: isEager}
	name := AllReduce
	if s.isEager {
		name = DDP
	}
	s.buckets = Buckets(name, c.Segments, c.Order, c.BucketBytes)
	s.number()
	s.onBook = s.bookLate
	s.compressor = c.Wire.newCompressor(&s.config, s.buckets)
	s.prepare()
	return s, nil
}

// validate applies defaults and returns an error if the layout is inconsistent.
func (c *Config) validate() error {
	if c.Group == nil {
		return fmt.Errorf("no group")
	}
	if c.BucketBytes < 0 {
		return fmt.Errorf("bucket of %d bytes, want at least 0", c.BucketBytes)
	}
	if c.BucketBytes == 0 {
		c.BucketBytes = DefaultBucketBytes
	}
	if c.Algorithm != "" {
		if err := comm.CheckAlgorithm(c.Algorithm); err != nil {
			return err
		}
	}
	if err := c.Wire.Check(c.Algorithm); err != nil {
		return err
	}
	want := len(c.Group.Plan().Pieces(c.Group.Rank()))
	if len(c.Pieces) != want {
		return fmt.Errorf("%d pieces, want %d", len(c.Pieces), want)
	}
	if len(c.Order) != len(c.Segments) {
		return fmt.Errorf("order of %d parameters, want %d", len(c.Order), len(c.Segments))
	}
	seen := make([]bool, len(c.Segments))
	at := 0
	for _, s := range c.Segments {
		if got := s.Rows * s.Cols; got != s.Len && got != 0 {
			return fmt.Errorf("matrix of %d x %d in %d elements", s.Rows, s.Cols, s.Len)
		}
	}
	for _, param := range c.Order {
		if param < 0 || param >= len(seen) || seen[param] {
			return fmt.Errorf("order %v is not a permutation of %d parameters", c.Order, len(seen))
		}
		seen[param] = true
		if got := c.Segments[param].Offset; got < at {
			return fmt.Errorf("parameter %d at offset %d, want at least %d: segments follow the order",
				param, got, at)
		}
		at = c.Segments[param].Offset + c.Segments[param].Len
	}
	for i, p := range c.Pieces {
		if len(p) < at {
			return fmt.Errorf("len(pieces[%d])=%d, want %d", i, len(p), at)
		}
	}
	return nil
}

// bounds returns the bounds of each worker's rows; a row has n bytes.
func bounds(plan shard.Plan, n int) []int {
	b := make([]int, 1, plan.Workers()+1)
	for r := range plan.Workers() {
		_, hi := plan.Run(r)
		b = append(b, hi*n)
	}
	return b
}
