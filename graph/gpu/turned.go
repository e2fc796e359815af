//go:build cuda && linux && amd64

package gpu

import (
	"lockstep/internal/cuda"
	"lockstep/internal/cuda/blas"
)

// turned is a product of rows with cuBLASLt, for which factors are transposed so that the sums run along the rows
// of both. Tensor cores take float32 so, rounded to TF32, and the library is fastest then.
type turned struct {
	product
	executor *Executor
	plan     *blas.Plan
	inner    string
	// right and left transpose the factors; left is nil if that lies well.
	left, right *launch
	leftWords   int
}

// turned plans p with the algorithm of that rank. The error is blas.ErrUnsupported if p is of another kind.
func (e *Executor) turned(p product, rank int) (method, error) {
	isForward, isWeights := p.pass == forward && p.C%4 == 0, p.pass == backwardWeights
	if p.isHalf || p.toHalf || !e.roundsTF32() || !p.isOfRows() || !isForward && !isWeights {
		return nil, blas.ErrUnsupported
	}
	m := &turned{product: p, executor: e, inner: blasName(rank)}
	b := blas.Product{TF32: true, Bias: p.bias, ReLU: p.relu, Add: p.add, N: p.K, TransB: true}
	b.M, b.K = m.sizes(p.N)
	plan, err := e.blas.Candidate(b, blasWorkspaceBytes, rank)
	if err != nil {
		return nil, err
	}
	m.plan = plan
	e.plans = append(e.plans, plan)
	if isForward {
		m.right = e.transpose(p.C, p.K)
		return m, nil
	}
	m.left, m.right = e.transpose(p.N, p.C), e.transpose(p.N, p.K)
	m.leftWords = words(p.C*filled(p.N), false)
	return m, nil
}

// filled returns the length of a row that had rows elements, with zeros up to a multiple of 16 bytes.
func filled(rows int) int { return 4 * ceil(rows, 4) }

// transpose prepares the kernel that transposes a matrix. To it, rows and columns are channels and filters of one
// pixel.
func (e *Executor) transpose(rows, cols int) *launch {
	const side, step = 32, 8
	l := e.launch("filter_f32", 2, cuda.Size{X: ceil(cols, side)}, cuda.Size{X: side, Y: step}, 1, 0, cols, 0).
		shared(4 * side * (side + 1))
	return l.overRows(rows)
}

// overRows adapts it to another number of rows.
func (l *launch) overRows(rows int) *launch {
	const side, rowsAt, filledAt = 32, 1, 3
	l.setInt(rowsAt, rows)
	l.setInt(filledAt, filled(rows))
	l.blocks.Y = ceil(filled(rows), side)
	return l
}

// sizes returns M and K of the product for n rows.
func (m *turned) sizes(n int) (int, int) {
	if m.pass == forward {
		return n, m.C
	}
	return m.C, filled(n)
}

// name implements method.
func (m *turned) name() string { return turnedPrefix + m.inner }

// scratch implements method.
func (m *turned) scratch() int {
	if m.pass == forward {
		return m.C * m.K
	}
	return m.leftWords + m.K*filled(m.N)
}

// run implements method.
func (m *turned) run(n int, o operands) {
	e := m.executor
	if e.err != nil {
		return
	}
	if m.left != nil {
		m.left.overRows(n).run(o.scratch, o.left)
		o.left = o.scratch
		o.scratch += cuda.Pointer(4 * m.leftWords)
		m.right.overRows(n)
	}
	m.right.run(o.scratch, o.right)
	if err := m.plan.Resize(m.sizes(n)); err != nil {
		e.note(err)
		return
	}
	e.note(m.plan.Run(e.stream, o.result, o.left, o.scratch, o.bias, e.workspace))
}
