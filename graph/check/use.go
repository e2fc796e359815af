package check

import (
	"fmt"
	"math"
	"slices"

	"lockstep/graph"
	"lockstep/tensor"
)

// use is one use of an op in a program.
type use struct {
	graph.Application
	executor *Executor
	kernel   graph.Kernel
	args     graph.Args // what the inner kernel computes on
	taken    int        // of the executor's rooms, in the present run
}

// run computes once, checked.
func (u *use) run(a *graph.Args) {
	tainted := u.checkReads(a)
	u.checkOverlaps(a)
	u.taken = 0
	in := u.guarded(a.In, u.In)
	out := u.results(a, in)
	scratch := u.executor.room(u.taken, u.kernel.Scratch)
	u.taken++
	u.args = graph.Args{In: in, Out: out, Scratch: &graph.Buffer{F: scratch}, Draws: a.Draws}
	u.kernel.Run(&u.args)
	u.checkGuards(a)
	u.checkInputs(a)
	for i, b := range a.Out {
		bad := tainted || !u.isSound(i)
		copy(elements(b), out[i].F)
		u.executor.write(b, u.Name, bad)
	}
	u.executor.lose(a.Scratch, u.Name)
}

func (u *use) report(format string, args ...any) {
	u.executor.report(Fault{u.Name, u.Layer, u.Backward, fmt.Sprintf(format, args...)})
}

// checkReads checks the inputs. It reports whether one of them is tainted by a fault.
func (u *use) checkReads(a *graph.Args) (tainted bool) {
	for i, b := range a.In {
		if why := u.executor.unreadable(b); why != "" {
			u.report("input %d is a value that %s", i, why)
			tainted = true
			continue
		}
		v := u.executor.values[b]
		if v != nil && !v.tainted && u.In[i].DType == tensor.Float32 {
			if at := slices.IndexFunc(elements(b), isNotFinite); at >= 0 {
				u.report("input %d is %v at %d", i, elements(b)[at], at)
				v.tainted = true
			}
		}
		tainted = tainted || v != nil && v.tainted
	}
	return tainted
}

// checkOverlaps compares the places of all buffers. The first result may be where the input lies that the op
// overwrites.
func (u *use) checkOverlaps(a *graph.Args) {
	for i, out := range a.Out {
		for j, in := range a.In {
			allowed := i == 0 && j == u.Overwrites && out.Device == in.Device
			if !allowed && overlap(out.Device, in.Device) {
				u.report("result %d overlaps input %d", i, j)
			}
		}
		for j := range i {
			if overlap(out.Device, a.Out[j].Device) {
				u.report("result %d overlaps result %d", i, j)
			}
		}
	}
	for i, b := range slices.Concat(a.In, a.Out) {
		if overlap(a.Scratch.Device, b.Device) {
			u.report("the scratch memory overlaps buffer %d of inputs and results", i)
		}
	}
}

// guarded returns copies of inputs between guards.
func (u *use) guarded(from []*graph.Buffer, types []graph.Type) []*graph.Buffer {
	in := make([]*graph.Buffer, len(from))
	for i, b := range from {
		room := u.executor.room(u.taken, b.Device.Len)
		u.taken++
		copy(room, elements(b))
		in[i] = &graph.Buffer{F: room}
		if types[i].DType == tensor.Int32 {
			in[i] = &graph.Buffer{I: ints(room)}
		}
	}
	return in
}

// results returns buffers between guards for the results. One that takes the place of an input is that
// input's copy.
func (u *use) results(a *graph.Args, in []*graph.Buffer) []*graph.Buffer {
	out := make([]*graph.Buffer, len(a.Out))
	for i, b := range a.Out {
		if u.isInPlace(a, i) {
			out[i] = in[u.Overwrites]
			continue
		}
		out[i] = &graph.Buffer{F: u.executor.room(u.taken, b.Device.Len)}
		u.taken++
	}
	return out
}

// isInPlace reports whether result i takes the place of an input, as the op allows.
func (u *use) isInPlace(a *graph.Args, i int) bool {
	return i == 0 && u.Overwrites >= 0 && a.Out[0].Device == a.In[u.Overwrites].Device
}

// checkGuards looks for writes around the buffers.
func (u *use) checkGuards(a *graph.Args) {
	number := 0
	look := func(what string, i, n int) {
		if !u.executor.isGuarded(number, n) {
			u.report("writes outside of %s %d", what, i)
		}
		number++
	}
	for i, b := range a.In {
		look("input", i, b.Device.Len)
	}
	for i, b := range a.Out {
		if !u.isInPlace(a, i) {
			look("result", i, b.Device.Len)
		}
	}
	look("scratch memory", 0, u.kernel.Scratch)
}

// checkInputs looks for writes to inputs.
func (u *use) checkInputs(a *graph.Args) {
	for i, b := range a.In {
		if i == u.Overwrites && u.isInPlace(a, 0) {
			continue
		}
		now := u.args.In[i].I
		if now == nil {
			now = ints(u.args.In[i].F)
		}
		if !slices.Equal(now, ints(elements(b))) {
			u.report("writes to input %d", i)
		}
	}
}

// isSound reports whether the op has written all of result i, with finite values. It says so if not, unless
// that follows from another fault.
func (u *use) isSound(i int) bool {
	values := u.args.Out[i].F
	if at := slices.IndexFunc(values, isUnset); at >= 0 {
		u.report("result %d is not written at %d", i, at)
		return false
	}
	at := slices.IndexFunc(values, isNotFinite)
	if at < 0 {
		return true
	}
	u.report("result %d is %v at %d", i, values[at], at)
	return false
}

func isNotFinite(x float32) bool {
	return math.IsNaN(float64(x)) || math.IsInf(float64(x), 0)
}
