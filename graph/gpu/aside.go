//go:build cuda && linux && amd64

package gpu

import (
	"fmt"

	"lockstep/graph"
	"lockstep/internal/cuda"
)

// Note: aside
//
// Nobody waits for the gradient of a weight before the pass ends. So it is computed aside, in a queue of its
// own with a workspace and scratch of its own, while the main queue goes on to the layer before: one queue's
// kernels fill the multiprocessors that the other's leave idle, mostly at their ends. An op aside begins when
// all that is in the main queue is done. A later op waits for it only if it writes what that reads, or reads
// or writes what that writes. Programs keep what is read aside for a few more ops; see trailing.go of package
// graph. No bit depends on it: the kernels are the same. The queues' priorities hold for ops that are queued
// one by one, not for recordings.

// trails is for how many further ops a program keeps the operands of an op aside: those of a layer or two.
const trails = 4

// aside is the second queue, what lies in it, and scratch for its ops.
type aside struct {
	queue
	scratch graph.Buffer
	// tooSmall was the scratch before, which recordings may still refer to.
	tooSmall []cuda.Pointer
	start    *cuda.Event // in the main queue
	ops      []asideOp   // that the main queue has not waited for, in their order
	unused   []*cuda.Event
}

// asideOp is an op in the second queue.
type asideOp struct {
	reads [2]extent
	write extent
	done  *cuda.Event
}

// extent is a range of the GPU's memory.
type extent struct{ from, to cuda.Pointer }

// extentOf returns where a value of type t lies.
func extentOf(b *graph.Buffer, t graph.Type) extent {
	return extent{at(b), at(b) + cuda.Pointer(b.Device.Len*t.DType.Bytes())}
}

func (x extent) overlaps(y extent) bool { return x.from < y.to && y.from < x.to }

// isAside reports whether an op is to be computed aside.
func isAside(a graph.Application) bool {
	switch a.Op.(type) {
	case graph.ConvBackwardWeightsOp, graph.ColumnSumsOp:
		return a.Backward
	}
	return false
}

// openAside makes the second queue.
func (e *Executor) openAside() (err error) {
	s := &e.aside
	if s.stream, err = e.device.NewStream(cuda.Low); err != nil {
		return err
	}
	s.start, err = e.device.NewEvent(cuda.Untimed)
	return err
}

// swap makes the second queue the one that ops are prepared for and run in, or the first one again.
func (e *Executor) swap() { e.queue, e.aside.queue = e.aside.queue, e.queue }

// prepareAside prepares an op that is computed aside.
func (e *Executor) prepareAside(a graph.Application) (graph.Kernel, error) {
	e.swap()
	k, err := e.prepare(a)
	e.swap()
	if err == nil {
		err = e.reserveScratch(k.Scratch)
	}
	if err != nil {
		return k, err
	}
	run, own := k.Run, graph.Args{Scratch: &e.aside.scratch}
	return graph.Kernel{OfParts: k.OfParts, Run: func(args *graph.Args) {
		own.In, own.Out, own.Draws = args.In, args.Out, args.Draws
		if e.profile.isOn { // alone, in the main queue, where nothing else needs a workspace meanwhile
			e.workspace, e.aside.workspace = e.aside.workspace, e.workspace
			run(&own)
			e.workspace, e.aside.workspace = e.aside.workspace, e.workspace
			return
		}
		e.begin(a, args)
		run(&own)
		e.end()
	}}, nil
}

// reserveScratch makes the scratch of the second queue at least so many elements.
func (e *Executor) reserveScratch(n int) error {
	s := &e.aside
	if n <= s.scratch.Device.Len {
		return nil
	}
	n = max(n, 2*s.scratch.Device.Len)
	base, err := e.device.Alloc(4 * n)
	if err != nil {
		return fmt.Errorf("gpu: scratch: %w", err)
	}
	if s.scratch.Device.Handle != nil {
		s.tooSmall = append(s.tooSmall, at(&s.scratch))
	}
	s.scratch.Device = graph.Span{Handle: &block{base}, Len: n}
	return nil
}

// begin turns to the second queue, for an op that begins when all that is in the first one is done.
func (e *Executor) begin(a graph.Application, args *graph.Args) {
	s := &e.aside
	op := asideOp{write: extentOf(args.Out[0], a.Out[0]), done: s.event(e)}
	for i, b := range args.In {
		op.reads[i] = extentOf(b, a.In[i])
	}
	s.ops = append(s.ops, op)
	e.record(s.start)
	e.swap()
	if e.err == nil {
		e.note(e.stream.WaitFor(s.start))
	}
}

// end notes the end of that op, and turns back.
func (e *Executor) end() {
	s := &e.aside
	e.record(s.ops[len(s.ops)-1].done)
	e.swap()
}

// event returns one that nothing waits for.
func (s *aside) event(e *Executor) *cuda.Event {
	n := len(s.unused)
	if n == 0 {
		event, err := e.device.NewEvent(cuda.Untimed)
		e.note(err)
		return event
	}
	event := s.unused[n-1]
	s.unused = s.unused[:n-1]
	return event
}

// inOrder returns k, which waits for the ops aside that are in its way.
func (e *Executor) inOrder(a graph.Application, k graph.Kernel) graph.Kernel {
	run := k.Run
	k.Run = func(args *graph.Args) {
		for i := len(e.aside.ops) - 1; i >= 0; i-- {
			if e.aside.ops[i].isInTheWay(a, args) {
				e.waitAside(i + 1)
				break
			}
		}
		run(args)
	}
	return k
}

// isInTheWay reports whether o reads or writes what the op a writes, or writes what that reads.
func (o *asideOp) isInTheWay(a graph.Application, args *graph.Args) bool {
	for i, b := range args.Out {
		x := extentOf(b, a.Out[i])
		if x.overlaps(o.write) || x.overlaps(o.reads[0]) || x.overlaps(o.reads[1]) {
			return true
		}
	}
	if b := args.Scratch; b != nil && b.Device.Handle != nil {
		x := extent{at(b), at(b) + cuda.Pointer(4*b.Device.Len)}
		if x.overlaps(o.reads[0]) || x.overlaps(o.reads[1]) {
			return true
		}
	}
	for i, b := range args.In {
		if extentOf(b, a.In[i]).overlaps(o.write) {
			return true
		}
	}
	return false
}

// waitAside makes the main queue wait for the first n ops aside.
func (e *Executor) waitAside(n int) {
	s := &e.aside
	if n == 0 {
		return
	}
	if e.err == nil {
		e.note(e.stream.WaitFor(s.ops[n-1].done))
	}
	rest := s.ops[n:]
	s.ops = s.ops[:n]
	s.release()
	s.ops = append(s.ops, rest...)
}

// release gives back the events of all ops aside.
func (s *aside) release() {
	for _, op := range s.ops {
		s.unused = append(s.unused, op.done)
	}
	s.ops = s.ops[:0]
}

// writerOf returns the event behind the op aside that computes v; nil if there is none.
func (s *aside) writerOf(v extent) *cuda.Event {
	for i := len(s.ops) - 1; i >= 0; i-- {
		if s.ops[i].write.overlaps(v) {
			return s.ops[i].done
		}
	}
	return nil
}

// Trails returns for how many further ops a program keeps what an op reads; see trailing.go of package graph.
func (e *Executor) Trails(a graph.Application) int {
	if isAside(a) {
		return trails
	}
	return 0
}

// Rejoin makes what is queued from now on come after all ops aside.
func (e *Executor) Rejoin() { e.waitAside(len(e.aside.ops)) }

// closeAside frees the second queue.
func (e *Executor) closeAside() {
	s := &e.aside
	e.Rejoin()
	if s.scratch.Device.Handle != nil {
		s.tooSmall = append(s.tooSmall, at(&s.scratch))
	}
	for _, p := range s.tooSmall {
		e.device.Free(p)
	}
	if s.start != nil {
		s.unused = append(s.unused, s.start)
	}
	for _, event := range s.unused {
		event.Close()
	}
	s.queue.close(e)
	*s = aside{}
}
