package comm

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"lockstep/shard"
)

// SegmentElems is the number of elements of a sum that are processed at once: 1 MiB, which bounds
// the scratch and keeps received data in the cache until it is added. 36 MiB between two processes
// over loopback TCP, three interleaved runs on two busy cores, medians: 27, 28, 17 ms with 1 MiB;
// 43, 38, 42 ms with 4 MiB.
const SegmentElems = 1 << 18

// spin is how long a thread with nothing else to do polls for bytes before it sleeps, yielding its
// processor after each poll. Two processes on two cores, 4 KiB over loopback TCP: 16 us instead of
// 50 us; both on one core: 36 us instead of 50 us (medians). It covers the usual wait between
// workers of equal load: with 50 us instead of 200, the exchange of lenet's gradients between two
// processes took 84 instead of 76 us, and 4 KiB between four processes on two cores 25 instead of
// 18 us.
const spin = 200 * time.Microsecond

// stare is how long the thread polls before it begins to yield; a yield takes as long as some
// twenty polls of shared memory. 4 KiB over shared memory, two processes on two cores: 2.9 us
// instead of 4.5 us.
//
// It yields to the system's scheduler, not to Go's: after runtime.Gosched another thread may pick
// up the goroutine, and the two then alternate on one core. Without Gosched, three interleaved
// runs, medians: 4 KiB over shared memory, four processes on two cores, 23 us instead of 51 us; in
// one process, two ranks, 7.5 us instead of 18 us.
const stare = 2 * time.Microsecond

// executor runs schedules over a mesh. One goroutine at a time uses it.
type executor struct {
	links
	config Config

	algorithms []string // algorithms that a call may name
	passing    []string // those that forward what they received
	numPieces  int      // of this rank
	tuning     *Tuning  // nil: not measured

	plans   map[planKey][]*planned
	scratch []float32
	buffers [][]byte

	sequence uint32
	// isWaitedFor says that the caller is blocked on this collective.
	isWaitedFor bool
	encodings   []encoding // of the step, in encoded
	encoded     []byte

	call *Call // the one in progress
	progress
	unit int // bytes per element in the current step
	// Read by Standing: moves counts progress; the peer that the step waits for is stored plus one,
	// 0 for none.
	moves         atomic.Uint64
	waitsFor      atomic.Int32
	received, due atomic.Int64
}

// progress is what the report of the collective in progress says of its peers and its time.
type progress struct {
	hasCome  []bool // by peer: it has sent something
	newcomer int    // the peer that has just begun to send, plus one; 0: none has
	met      time.Time
	last     int
	split    Split
	coded    time.Duration // split.Coded when the wait in progress began, which has no part of that
}

// begin starts the report of a collective.
func (g *progress) begin() {
	clear(g.hasCome)
	g.newcomer, g.met, g.last, g.split, g.coded = 0, time.Time{}, 0, Split{}, 0
}

// come notes that bytes of a peer have come.
func (g *progress) come(peer int) {
	if !g.hasCome[peer] {
		g.hasCome[peer], g.newcomer = true, peer+1
	}
}

// meet ends the wait for the newcomer, in a step that began at a time.
func (g *progress) meet(begin time.Time) {
	now := time.Now()
	if g.met.After(begin) {
		begin = g.met
	}
	g.split.Waited += max(0, now.Sub(begin)-(g.split.Coded-g.coded))
	g.met, g.last, g.newcomer, g.coded = now, g.newcomer-1, 0, g.split.Coded
}

// planKey and bounds identify a schedule.
type planKey struct {
	op          Op
	algorithm   string
	codec       Codec
	elems, root int
}

type planned struct {
	codec    Codec // nil if vectors are not encoded
	bounds   []int
	schedule *Schedule
	unit     int   // bytes per element
	base     []int // by buffer: the element at which its memory starts
	offset   []int // by scratch buffer, in floats
}

func newExecutor(mesh Mesh, c Config) *executor {
	return &executor{
		links: newLinks(mesh, c.Generation), config: c,
		algorithms: append(Algorithms(), "auto"), passing: passing(),
		numPieces: len(c.Plan.Pieces(mesh.Rank())), plans: map[planKey][]*planned{},
		progress: progress{hasCome: make([]bool, mesh.Size())},
	}
}

// setPlan changes the plan of the contributions between two collectives.
func (x *executor) setPlan(p shard.Plan) {
	x.config.Plan, x.numPieces = p, len(p.Pieces(x.mesh.Rank()))
	clear(x.plans)
}

// run executes one collective.
func (x *executor) run(c *Call) error {
	if err := x.validate(c); err != nil {
		return err
	}
	x.sequence++
	x.call = c
	x.progress.begin()
	for peer := range x.out {
		x.out[peer].frame, x.in[peer].frame = 0, 0
	}
	if c.Op == tune {
		return x.tune()
	}
	if !c.Op.isSum() {
		p := x.plan(c, len(c.Buf), 1)
		x.buffers = append(x.buffers[:0], c.Buf)
		return x.runPlan(c.Op, p)
	}
	first := c.Pieces[0]
	if c.Op != Reduce || x.mesh.Rank() == c.Root {
		first = c.Out
		if len(first) > 0 && &first[0] != &c.Pieces[0][0] {
			copy(first, c.Pieces[0])
		}
	}
	segment := segmentOf(c.Op, len(first))
	for lo := 0; lo < len(first); lo += segment {
		hi := min(lo+segment, len(first))
		p := x.plan(c, hi-lo, 4)
		x.buffers = append(x.buffers[:0], Bytes(first[lo:hi]))
		for _, piece := range c.Pieces[1:] {
			x.buffers = append(x.buffers, Bytes(piece[lo:hi]))
		}
		if err := x.runPlan(c.Op, p); err != nil {
			return err
		}
	}
	return nil
}

// segmentOf returns how many elements of a sum are processed at once.
func segmentOf(op Op, elems int) int {
	if op == ReduceScatter {
		return max(elems, 1) // a rank's part is one span of the whole
	}
	return SegmentElems
}

// validate returns an error if the call does not fit the group.
func (x *executor) validate(c *Call) error {
	p, rank := x.mesh.Size(), x.mesh.Rank()
	if c.Root < 0 || c.Root >= p {
		return fmt.Errorf("comm: %v: root %d, want 0 to %d", c.Op, c.Root, p-1)
	}
	if c.Op == AllReduce && c.Algorithm != "" && !slices.Contains(x.algorithms, c.Algorithm) {
		return CheckAlgorithm(c.Algorithm)
	}
	if err := x.validateCodec(c); err != nil {
		return err
	}
	if c.Op.isSum() {
		if got := len(c.Pieces); got != x.numPieces {
			return fmt.Errorf("comm: %v: %d pieces, want %d", c.Op, got, x.numPieces)
		}
		n := len(c.Pieces[0])
		for i, piece := range c.Pieces {
			if len(piece) != n {
				return fmt.Errorf("comm: %v: len(pieces[%d])=%d, want %d", c.Op, i, len(piece), n)
			}
		}
		if len(c.Out) != n && (c.Op != Reduce || rank == c.Root) {
			return fmt.Errorf("comm: %v: len(out)=%d, want %d", c.Op, len(c.Out), n)
		}
		return nil
	}
	if c.Op == Broadcast || c.Op == Barrier || c.Op == tune {
		return nil
	}
	if len(c.Bounds) != p+1 || c.Bounds[0] < 0 || c.Bounds[p] > len(c.Buf) ||
		!slices.IsSorted(c.Bounds) {
		return fmt.Errorf("comm: %v: bounds %v, want %d increasing numbers up to %d", c.Op, c.Bounds,
			p+1, len(c.Buf))
	}
	return nil
}

// plan returns the schedule of a call over elems elements, which it makes on first use.
func (x *executor) plan(c *Call, elems, unit int) *planned {
	key := planKey{op: c.Op, codec: c.Codec, elems: elems, root: c.Root}
	if c.Op == AllReduce {
		key.algorithm = c.Algorithm
	}
	for _, p := range x.plans[key] {
		if slices.Equal(p.bounds, c.Bounds) {
			return p
		}
	}
	p := x.lay(x.schedule(c, elems), c.Codec, unit)
	p.bounds = slices.Clone(c.Bounds)
	x.plans[key] = append(x.plans[key], p)
	return p
}

// lay assigns the buffers of a schedule their offsets in the scratch.
func (x *executor) lay(s *Schedule, codec Codec, unit int) *planned {
	p := &planned{codec: codec, schedule: s, unit: unit}
	p.schedule.split(func(peer int) int {
		if x.isChecked[peer] {
			return maxChecked / unit
		}
		return MaxFrame / unit
	})
	p.base = make([]int, p.schedule.Own, p.schedule.Own+len(p.schedule.Scratch))
	total := 0
	for _, span := range p.schedule.Scratch {
		p.base = append(p.base, span.Lo)
		p.offset = append(p.offset, total)
		total += (span.Len() + 15) &^ 15
	}
	if total > len(x.scratch) {
		x.scratch = Alloc(x.mesh, total)
	}
	if p.codec != nil {
		x.reserve(p)
	}
	return p
}

// schedule makes the schedule of a valid call.
func (x *executor) schedule(c *Call, elems int) *Schedule {
	rank, size := x.mesh.Rank(), x.mesh.Size()
	switch c.Op {
	case ReduceScatter:
		return directReduceScatter(x.config.Plan, rank, elems)
	case Reduce:
		return gatherReduce(x.config.Plan, rank, elems, c.Root)
	case AllGather:
		return allGather(rank, c.Bounds)
	case Gather:
		return gather(rank, c.Bounds, c.Root)
	case Scatter:
		return scatter(rank, c.Bounds, c.Root)
	case Broadcast:
		return broadcast(size, rank, elems, c.Root)
	case Barrier:
		return barrier(size, rank)
	}
	name := Pick(x.algorithm(c), x.tuning, x.config.Topology, c.Codec, 4*elems)
	s, err := PlanAllReduce(name, x.config.Topology, x.config.Plan, rank, elems)
	if err != nil {
		panic(err) // checked by validate and NewGroup
	}
	return s
}

// runPlan executes the steps of p on x.buffers, which begin with the caller's buffers.
func (x *executor) runPlan(op Op, p *planned) error {
	for i, span := range p.schedule.Scratch {
		x.buffers = append(x.buffers, Bytes(x.scratch[p.offset[i]:p.offset[i]+span.Len()]))
	}
	for i := range p.schedule.Steps {
		step := &p.schedule.Steps[i]
		if len(step.Sends)+len(step.Receives) > 0 {
			want := header{kind: uint8(op), generation: x.generation,
				sequence: x.sequence}
			if err := x.exchange(p, step, want); err != nil {
				return x.fail(err, x.lost)
			}
		}
		x.add(p, step.Sums)
	}
	return nil
}

// add computes the sums of a step.
func (x *executor) add(p *planned, sums []Addition) {
	if len(sums) == 0 {
		return
	}
	began := time.Now()
	for _, sum := range sums {
		x.config.Add(floats(x.view(p, sum.Into, sum.Span)), floats(x.view(p, sum.From, sum.Span)))
	}
	x.split.Added += time.Since(began)
}

// view returns the memory of a span of a buffer.
func (x *executor) view(p *planned, buffer int, s Span) []byte {
	base := p.base[buffer]
	return x.buffers[buffer][(s.Lo-base)*p.unit : (s.Hi-base)*p.unit]
}

// exchange performs the transfers of one step on all links at once.
func (x *executor) exchange(p *planned, step *Step, want header) *PeerError {
	x.encodings, x.unit = x.encodings[:0], p.unit
	for peer := range x.out {
		x.out[peer].reset()
		x.in[peer].reset()
	}
	for _, t := range step.Sends {
		x.out[t.Peer].transfers = append(x.out[t.Peer].transfers, t)
	}
	for _, t := range step.Receives {
		x.in[t.Peer].transfers = append(x.in[t.Peer].transfers, t)
	}
	begin := time.Now()
	last := begin
	x.coded = x.split.Coded
	for {
		pending, moved := 0, false
		for peer := range x.out {
			n, isMoved, err := x.drive(p, peer, want, begin)
			if err != nil {
				return x.lost(peer, Op(want.kind), err)
			}
			pending += n
			moved = moved || isMoved
		}
		if x.newcomer > 0 {
			x.meet(begin)
		}
		if pending == 0 {
			return nil
		}
		if moved {
			x.resume()
			last = time.Time{}
			continue
		}
		if last.IsZero() {
			last = time.Now()
		}
		idle := time.Since(last)
		if x.isWaitedFor && idle < spin {
			if idle > stare {
				yieldProcessor()
			}
			continue
		}
		left := x.config.Timeout - idle
		if left <= 0 {
			return x.lost(x.blocking(), Op(want.kind), ErrTimeout)
		}
		x.await()
		if err := x.mesh.Wait(x.want, left); err != nil {
			return x.lost(x.blocking(), Op(want.kind), err)
		}
	}
}
