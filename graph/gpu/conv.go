//go:build cuda && linux && amd64

package gpu

import (
	"strings"

	"lockstep/graph"
	"lockstep/internal/cuda"
	"lockstep/internal/cuda/dnn"
)

// convShape returns the shape of the convolution of x with w.
func convShape(x, w graph.Type, o graph.ConvOp) graph.ConvShape {
	return graph.ConvShape{N: x.Shape[0], H: x.Shape[1], W: x.Shape[2], C: x.Shape[3], R: w.Shape[0],
		S: w.Shape[1], K: w.Shape[3], Stride: o.Stride, Pad: o.Pad}
}

func (e *Executor) conv(a graph.Application, o graph.ConvOp) (graph.Kernel, error) {
	p := newProduct(a, convShape(a.In[0], a.In[1], o), forward)
	p.bias, p.relu = len(a.In) == 3, o.ReLU
	m, err := e.methodFor(p)
	if err != nil {
		return graph.Kernel{}, err
	}
	return graph.Kernel{Scratch: m.scratch(), Run: func(a *graph.Args) {
		m.run(p.N, operands{at(a.Out[0]), at(a.In[0]), at(a.In[1]), third(a), at(a.Scratch)})
	}}, nil
}

// convStatistics prepares a convolution; the pass over y that takes the statistics adds the bias and ReLU.
func (e *Executor) convStatistics(a graph.Application, o graph.ConvStatisticsOp) (graph.Kernel, error) {
	p := newProduct(a, convShape(a.In[0], a.In[1], o.ConvOp), forward)
	m, err := e.methodFor(p)
	if err != nil {
		return graph.Kernel{}, err
	}
	s := e.moments(a.Out[0], len(a.In) == 3, o.ReLU)
	return graph.Kernel{Scratch: max(m.scratch(), s.ScratchFloats()), Run: func(a *graph.Args) {
		y, scratch := at(a.Out[0]), at(a.Scratch)
		m.run(p.N, operands{result: y, left: at(a.In[0]), right: at(a.In[1]), scratch: scratch})
		s.run(y, third(a), at(a.Out[1]), at(a.Out[2]), at(a.Out[3]), scratch)
	}}, nil
}

// dataGradient computes dx from dy and w.
type dataGradient struct {
	product
	executor *Executor
	method   method
	batch    batch
	bytes    int // of an element of dx
}

func (e *Executor) dataGradient(a graph.Application, s graph.ConvShape, add bool) (*dataGradient, error) {
	p := newProduct(a, s, backwardData)
	p.add = add
	m, err := e.methodFor(p)
	return &dataGradient{p, e, m, batchOf(a.In[0], p), a.Out[0].DType.Bytes()}, err
}

// run computes dx; if it is to be added to the third input, that is copied first, unless dx lies there.
func (d *dataGradient) run(a *graph.Args) {
	e, n, dx := d.executor, d.batch.of(a.In[0]), at(a.Out[0])
	if d.add && at(a.In[2]) != dx && e.err == nil {
		e.note(e.stream.Copy(dx, at(a.In[2]), d.bytes*d.size(n)))
	}
	d.method.run(n, operands{result: dx, left: at(a.In[0]), right: at(a.In[1]), scratch: at(a.Scratch)})
}

// convBackwardData prepares dx; with add it is added to the third input.
func (e *Executor) convBackwardData(a graph.Application, s graph.ConvShape, add bool) (graph.Kernel, error) {
	d, err := e.dataGradient(a, s, add)
	if err != nil {
		return graph.Kernel{}, err
	}
	return graph.Kernel{Scratch: d.method.scratch(), Run: d.run}, nil
}

// convBackwardDataSums is convBackwardData followed by the sums of a normalisation.
func (e *Executor) convBackwardDataSums(a graph.Application, o graph.ConvBackwardDataSumsOp,
	add bool) (graph.Kernel, error) {
	d, err := e.dataGradient(a, o.Shape, add)
	if err != nil {
		return graph.Kernel{}, err
	}
	norm := 2 // where the normalisation's inputs start
	if add {
		norm = 3
	}
	s := e.normSums(a.Out[0], o.Eps, o.ReLU, o.Residual)
	return graph.Kernel{Scratch: max(d.method.scratch(), s.ScratchFloats()), Run: func(a *graph.Args) {
		d.run(a)
		in, z := a.In[norm:], cuda.Pointer(0)
		if o.Residual {
			z = at(in[5])
		}
		s.run(at(a.Out[0]), z, at(in[0]), at(in[1]), at(in[2]), at(in[3]), at(in[4]), at(a.Out[1]),
			at(a.Scratch))
	}}, nil
}

func (e *Executor) convBackwardWeights(a graph.Application, s graph.ConvShape) (graph.Kernel, error) {
	p := newProduct(a, s, backwardWeights)
	m, err := e.methodFor(p)
	if err != nil {
		return graph.Kernel{}, err
	}
	n := batchOf(a.In[0], p)
	return graph.Kernel{Scratch: m.scratch(), Run: func(a *graph.Args) {
		m.run(n.of(a.In[0]), operands{result: at(a.Out[0]), left: at(a.In[0]), right: at(a.In[1]),
			scratch: at(a.Scratch)})
	}}, nil
}

// convolution is a product with cuDNN, which takes filters as [K, R, S, C] of the maps' type.
type convolution struct {
	product
	executor *Executor
	plan     *dnn.Plan
	// isHalfFilter says that filter is bf16.
	isHalfFilter bool
	// filter brings w to scratch in cuDNN's layout, or the gradient of w back. fill copies x to scratch with
	// more channels; nil if it has enough.
	filter, fill *launch
	// finish adds bias and ReLU; sum adds the result from scratch to what is there. nil if there is none.
	finish, sum *launch
	// filterWords and mapWords are the sizes of what is in scratch: a filter, and then x or a result.
	filterWords, mapWords int
}

// channelsFor returns how many channels cuDNN is given: it has fast engines only for pixels of whole words of
// 16 bytes. That matters to the first layer, where only x has to be copied.
func (p product) channelsFor(math Math) int {
	switch {
	case p.pass == backwardData:
		return p.C
	case p.isHalf:
		return ceil(p.C, 8) * 8
	case math != Float32:
		return ceil(p.C, 4) * 4
	}
	return p.C
}

// convolution plans p with the first engine of that name, or of any name if it is empty. The error is
// dnn.ErrUnsupported if cuDNN has none.
func (e *Executor) convolution(p product, engine string) (method, error) {
	plans, isHalfFilter, err := e.engines(p, 1, engine)
	if err != nil {
		return nil, err
	}
	return e.convolutionWith(p, plans[0], isHalfFilter)
}

// narrowed is in front of the names of engines whose gradient of a filter is bf16.
const narrowed = "bf16 "

// engines returns plans for p, as dnn.Library.Candidates does, and says whether they store filters as bf16.
// Gradients of filters are stored so only if there is no engine that does not, or by that name.
func (e *Executor) engines(p product, limit int, engine string) ([]*dnn.Plan, bool, error) {
	shape := dnn.Conv(p.ConvShape)
	shape.C = p.channelsFor(e.config.Math)
	pass := [...]dnn.Pass{dnn.Forward, dnn.BackwardData, dnn.BackwardWeights}[p.pass]
	isHalfWeights := p.isHalf && p.pass == backwardWeights
	engine, isNarrow := strings.CutPrefix(engine, narrowed)
	var plans []*dnn.Plan
	err := dnn.ErrUnsupported
	if !isNarrow {
		plans, err = e.dnn.Candidates(shape, pass, dnnType(p.isHalf), dnnType(p.toHalf), e.roundsTF32(),
			e.workspaceLimit(), limit, engine)
		if err == nil {
			return plans, p.isHalf && !isHalfWeights, nil
		}
	}
	if isHalfWeights && (isNarrow || engine == "") {
		plans, err = e.dnn.Candidates(shape, pass, dnn.BF16, dnn.BF16, false, e.workspaceLimit(), limit,
			engine)
	}
	return plans, true, err // which is widened as it is transposed
}

// convolutionWith surrounds a plan of engines with what it needs.
func (e *Executor) convolutionWith(p product, plan *dnn.Plan, isHalfFilter bool) (*convolution, error) {
	e.plans = append(e.plans, plan)
	if err := e.reserve(plan.WorkspaceBytes()); err != nil {
		return nil, err
	}
	channels := p.channelsFor(e.config.Math)
	m := &convolution{product: p, executor: e, plan: plan, isHalfFilter: isHalfFilter}
	m.filter = e.filterLaunch(p, channels, isHalfFilter)
	m.filterWords = words(p.K*p.R*p.S*channels, isHalfFilter)
	if channels != p.C {
		m.fill = e.fillLaunch(p, channels)
		m.mapWords = words(p.N*p.H*p.W*channels, p.isHalf)
	}
	if p.bias || p.relu {
		m.finish = e.biasLaunch(p)
	}
	if p.add {
		m.sum = e.groups(typed("accumulate", p.toHalf), 2, p.size(p.N))
		m.mapWords = words(p.size(p.N), p.toHalf)
	}
	return m, nil
}

func dnnType(isHalf bool) dnn.DType {
	if isHalf {
		return dnn.BF16
	}
	return dnn.F32
}

// words returns the elements of scratch for n elements, a multiple of a cache line.
func words(n int, isHalf bool) int {
	if isHalf {
		n = ceil(n, 2)
	}
	return ceil(n, 16) * 16
}

// typed returns the name of a kernel for one of the types of maps.
func typed(name string, isHalf bool) string {
	if isHalf {
		return name + "_bf16"
	}
	return name + "_f32"
}

func (e *Executor) filterLaunch(p product, channels int, isHalf bool) *launch {
	const side, step = 32, 8
	name := "filter"
	if p.pass == backwardWeights {
		name = "unfilter"
	}
	blocks := cuda.Size{X: ceil(p.K, side), Y: ceil(p.R*p.S*channels, side)}
	return e.launch(typed(name, isHalf), 2, blocks, cuda.Size{X: side, Y: step}, p.R*p.S, p.C, p.K,
		channels).shared(4 * side * (side + 1))
}

func (e *Executor) fillLaunch(p product, channels int) *launch {
	pixels := p.N * p.H * p.W
	return e.launch(typed("fill_channels", p.isHalf), 2, linear(ceil(pixels*channels, groupThreads)),
		linear(groupThreads), pixels, p.C, channels)
}

// name implements method.
func (m *convolution) name() string {
	if m.isHalfFilter && m.pass == backwardWeights {
		return narrowed + m.plan.Name()
	}
	return m.plan.Name()
}

// scratch implements method.
func (m *convolution) scratch() int { return m.filterWords + m.mapWords }

// run implements method. Maps are never ragged: n is always that of the shape.
func (m *convolution) run(_ int, o operands) {
	e := m.executor
	if e.err != nil {
		return
	}
	filter, room := o.scratch, o.scratch+cuda.Pointer(4*m.filterWords)
	var x, y, w = o.left, o.result, filter
	switch m.pass {
	case backwardData:
		x, y = o.result, o.left
		if m.sum != nil {
			x = room
		}
	case backwardWeights:
		y = o.right
	}
	if m.fill != nil {
		m.fill.run(room, x)
		x = room
	}
	if m.pass != backwardWeights {
		m.filter.run(filter, o.right)
	}
	if e.err != nil {
		return
	}
	if err := m.plan.Run(e.stream, x, y, w, e.workspace); err != nil {
		e.note(err)
		return
	}
	switch {
	case m.pass == backwardWeights:
		m.filter.run(o.result, filter)
	case m.sum != nil:
		m.sum.run(o.result, room)
	case m.finish != nil:
		m.finish.run(o.result, o.bias)
	}
}
