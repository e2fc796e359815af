package row

import (
	"fmt"

	"lockstep/compute"
	"lockstep/internal/kernel/asm"
)

// Dropout is the share of a layer's elements to set to zero, and the keys of the random numbers that choose
// them. The zero value drops nothing.
//
// The factors of a text (or any sample) n are drawn from words Hash(Keys[n] + i), i = 0, 1, ...: 16 bits for
// each element. The element is dropped if they are below Limit, else multiplied by 65536/(65536-Limit).
// A row of a sample is rowWords words from the one before it, so a factor depends on the sample's key, the
// row and the column, and on nothing else.
type Dropout struct {
	// Limit is the share to drop, in units of 1/65536, below 65536.
	Limit uint32
	// Keys has the start of each sample's words.
	Keys []uint64
}

// dropBits is the number of bits that decide about an element.
const dropBits = 16

// DropLimit returns the Limit of a share p, 0 <= p < 1, to the nearest 1/65536.
func DropLimit(p float64) uint32 {
	if !(p >= 0 && p < 1) {
		panic(fmt.Sprintf("kernel: dropout of %v, want 0 to below 1", p))
	}
	return min(uint32(p*(1<<dropBits)+0.5), 1<<dropBits-1)
}

// scale returns the factor of the elements that are kept.
func (d *Dropout) scale() float32 {
	return float32(float64(1<<dropBits) / float64(1<<dropBits-d.Limit))
}

// rowWords is the number of random words from one row of a sample to the next. A word serves four elements,
// so a row has at most 4*rowWords elements. Matrices of one sample are 2^20 rows apart.
const (
	rowWords    = 1 << 16
	matrixWords = rowWords << 20
)

// elementsPerWord is how many elements a word serves.
const elementsPerWord = 64 / dropBits

// Row writes the factors of a row of a matrix of sample n, from column first on, a multiple of 4.
func (d *Dropout) Row(o *asm.RowOps, dst []float32, n, matrix, row, first int) {
	key := d.Keys[n] + uint64(matrix)*matrixWords + uint64(row)*rowWords + uint64(first/elementsPerWord)
	o.Drop(dst, key, d.Limit, d.scale())
}

// Rows are the rows of samples, one sample after another: those of sample n are Starts[n] to Starts[n+1].
type Rows struct {
	Cols   int
	Starts []int32
}

// Samples returns the number of samples.
func (r Rows) Samples() int { return len(r.Starts) - 1 }

// Rows returns the number of rows of all samples.
func (r Rows) Rows() int { return int(r.Starts[len(r.Starts)-1]) }

// sampleOf returns the sample that row i belongs to, which is n or a later one.
func (r Rows) sampleOf(n, i int) int {
	for i >= int(r.Starts[n+1]) {
		n++
	}
	return n
}

// Check panics unless x has the rows.
func (r Rows) Check(op, name string, x []float32) {
	MustLen(op, name, len(x), r.Rows()*r.Cols)
}

// Drop is the plan of dropout over rows.
type Drop struct {
	cpu     *CPU
	cols    int
	factors []float32 // a row for each thread

	// The call in progress.
	dropout Dropout
	rows    Rows
	y, x    []float32
}

// NewDrop plans dropout over rows of cols elements.
func (c *CPU) NewDrop(cols int) *Drop {
	mustShape("drop", 1, cols)
	return &Drop{cpu: c, cols: cols, factors: make([]float32, c.Threads()*cols)}
}

// Run computes y = x * factor for the rows r. y may be x. Applied to a gradient with the same keys it is
// its own backward pass.
func (p *Drop) Run(y, x []float32, r Rows, d Dropout) {
	r.Cols = p.cols
	r.Check("drop", "x", x)
	r.Check("drop", "y", y)
	p.dropout, p.rows, p.y, p.x = d, r, y, x
	p.cpu.Share(p, len(x))
	p.dropout, p.rows, p.y, p.x = Dropout{}, Rows{}, nil, nil
}

// Do drops from a run of rows.
func (p *Drop) Do(thread, part, parts int) {
	o, factors := &p.cpu.ops.Row, p.factors[thread*p.cols:(thread+1)*p.cols]
	lo, hi := compute.Span(p.rows.Rows(), part, parts)
	n := 0
	for i := lo; i < hi; i++ {
		n = p.rows.sampleOf(n, i)
		p.dropout.Row(o, factors, n, 0, i-int(p.rows.Starts[n]), 0)
		at := i * p.cols
		o.Mul(p.y[at:at+p.cols], p.x[at:at+p.cols], factors)
	}
}
