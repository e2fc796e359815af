package check

import (
	"errors"
	"fmt"

	"lockstep/graph"
)

// Executor computes on another executor and checks each op. Programs treat its memory as that of a device.
type Executor struct {
	inner  graph.Executor
	values map[*graph.Buffer]*value
	rooms  [][]float32 // buffers with guards, by the order in which an op takes them
	faults []Fault
}

// Fault is something wrong with one use of an op.
type Fault struct {
	// Op and Layer name the use; Backward means that it belongs to the backward pass.
	Op, Layer string
	Backward  bool
	// What says what is wrong.
	What string
}

// Error formats the fault as "conv+relu of conv1, forward: result 0 is NaN at 17".
func (f Fault) Error() string {
	pass := "forward"
	if f.Backward {
		pass = "backward"
	}
	if f.Layer == "" {
		return fmt.Sprintf("%s, %s: %s", f.Op, pass, f.What)
	}
	return fmt.Sprintf("%s of %s, %s: %s", f.Op, f.Layer, pass, f.What)
}

// maxFaults bounds what is kept; one fault may bring many.
const maxFaults = 32

// New returns an executor that computes on inner. It panics unless inner computes in place.
func New(inner graph.Executor) *Executor {
	if !inner.InPlace() {
		panic("check: the inner executor does not compute in place")
	}
	return &Executor{inner: inner, values: map[*graph.Buffer]*value{}}
}

// Faults returns the first faults, in the order in which they were found.
func (e *Executor) Faults() []Fault { return e.faults }

// Err returns all of Faults as one error, nil if there are none.
func (e *Executor) Err() error {
	var all []error
	for _, f := range e.faults {
		all = append(all, f)
	}
	return errors.Join(all...)
}

// InPlace implements graph.Executor.
func (e *Executor) InPlace() bool { return false }

// Allocate implements graph.Executor.
func (e *Executor) Allocate(n int) (graph.Memory, error) {
	return graph.Memory{Handle: &block{make([]float32, n)}}, nil
}

// Prepare implements graph.Executor.
func (e *Executor) Prepare(a graph.Application) (graph.Kernel, error) {
	k, err := e.inner.Prepare(a)
	if err != nil {
		return graph.Kernel{}, err
	}
	u := &use{Application: a, executor: e, kernel: k}
	return graph.Kernel{Scratch: k.Scratch, Run: u.run}, nil
}

// Upload implements graph.Executor.
func (e *Executor) Upload(dst, src *graph.Buffer) {
	copy(elements(dst), src.F)
	copy(ints(elements(dst)), src.I)
	e.write(dst, "an upload", false)
}

// Download implements graph.Executor.
func (e *Executor) Download(dst, src *graph.Buffer) {
	if why := e.unreadable(src); why != "" {
		e.report(Fault{Op: "download", What: "reads a value that " + why})
	}
	copy(dst.F, elements(src))
}

func (e *Executor) report(f Fault) {
	if len(e.faults) < maxFaults {
		e.faults = append(e.faults, f)
	}
}
