//go:build cuda && linux && amd64

package gpu

import (
	"errors"
	"fmt"

	"lockstep/graph"
	"lockstep/internal/cuda"
	"lockstep/internal/cuda/blas"
)

// linearShape describes a linear layer as a convolution of maps of one pixel.
func linearShape(x, w graph.Type) graph.ConvShape {
	k := w.Shape[len(w.Shape)-1]
	c := w.Shape.Elems() / k
	return graph.ConvShape{N: x.Shape.Elems() / c, H: 1, W: 1, C: c, K: k, R: 1, S: 1, Stride: 1}
}

// batch counts the samples of a run, or rows where values are ragged.
type batch struct {
	fixed int
	cols  int // of a ragged value; else 0
}

func batchOf(t graph.Type, p product) batch {
	if t.Ragged {
		return batch{cols: t.Shape.Elems() / t.Shape[0]}
	}
	return batch{fixed: p.N}
}

// of returns the number for a run whose first input is b.
func (n batch) of(b *graph.Buffer) int {
	if n.cols == 0 {
		return n.fixed
	}
	return b.Device.Len / n.cols
}

// third returns where the third input lies; 0 if there is none.
func third(a *graph.Args) cuda.Pointer {
	if len(a.In) < 3 {
		return 0
	}
	return at(a.In[2])
}

func (e *Executor) linear(a graph.Application, o graph.LinearOp) (graph.Kernel, error) {
	p := newProduct(a, linearShape(a.In[0], a.In[1]), forward)
	p.bias, p.relu = len(a.In) == 3, o.ReLU
	m, err := e.methodFor(p)
	if err != nil {
		return graph.Kernel{}, err
	}
	rows := batchOf(a.In[0], p)
	if o.GELU {
		return e.linearGELU(a, p, m), nil
	}
	return graph.Kernel{Scratch: m.scratch(), Run: func(a *graph.Args) {
		m.run(rows.of(a.In[0]), operands{at(a.Out[0]), at(a.In[0]), at(a.In[1]), third(a), at(a.Scratch)})
	}}, nil
}

// linearGELU computes GELU of the result of a linear layer, in the pass that adds the bias if the product
// cannot add it itself.
func (e *Executor) linearGELU(a graph.Application, p product, m method) graph.Kernel {
	rows := batchOf(a.In[0], p)
	gelu := e.elementwise(a.Out[1], "gelu"+suffix(a.Out[1]), 2)
	var both *launch
	if b, ok := m.(*matrixProduct); ok && b.finish != nil {
		b.finish, both = nil, e.groups(typed("bias_gelu", p.toHalf), 3, p.size(p.N), p.K)
	}
	return graph.Kernel{Scratch: m.scratch(), Run: func(a *graph.Args) {
		n, y, g, bias := rows.of(a.In[0]), at(a.Out[0]), at(a.Out[1]), third(a)
		m.run(n, operands{y, at(a.In[0]), at(a.In[1]), bias, at(a.Scratch)})
		if both != nil {
			both.over(p.size(n)).run(y, g, bias)
			return
		}
		gelu.of(a.Out[1]).run(g, y)
	}}
}

// matrixProduct is a product of rows with cuBLASLt.
type matrixProduct struct {
	product
	executor *Executor
	plan     *blas.Plan
	rank     int
	narrow   *launch // weights, and the bias behind them, to bf16; nil if they stay
	hasBias  bool    // the plan adds it
	finish   *launch // bias and ReLU; nil if the plan includes them
}

// matrixProduct plans p with the algorithm that cuBLASLt ranks as number rank, 0 being the best. The error is
// blas.ErrUnsupported if there is none.
func (e *Executor) matrixProduct(p product, rank int) (*matrixProduct, error) {
	if !p.isHalf && p.toHalf {
		return nil, blas.ErrUnsupported
	}
	m := &matrixProduct{product: p, executor: e, rank: rank}
	b := m.describe()
	plan, err := e.blas.Candidate(b, blasWorkspaceBytes, rank)
	if rank == 0 && errors.Is(err, blas.ErrUnsupported) && (b.Bias || b.ReLU) {
		b.Bias, b.ReLU = false, false
		plan, err = e.blas.Candidate(b, blasWorkspaceBytes, rank)
		m.finish = e.biasLaunch(p)
	}
	if err != nil {
		return nil, err
	}
	m.plan = plan
	e.plans = append(e.plans, plan)
	m.hasBias = b.Bias
	if p.isHalf && p.pass != backwardWeights {
		biases := 0
		if m.narrowsBias() {
			biases = p.K
		}
		m.narrow = e.launch("narrow_weights", 3, linear(ceil(m.biasOffset()/2+biases, narrowElements)),
			linear(groupThreads), p.C*p.K, biases)
	}
	return m, nil
}

// narrowsBias reports whether cuBLASLt wants the bias as bf16: it has the type of the result.
func (m *matrixProduct) narrowsBias() bool { return m.hasBias && m.toHalf }

// biasOffset is where that bias begins in scratch, in bytes.
func (m *matrixProduct) biasOffset() int { return 16 * ceil(m.C*m.K, 8) }

// describe returns what cuBLASLt is to compute.
func (m *matrixProduct) describe() blas.Product {
	p := m.product
	b := blas.Product{In: blasType(p.isHalf), Out: blasType(p.toHalf), TF32: m.executor.roundsTF32(),
		Bias: p.bias, ReLU: p.relu, Add: p.add, N: p.columns()}
	b.M, b.K = m.sizes(p.N)
	b.TransA, b.TransB = p.pass == backwardWeights, p.pass == backwardData
	return b
}

// sizes returns M and K of the product for n rows.
func (m *matrixProduct) sizes(n int) (int, int) {
	switch m.pass {
	case forward:
		return n, m.C
	case backwardData:
		return n, m.K
	}
	return m.C, n
}

func blasType(isHalf bool) blas.DType {
	if isHalf {
		return blas.BF16
	}
	return blas.F32
}

// biasLaunch prepares adding a bias, and ReLU, to the result of p in place.
func (e *Executor) biasLaunch(p product) *launch {
	relu := 0
	if p.relu {
		relu = 1
	}
	return e.groups(typed("bias", p.toHalf), 2, p.size(p.N), p.columns(), relu)
}

// groupThreads is the size of a block of the kernels of filter.cu that take groups of four elements, and
// groupElements is what a block takes.
const (
	groupThreads  = 256
	groupElements = 4 * groupThreads
	// narrowElements is what a block of narrow_weights takes.
	narrowElements = 8 * groupThreads
)

// groups prepares such a kernel over n elements, its first scalar.
func (e *Executor) groups(name string, pointers, n int, scalars ...any) *launch {
	return e.launch(name, pointers, linear(ceil(n, groupElements)), linear(groupThreads),
		append([]any{n}, scalars...)...)
}

// over adapts it to another number of elements.
func (l *launch) over(n int) *launch {
	l.setInt(0, n)
	l.blocks = linear(ceil(n, groupElements))
	return l
}

// name implements method.
func (m *matrixProduct) name() string { return blasName(m.rank) }

// blasName returns "cuBLASLt" for its first algorithm, "cuBLASLt 1" for the next one, and so on.
func blasName(rank int) string {
	if rank == 0 {
		return "cuBLASLt"
	}
	return fmt.Sprintf("cuBLASLt %d", rank)
}

// scratch implements method.
func (m *matrixProduct) scratch() int {
	if m.narrow == nil {
		return 0
	}
	bytes := m.biasOffset()
	if m.narrowsBias() {
		bytes += 2 * m.K
	}
	return ceil(bytes, 4)
}

// run implements method.
func (m *matrixProduct) run(n int, o operands) {
	e := m.executor
	if e.err != nil {
		return
	}
	if m.narrow != nil {
		m.narrow.run(o.scratch, o.right, o.bias)
		o.right = o.scratch
		if m.narrowsBias() {
			o.bias = o.scratch + cuda.Pointer(m.biasOffset())
		}
	}
	if err := m.plan.Resize(m.sizes(n)); err != nil {
		e.note(err)
		return
	}
	if err := m.plan.Run(e.stream, o.result, o.left, o.right, o.bias, e.workspace); err != nil {
		e.note(err)
		return
	}
	if m.finish != nil {
		m.finish.over(m.size(n)).run(o.result, o.bias)
	}
}
