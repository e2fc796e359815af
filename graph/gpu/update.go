//go:build cuda && linux && amd64

package gpu

import (
	"fmt"
	"math"

	"lockstep/graph"
	"lockstep/internal/cuda"
	"lockstep/internal/kernel/row"
	"lockstep/optim"
)

// updates are the kernels that update weights, prepared at their first use.
type updates struct {
	add, sgd, adamW, squares *launch
	// sums holds the sums of runs of squares, sumsHere the same in the GPU's memory.
	sums     []float32
	sumsHere cuda.Pointer
}

// close frees the memory.
func (u *updates) close(e *Executor) {
	if u.sumsHere != 0 {
		e.device.Free(u.sumsHere)
	}
	*u = updates{}
}

// The numbers of the scalars that all kernels of updates begin with, and of the first that follows.
const (
	updateFrom = iota
	updateTo
	updateWhole
	updateOwn
)

// update prepares a kernel of so many vectors and scalars of its own.
func (e *Executor) update(name string, vectors int, own ...any) *launch {
	return e.launch(name, vectors, linear(1), linear(elementThreads), append([]any{0, 0, 1}, own...)...)
}

// setFloat is set for a float32, without an allocation.
func (l *launch) setFloat(i int, value float32) {
	l.values[l.pointers+i] = uint64(math.Float32bits(value))
}

// fitVectors sets the range of a kernel of updates to n elements of vectors that lie at these addresses, and
// moves the addresses back to multiples of 16 bytes if that is equally far for all.
func (l *launch) fitVectors(n int, at []cuda.Pointer) {
	const vector = 16
	back, whole := at[0]%vector, 1
	for _, p := range at {
		if p%vector != back {
			back, whole = 0, 0
			break
		}
	}
	for i := range at {
		at[i] -= back
	}
	from := int(back / 4)
	l.setInt(updateFrom, from)
	l.setInt(updateTo, from+n)
	l.setInt(updateWhole, whole)
	l.blocks = linear(ceil(from+n, elementThreads*elementsPerThread))
}

// mustMatch panics unless all spans have the length of the first.
func mustMatch(op string, spans ...graph.Span) {
	for _, s := range spans {
		if s.Len != spans[0].Len {
			panic(fmt.Sprintf("gpu: %s: vectors of %d and %d elements", op, spans[0].Len, s.Len))
		}
	}
}

// Add computes into += from, elementwise, with the bits of the processor.
func (e *Executor) Add(into, from graph.Span) {
	mustMatch("add", into, from)
	if into.Len == 0 || e.err != nil {
		return
	}
	if e.updates.add == nil {
		e.updates.add = e.update("update_add", 2)
	}
	at := [2]cuda.Pointer{pointer(into), pointer(from)}
	e.updates.add.fitVectors(into.Len, at[:])
	e.updates.add.run(at[:]...)
}

// SGD takes one step of stochastic gradient descent, with the bits of the processor; see package optim.
func (e *Executor) SGD(weights, velocity, gradient graph.Span, rate, momentum, decay, scale float32,
	nesterov bool) {
	mustMatch("sgd", weights, velocity, gradient)
	if weights.Len == 0 || e.err != nil {
		return
	}
	if e.updates.sgd == nil {
		e.updates.sgd = e.update("update_sgd", 3, rate, momentum, decay, scale, 0)
	}
	l := e.updates.sgd
	for i, x := range [...]float32{rate, momentum, decay, scale} {
		l.setFloat(updateOwn+i, x)
	}
	l.setInt(updateOwn+4, 0)
	if nesterov {
		l.setInt(updateOwn+4, 1)
	}
	at := [3]cuda.Pointer{pointer(weights), pointer(velocity), pointer(gradient)}
	l.fitVectors(weights.Len, at[:])
	l.run(at[:]...)
}

// AdamW takes one step of AdamW, with the bits of the processor; see package optim.
func (e *Executor) AdamW(weights, first, second, gradient graph.Span, s optim.AdamWStep) {
	mustMatch("adamw", weights, first, second, gradient)
	if weights.Len == 0 || e.err != nil {
		return
	}
	factors := [...]float32{s.Scale, s.Decay, s.First, s.Second, s.Rest, s.Rate, s.Root, s.Eps}
	if e.updates.adamW == nil {
		zero := float32(0)
		e.updates.adamW = e.update("update_adamw", 4, zero, zero, zero, zero, zero, zero, zero, zero)
	}
	l := e.updates.adamW
	for i, x := range factors {
		l.setFloat(updateOwn+i, x)
	}
	at := [4]cuda.Pointer{pointer(weights), pointer(first), pointer(second), pointer(gradient)}
	l.fitVectors(weights.Len, at[:])
	l.run(at[:]...)
}

// runLanes is how many threads of update_squares sum a run.
const runLanes = 16

// Squares returns the sum of the squares of v with the bits of row.Squares. It waits for the GPU.
func (e *Executor) Squares(v graph.Span) float64 {
	runs := ceil(v.Len, row.SquaresRun)
	if v.Len == 0 || e.err != nil {
		return 0
	}
	u := &e.updates
	if len(u.sums) < runs {
		if u.sumsHere != 0 {
			e.device.Free(u.sumsHere)
		}
		u.sums, u.sumsHere = make([]float32, runs), e.room(4*runs)
	}
	if u.squares == nil {
		u.squares = e.launch("update_squares", 2, linear(1), linear(elementThreads), 0)
	}
	u.squares.setInt(0, v.Len)
	u.squares.blocks = linear(ceil(runs*runLanes, elementThreads))
	u.squares.run(pointer(v), u.sumsHere)
	e.receive(bytesOf(u.sums[:runs]), u.sumsHere)
	return row.AddRuns(u.sums[:runs])
}
