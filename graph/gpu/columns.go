//go:build cuda && linux && amd64

package gpu

import (
	"lockstep/graph"
	"lockstep/internal/cuda"
	"lockstep/internal/cuda/blas"
)

// columns is a convolution, or the gradient of its filters, as a product of matrices: what the filters meet
// of x is first laid out as rows. For the few channels of images cuDNN has no fast engines: it fills them up
// with zeros.
type columns struct {
	rows     method
	executor *Executor
	pass     pass
	n        int     // of rows
	lay      *launch // x as rows, and filters with as many rows as there are columns
	words    int     // of the rows
	filters  int     // words of the filters with zeros behind them
	bytes    int     // of the filters without
}

const (
	// mostColumnChannels bounds the channels of x, and mostColumns what filters meet.
	mostColumnChannels = 7
	mostColumns        = 512
	// mostColumnWords bounds the memory for the rows, and mostColumnShared that for the lines of a block.
	mostColumnWords  = 1 << 28
	mostColumnShared = 32 << 10
)

// columnWidth returns how many columns a thread takes, 16 bytes, and depthOfColumns how many there are for p.
func (p product) columnWidth() int {
	if p.isHalf {
		return 8
	}
	return 4
}
func (p product) depthOfColumns() int { return ceil(p.R*p.S*p.C, p.columnWidth()) * p.columnWidth() }

// sharedByColumns returns the shared memory for the lines of x that filters meet.
func (p product) sharedByColumns() int {
	return 16 / p.columnWidth() * p.R * (p.W + 2*p.Pad) * p.C
}

// takesColumns reports whether columns is a method for p.
func (p product) takesColumns() bool {
	depth := p.depthOfColumns()
	return p.pass != backwardData && !p.isOfRows() && p.C <= mostColumnChannels &&
		depth <= mostColumns && p.sharedByColumns() <= mostColumnShared &&
		words(p.N*p.outH()*p.outW()*depth, p.isHalf) <= mostColumnWords
}

// columns plans p; the name is that of the method for the rows. The error is blas.ErrUnsupported if p is of
// another kind.
func (e *Executor) columns(p product, name string) (method, error) {
	if !p.takesColumns() {
		return nil, blas.ErrUnsupported
	}
	depth, lines := p.depthOfColumns(), p.N*p.outH()
	inner := p
	inner.ConvShape = graph.ConvShape{N: lines * p.outW(), H: 1, W: 1, C: depth, K: p.K, R: 1, S: 1,
		Stride: 1}
	rows, err := e.methodNamed(inner, name)
	if err != nil {
		return nil, err
	}
	m := &columns{rows: rows, executor: e, pass: p.pass, n: inner.N, words: words(inner.N*depth, p.isHalf),
		filters: words(depth*p.K, false), bytes: 4 * p.R * p.S * p.C * p.K}
	threads := cuda.Size{X: depth / p.columnWidth()}
	threads.Y = min(p.outW(), rowThreads/threads.X)
	blocks := lines
	if p.pass == forward {
		blocks += ceil(depth*p.K, threads.X*threads.Y)
	}
	m.lay = e.launch(typed("columns", p.isHalf), 4, linear(blocks), threads, lines, p.H, p.W, p.C, p.R, p.S,
		p.K, p.Stride, p.Pad, p.outH(), p.outW()).shared(p.sharedByColumns())
	return m, nil
}

// name implements method.
func (m *columns) name() string { return columnsPrefix + m.rows.name() }

// scratch implements method.
func (m *columns) scratch() int { return m.words + m.filters + m.rows.scratch() }

// run implements method. Maps are never ragged: n is always that of the shape.
func (m *columns) run(_ int, o operands) {
	e, x, rows := m.executor, o.left, o.scratch
	filters := rows + cuda.Pointer(4*m.words)
	o.left, o.scratch = rows, filters+cuda.Pointer(4*m.filters)
	if m.pass == forward {
		m.lay.run(rows, filters, x, o.right)
		o.right = filters
		m.rows.run(m.n, o)
		return
	}
	result := o.result
	o.result = filters
	m.lay.run(rows, 0, x, 0)
	m.rows.run(m.n, o)
	if e.err == nil {
		e.note(e.stream.Copy(result, filters, m.bytes))
	}
}
