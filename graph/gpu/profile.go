//go:build cuda && linux && amd64

package gpu

import (
	"slices"

	"lockstep/graph"
	"lockstep/internal/cuda"
	"lockstep/internal/cuda/blas"
	"lockstep/random"
)

// Note: profile
//
// An event in the driver's queue notes when the GPU reaches it. With Config.Profile there is one in front of
// each op and one behind it, which are recorded within Timed only. While the ops are queued the GPU pauses,
// so that it finds them ready and no time is that of the processor. An event has a resolution of about half a
// microsecond, and between two of them lies about one, even if nothing else does: the times of small ops are
// too long, and so is their sum.

// profile is what times ops.
type profile struct {
	isOn       bool
	ops        []*timedOp // in the order of Prepare
	begin, end *cuda.Event
}

// timedOp is an op between two events.
type timedOp struct {
	before, after *cuda.Event
	hasRun        bool // since the profile was switched on
}

// newEvent returns an event, and notes the error if there is one.
func (e *Executor) newEvent() *cuda.Event {
	event, err := e.device.NewEvent(cuda.Timed)
	e.note(err)
	return event
}

// timed returns k, which records events if that is asked for.
func (e *Executor) timed(k graph.Kernel, err error) (graph.Kernel, error) {
	if err != nil || !e.config.Profile {
		return k, err
	}
	op := &timedOp{before: e.newEvent(), after: e.newEvent()}
	e.profile.ops = append(e.profile.ops, op)
	run := k.Run
	k.Run = func(a *graph.Args) {
		if !e.profile.isOn {
			run(a)
			return
		}
		e.record(op.before)
		run(a)
		e.record(op.after)
		op.hasRun = true
	}
	return k, nil
}

// record puts an event into the queue.
func (e *Executor) record(event *cuda.Event) {
	if e.err == nil {
		e.note(e.stream.Record(event))
	}
}

// closeProfile frees the events.
func (e *Executor) closeProfile() {
	events := []*cuda.Event{e.profile.begin, e.profile.end}
	for _, op := range e.profile.ops {
		events = append(events, op.before, op.after)
	}
	for _, event := range events {
		if event != nil {
			event.Close()
		}
	}
	e.profile = profile{}
}

// pauseCycles is how long the GPU waits before it begins with what is timed: some 20 ms at its usual clock.
// Thousands of ops are queued in that time.
const pauseCycles = 36e6

// Elapsed returns the seconds that the GPU takes for what f queues. f must not wait for the GPU.
func (e *Executor) Elapsed(f func()) float64 { return e.elapsed(1, f) }

// elapsed returns the seconds that the GPU takes for one of several calls of f.
func (e *Executor) elapsed(calls int, f func()) float64 {
	p := &e.profile
	if p.begin == nil {
		p.begin, p.end = e.newEvent(), e.newEvent()
	}
	e.launch("pause", 0, linear(1), linear(1), uint64(pauseCycles)).run()
	e.record(p.begin)
	for range calls {
		f()
	}
	e.Rejoin()
	e.record(p.end)
	e.Wait()
	return e.between(p.begin, p.end) / float64(calls)
}

// least is the least time that is reported: the resolution of events.
const least = 5e-7

// between returns the seconds between two events that are done.
func (e *Executor) between(from, to *cuda.Event) float64 {
	if e.err != nil {
		return least
	}
	ms, err := to.MillisecondsSince(from)
	e.note(err)
	return max(ms/1e3, least)
}

// Timed calls f, which runs a program without its recordings, as Program.Profile does. It returns the
// seconds that the GPU takes before the first op, such as for the input, and those of each op that f runs, in
// the order of Prepare. There are none without Config.Profile.
func (e *Executor) Timed(f func()) (before float64, ops []float64) {
	p := &e.profile
	for _, op := range p.ops {
		op.hasRun = false
	}
	p.isOn = true
	e.Elapsed(f)
	p.isOn = false
	for _, op := range p.ops {
		if !op.hasRun {
			continue
		}
		if ops == nil {
			before = e.between(p.begin, op.before)
		}
		ops = append(ops, e.between(op.before, op.after))
	}
	return before, ops
}

// measureRuns is how many runs a measured rate is the median of.
const measureRuns = 5

// median returns the median of the seconds of several runs of f, after one that warms up. Each repeats f.
func (e *Executor) median(repeats int, f func()) float64 {
	f()
	times := make([]float64, measureRuns)
	for i := range times {
		times[i] = e.elapsed(repeats, f)
	}
	slices.Sort(times)
	return times[measureRuns/2]
}

// MeasureCopy returns the bandwidth of the GPU's memory in bytes per second: so many bytes are copied, each
// read and written.
func (e *Executor) MeasureCopy(bytes int) float64 {
	from, to := e.room(bytes), e.room(bytes)
	defer e.device.Free(from)
	defer e.device.Free(to)
	const repeats = 4
	return 2 * float64(bytes) / e.median(repeats, func() {
		if e.err == nil {
			e.note(e.stream.Copy(to, from, bytes))
		}
	})
}

// MeasureProduct returns the floating-point operations per second of a product of two square matrices of n
// rows in the executor's precision: the most that products reach, if n is large and a multiple of 8.
func (e *Executor) MeasureProduct(n int) float64 {
	width := 4
	if e.config.Math == BF16 {
		width = 2
	}
	bytes := n * n * width
	result, left, right := e.room(bytes), e.room(bytes), e.room(4*n*n)
	defer e.device.Free(result)
	defer e.device.Free(left)
	defer e.device.Free(right)
	e.noise(left, bytes)
	e.noise(right, 4*n*n)
	run, closed := e.squares(n, result, left, right)
	defer closed()
	return 2 * float64(n) * float64(n) * float64(n) / e.median(1, run)
}

// squares returns what multiplies two square matrices, and what frees its plan.
func (e *Executor) squares(n int, result, left, right cuda.Pointer) (run, closed func()) {
	isHalf := e.config.Math == BF16
	if e.blas == nil {
		p := e.plain(product{ConvShape: graph.ConvShape{N: n, H: 1, W: 1, C: n, K: n, R: 1, S: 1, Stride: 1},
			pass: forward, isHalf: isHalf, toHalf: isHalf})
		scratch := e.room(4 * p.scratch())
		return func() { p.run(n, operands{result: result, left: left, right: right, scratch: scratch}) },
			func() { e.device.Free(scratch) }
	}
	q := blas.Product{M: n, N: n, K: n, TF32: e.roundsTF32()}
	if isHalf {
		q.In, q.Out = blas.BF16, blas.BF16
	}
	plan, err := e.blas.Plan(q, blasWorkspaceBytes)
	if err != nil {
		e.note(err)
		return func() {}, func() {}
	}
	return func() {
		if e.err == nil {
			e.note(plan.Run(e.stream, result, left, right, 0, e.workspace))
		}
	}, plan.Close
}

// room returns memory of the GPU, and notes the error if there is none.
func (e *Executor) room(bytes int) cuda.Pointer {
	p, err := e.device.Alloc(max(bytes, 1))
	e.note(err)
	return p
}

// noise fills memory with bfloat16 values between 1 and 2 of either sign: on zeros a GPU needs less power and
// runs faster. As float32 values they have as many random bits.
func (e *Executor) noise(at cuda.Pointer, bytes int) {
	const one, bits = 0x3f80_3f80, 0x807f_807f
	part := make([]int32, min(bytes/4, 1<<15))
	for i := range part {
		part[i] = int32(uint32(random.Stream(1).Word(uint64(i)))&bits | one)
	}
	e.send(at, bytesOf(part))
	for done := 4 * len(part); done < bytes && e.err == nil; {
		n := min(done, bytes-done)
		e.note(e.stream.Copy(at+cuda.Pointer(done), at, n))
		done += n
	}
	e.Wait()
}
