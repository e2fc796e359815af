//go:build cuda && linux

package blas

import (
	"fmt"
	"unsafe"

	"lockstep/internal/cuda"
)

// DType is the type of a matrix's elements.
type DType int

// The types of elements.
const (
	F32 DType = iota
	BF16
)

// String returns "f32" or "bf16".
func (t DType) String() string { return [...]string{"f32", "bf16"}[t] }

// code returns the type as a cudaDataType.
func (t DType) code() uintptr {
	if t == BF16 {
		return typeBF16
	}
	return typeF32
}

// Product is a product of matrices,
//
//	C[M, N] = op(A)[M, K] · op(B)[K, N] + C + bias[N],
//
// where op transposes if TransA or TransB is set: A is then stored as [K, M], B as [N, K]. C is an addend if
// Add is set, the bias if Bias is, and ReLU replaces what is negative by 0 at the end. A and B have type In,
// C and the bias have type Out. Sums are float32.
type Product struct {
	M, N, K        int
	TransA, TransB bool
	In, Out        DType
	// TF32 lets the factors be rounded to 10 bits behind the point. It matters only for In F32.
	TF32 bool
	// Bias, ReLU and Add choose what is done besides.
	Bias, ReLU, Add bool
}

// String describes the product for errors.
func (p Product) String() string {
	return fmt.Sprintf("[%d,%d]·[%d,%d] (transposed %t, %t) from %v to %v, tf32 %t, "+
		"bias %t, relu %t, add %t",
		p.M, p.K, p.K, p.N, p.TransA, p.TransB, p.In, p.Out, p.TF32, p.Bias, p.ReLU, p.Add)
}

// Values of cublasLt.h and library_types.h.
const (
	typeF32  = 0
	typeBF16 = 14

	computeF32  = 68
	computeTF32 = 77

	layoutRows = 2
	layoutCols = 3
	layoutLD   = 4

	productTransA   = 3
	productTransB   = 4
	productEpilogue = 7
	productBias     = 8
	productBiasType = 26

	epilogueNone = 1
	epilogueReLU = 2
	epilogueBias = 4

	limitWorkspace  = 1
	limitReductions = 3
	limitAlignmentA = 5
	limitAlignmentD = 8

	// reductionCompute allows partial sums in float32 that a separate step adds, besides no partial sums.
	reductionCompute = 2

	alignmentBytes = 16
)

// result is cublasLtMatmulHeuristicResult_t.
type result struct {
	_              [8]uint64 // the algorithm
	workspaceBytes uint64
	state          int32
	_              float32 // how many waves of blocks it takes
	_              [4]int32
}

// Plan is a product with the algorithm that computes it.
type Plan struct {
	library *Library
	product Product

	// description, layouts and limits are the library's objects. The library's matrices are column-major:
	// what it computes is the transposed product, whose first factor, layouts[0], is B, and layouts[1] is A.
	description, limits uintptr
	layouts             [3]uintptr

	chosen result
	ranked []result // by the heuristic; Candidate chooses the last one
	// planned is the product as it was given to Candidate.
	planned     Product
	alpha, beta float32
	bias        cuda.Pointer

	// count and value are arguments of functions that write or read them.
	count int32
	value uint64
}

// Plan chooses an algorithm that needs no more than workspaceBytes of workspace. The addresses given to
// [Plan.Run] must be multiples of 16. The error is ErrUnsupported if there is none.
func (l *Library) Plan(p Product, workspaceBytes int) (*Plan, error) {
	return l.Candidate(p, workspaceBytes, 0)
}

// Candidate is Plan with the algorithm that the library's heuristic ranks as number rank, 0 being the best.
// The error is ErrUnsupported if it proposes fewer.
func (l *Library) Candidate(p Product, workspaceBytes, rank int) (*Plan, error) {
	if min(p.M, p.N, p.K) < 1 {
		return nil, fmt.Errorf("blas: product %v has no elements", p)
	}
	plan := &Plan{library: l, product: p, alpha: 1, ranked: make([]result, rank+1), planned: p}
	if p.Add {
		plan.beta = 1
	}
	err := plan.describe(workspaceBytes)
	if err == nil {
		err = plan.choose(rank)
	}
	if err != nil {
		plan.Close()
		return nil, fmt.Errorf("%w: %v", err, p)
	}
	return plan, nil
}

// describe makes the library's objects.
func (p *Plan) describe(workspaceBytes int) error {
	f, q := &p.library.f, p.product
	compute := uintptr(computeF32)
	if q.TF32 && q.In == F32 {
		compute = computeTF32
	}
	if err := check("cublasLtMatmulDescCreate",
		f.productCreate.Call(cuda.Address(&p.description), compute, typeF32)); err != nil {
		return err
	}
	if err := p.layOut(); err != nil {
		return err
	}
	err := check("cublasLtMatmulPreferenceCreate", f.limitsCreate.Call(cuda.Address(&p.limits)))
	if err != nil {
		return err
	}
	epilogue := epilogueNone
	if q.ReLU {
		epilogue = epilogueReLU
	}
	if q.Bias {
		epilogue = epilogue&epilogueReLU | epilogueBias
	}
	settings := []setting{
		{f.productSet, p.description, productTransA, bit(q.TransB), 4},
		{f.productSet, p.description, productTransB, bit(q.TransA), 4},
		{f.productSet, p.description, productEpilogue, uint64(epilogue), 4},
		{f.limitsSet, p.limits, limitWorkspace, uint64(max(workspaceBytes, 0)), 8},
		{f.limitsSet, p.limits, limitReductions, reductionCompute, 4},
	}
	for limit := uintptr(limitAlignmentA); limit <= limitAlignmentD; limit++ {
		settings = append(settings, setting{f.limitsSet, p.limits, limit, alignmentBytes, 4})
	}
	if q.Bias {
		// The heuristic takes the alignment of the bias from its address.
		settings = append(settings, setting{f.productSet, p.description, productBiasType,
			uint64(q.Out.code()), 4},
			setting{f.productSet, p.description, productBias, alignmentBytes, 8})
	}
	return p.set(settings)
}

// setting is an attribute of one of the library's objects; bytes is the size of its value.
type setting struct {
	function       cuda.Func
	object, number uintptr
	value          uint64
	bytes          uintptr
}

// set sets attributes.
func (p *Plan) set(settings []setting) error {
	for _, s := range settings {
		p.value = s.value // little-endian: its first bytes are those of a smaller integer
		status := s.function.Call(s.object, s.number, cuda.Address(&p.value), s.bytes)
		if err := check("attribute", status); err != nil {
			return fmt.Errorf("%w, number %d, value %d", err, s.number, s.value)
		}
	}
	return nil
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// layOut makes the layouts of B, A and C as column-major matrices.
func (p *Plan) layOut() error {
	for i, shape := range p.shapes() {
		t := p.product.In
		if i == 2 {
			t = p.product.Out
		}
		status := p.library.f.layoutCreate.Call(cuda.Address(&p.layouts[i]), t.code(), uintptr(shape[0]),
			uintptr(shape[1]), uintptr(shape[0]))
		if err := check("cublasLtMatrixLayoutCreate", status); err != nil {
			return err
		}
	}
	return nil
}

// shapes returns the rows and columns of B, A and C as column-major matrices. The rows are the distance from
// column to column too.
func (p *Plan) shapes() [3][2]int {
	q := p.product
	b, a := [2]int{q.N, q.K}, [2]int{q.K, q.M}
	if q.TransB {
		b = [2]int{q.K, q.N}
	}
	if q.TransA {
		a = [2]int{q.M, q.K}
	}
	return [3][2]int{b, a, {q.N, q.M}}
}

// choose takes the algorithm that the heuristic ranks as number rank. The error is ErrUnsupported if there is
// none.
func (p *Plan) choose(rank int) error {
	var status int32
	l := p.library
	p.count = 0
	l.device.Do(func() {
		status = l.f.heuristic.Call(l.handle, p.description, p.layouts[0], p.layouts[1], p.layouts[2],
			p.layouts[2], p.limits, uintptr(len(p.ranked)), cuda.Address(&p.ranked[0]),
			cuda.Address(&p.count))
	})
	if status == 0 && int(p.count) > rank {
		p.chosen = p.ranked[rank]
		status = p.chosen.state
	} else if status == 0 {
		status = statusUnsupported
	}
	if status == statusUnsupported || status == statusInvalid && p.product.Bias {
		return ErrUnsupported // the library calls a bias of another type than C invalid
	}
	return check("cublasLtMatmulAlgoGetHeuristic", status)
}

// Resize changes M and K, for matrices whose number of rows differs from run to run, and takes the best
// algorithm for the size, within the limit that Plan was given; for the size that was planned it takes the
// one that Candidate chose. It takes microseconds: the library remembers what it has chosen.
func (p *Plan) Resize(m, k int) error {
	if p.product.M == m && p.product.K == k {
		return nil
	}
	if min(m, k) < 1 {
		return fmt.Errorf("blas: product of %d rows and depth %d", m, k)
	}
	p.product.M, p.product.K = m, k
	set := p.library.f.layoutSet
	for i, shape := range p.shapes() {
		for _, s := range [...][2]int{{layoutRows, shape[0]}, {layoutCols, shape[1]}, {layoutLD, shape[0]}} {
			p.value = uint64(s[1])
			status := set.Call(p.layouts[i], uintptr(s[0]), cuda.Address(&p.value), unsafe.Sizeof(p.value))
			if status != 0 {
				return check("cublasLtMatrixLayoutSetAttribute", status)
			}
		}
	}
	if p.product == p.planned {
		return p.choose(len(p.ranked) - 1)
	}
	return p.choose(0)
}

// WorkspaceBytes returns how much workspace Run needs. Resize may change it.
func (p *Plan) WorkspaceBytes() int { return int(p.chosen.workspaceBytes) }

// Run queues the product. bias matters only if the product has one, workspace only if WorkspaceBytes is
// not 0.
func (p *Plan) Run(s *cuda.Stream, c, a, b, bias, workspace cuda.Pointer) error {
	l := p.library
	if p.product.Bias && bias != p.bias {
		p.value = uint64(bias)
		status := l.f.productSet.Call(p.description, productBias, cuda.Address(&p.value),
			unsafe.Sizeof(p.value))
		if status != 0 {
			return check("cublasLtMatmulDescSetAttribute", status)
		}
		p.bias = bias
	}
	var status int32
	l.device.Do(func() {
		status = l.f.run.Call(l.handle, p.description, cuda.Address(&p.alpha), uintptr(b), p.layouts[0],
			uintptr(a), p.layouts[1], cuda.Address(&p.beta), uintptr(c), p.layouts[2], uintptr(c),
			p.layouts[2],
			cuda.Address(&p.chosen), uintptr(workspace), uintptr(p.chosen.workspaceBytes), s.Handle())
	})
	if status != 0 {
		return fmt.Errorf("%w: %v", check("cublasLtMatmul", status), p.product)
	}
	return nil
}

// Close frees the plan.
func (p *Plan) Close() {
	f := &p.library.f
	if p.description != 0 {
		f.productDestroy.Call(p.description)
	}
	if p.limits != 0 {
		f.limitsDestroy.Call(p.limits)
	}
	for _, layout := range p.layouts {
		if layout != 0 {
			f.layoutDestroy.Call(layout)
		}
	}
	p.description, p.limits, p.layouts = 0, 0, [3]uintptr{}
}
