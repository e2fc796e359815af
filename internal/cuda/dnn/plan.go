//go:build cuda && linux

package dnn

import (
	"fmt"

	"lockstep/internal/cuda"
)

// Plan is a pass of a convolution with the engine that computes it.
type Plan struct {
	library        *Library
	conv           Conv
	pass           Pass
	name           string
	workspaceBytes int64

	// origin holds the graph and the engine's configuration, which the plan refers to.
	origin *origin
	plan   descriptor

	// pack tells cuDNN where the tensors are. It is made anew when one of them is elsewhere than at the last
	// run: a pack cannot be changed.
	pack      descriptor
	ids       [3]int64
	pointers  [3]cuda.Pointer
	workspace cuda.Pointer
}

// Modes of the heuristic.
const (
	modeB        int32 = 1
	modeFallback int32 = 2
	modeA        int32 = 3
)

// Notes about an engine's arithmetic.
const (
	noteTensorCore       = 0
	noteDownConvert      = 1
	noteReducedPrecision = 2
	noteNondeterministic = 4
	numNotes             = 10
)

// Plan chooses the first engine for a pass that needs at most workspaceLimit bytes of workspace. in is the
// type of the pass's two operands, out of its result; sums are float32. Products are exact, unless in is F32
// and tf32 allows rounding the factors to 10 bits behind the point. The addresses given to [Plan.Run] must be
// multiples of 16. The error is ErrUnsupported if there is no engine, with what cuDNN says about the last.
//
// cuDNN 9.28 has no engine from BF16 to F32. From F32, without tf32, its better engines want a workspace of
// the size of x and y together.
func (l *Library) Plan(c Conv, pass Pass, in, out DType, tf32 bool, workspaceLimit int) (*Plan, error) {
	plans, err := l.Candidates(c, pass, in, out, tf32, workspaceLimit, 1, "")
	if err != nil {
		return nil, err
	}
	return plans[0], nil
}

// Candidates returns the plans that Plan chooses from, the best first as the heuristic sees it, but at most
// limit of them. If engine is not empty, only plans are returned that have it as their name, with any knobs
// if it names none: "engine 42" or "engine 42, knobs 2=1 14=3". The error is ErrUnsupported if there is none.
func (l *Library) Candidates(c Conv, pass Pass, in, out DType, tf32 bool, workspaceLimit, limit int,
	engine string) ([]*Plan, error) {
	return query{l, c, pass, in, out, tf32, int64(workspaceLimit)}.plans(limit, engine)
}

// WorkspaceBytes returns how much workspace Run needs.
func (p *Plan) WorkspaceBytes() int { return int(p.workspaceBytes) }

// Name describes the engine for logs.
func (p *Plan) Name() string { return p.name }

// Run queues the pass: it computes one of x, y and w from the others. workspace matters only if
// WorkspaceBytes is not 0.
func (p *Plan) Run(s *cuda.Stream, x, y, w, workspace cuda.Pointer) error {
	pointers := [3]cuda.Pointer{x, y, w}
	if p.pack == 0 || pointers != p.pointers || workspace != p.workspace {
		if err := p.place(pointers, workspace); err != nil {
			return err
		}
	}
	l := p.library
	var err error
	l.device.Do(func() {
		if err = l.use(s); err != nil {
			return
		}
		if status := l.f.execute.Call(l.handle, uintptr(p.plan), uintptr(p.pack)); status != 0 {
			err = l.check("cudnnBackendExecute", status)
		}
	})
	if err != nil {
		return fmt.Errorf("%w: %v of %v, %s", err, p.pass, p.conv, p.name)
	}
	return nil
}

// place makes the pack for tensors at other addresses.
func (p *Plan) place(pointers [3]cuda.Pointer, workspace cuda.Pointer) error {
	l, f := p.library, &p.library.f
	if p.pack != 0 {
		l.freeDescriptor(p.pack)
		p.pack = 0
	}
	p.pointers, p.workspace = pointers, workspace
	if status := f.makeDescriptor.Call(kindPack, cuda.Address(&p.pack)); status != 0 {
		return l.check("cudnnBackendCreateDescriptor", status)
	}
	pack := uintptr(p.pack)
	status := f.set.Call(pack, packIDs, typeInt64, 3, cuda.Address(&p.ids))
	if status == 0 {
		status = f.set.Call(pack, packPointers, typePointer, 3, cuda.Address(&p.pointers))
	}
	if status == 0 {
		status = f.set.Call(pack, packWorkspace, typePointer, 1, cuda.Address(&p.workspace))
	}
	if status == 0 {
		status = f.finalize.Call(pack)
	}
	if status != 0 {
		err := l.check("cudnnBackendSetAttribute", status)
		l.freeDescriptor(p.pack)
		p.pack = 0
		return err
	}
	return nil
}

// Close frees the plan.
func (p *Plan) Close() {
	for _, d := range [...]*descriptor{&p.pack, &p.plan} {
		if *d != 0 {
			p.library.freeDescriptor(*d)
			*d = 0
		}
	}
	if p.origin != nil {
		p.origin.drop()
		p.origin = nil
	}
}
