package attend

import (
	"fmt"
	"math"

	"lockstep/compute"
	"lockstep/internal/kernel/asm"
	"lockstep/internal/kernel/product"
	"lockstep/internal/kernel/row"
)

// Shape says what attention is computed of: heads of Size features, a multiple of 16, over texts of at most
// Most tokens. If it is Causal, a token attends to itself and to those before it.
type Shape struct {
	Heads, Size, Most int
	Causal            bool
}

// Plan is the plan of scaled dot-product attention (Vaswani et al. 2017) within texts of different
// lengths. For each text of T tokens and each head of D features, with the head's parts of q, k and v:
//
//	s[i,j] = sum_d q[i,d] k[j,d] / sqrt(D)
//	p[i,j] = exp(s[i,j]) / sum_j exp(s[i,j])
//	y[i,d] = sum_j p[i,j]*factor[i,j] v[j,d]
//
// for j < T, or j <= i if it is causal, where factor is dropout's. Matrices are [tokens, heads*D], the texts'
// tokens one after another; a token attends to its own text only.
//
// No matrix of scores is kept: blocks of keys meet blocks of queries in the second-level cache, and what a
// thread needs for that does not grow with T. The softmax of a row goes from one block of keys to the next by
// its maximum m and sum l so far (Milakov and Gimelshein 2018, arXiv 1805.02867; Dao et al., 2205.14135):
//
//	m' = max(m, max_j s[i,j])    e[j] = exp(s[i,j] - m')    c = exp(m - m')
//	l' = c l + sum_j e[j]        y' = c y + sum_j e[j]*factor[i,j] v[j]
//
// for j in the block; in the last block that row i meets, c and e are divided by l'. A score of -Inf weighs
// nothing beside one that is more, in whichever block; a row of nothing else is NaN. Backward computes s of
// each pair of blocks and p = exp(s - m) / l again, and with dp[i,j] = factor[i,j] * sum_d dy[i,d] v[j,d]
//
//	flow[i]  = sum_j p[i,j] dp[i,j] = sum_d dy[i,d] y[i,d]
//	ds[i,j]  = p[i,j] (dp[i,j] - flow[i]) / sqrt(D)
//	dq[i]    = sum_j ds[i,j] k[j]    dk[j] = sum_i ds[i,j] q[i]    dv[j] = sum_i p[i,j]*factor[i,j] dy[i]
//
// flow is the sum over j in texts of one block of keys, else that over d.
//
// Threads share texts and heads; each is computed in one order, which its length decides, so the bits depend
// on math alone. With math bf16 the operands of its products are rounded in texts of at least 64 tokens, if D
// is a multiple of 32. Cost: 4 T^2 D FLOPs a head forward, 10 T^2 D backward; causal, where pairs of blocks
// without a score are left out, 2 T^2 D and 5 T^2 D and what blocks on the diagonal have above it.
type Plan struct {
	Shape
	cpu        *compute.CPU
	ops        asm.Ops
	scale      float32 // 1/sqrt(D)
	group      int     // queries
	features   product.Columns
	parts      []*headPart
	partFloats int

	// The call in progress.
	rows              row.Rows
	drop              row.Dropout
	y, q, k, v, stats []float32
	dq, dk, dv, dy    []float32
	scratch           []float32
	total             int // sum of the squares of the lengths, times heads
}

// headPart is what one thread computes with.
type headPart struct {
	products // floats or rounded, by the text
	floats   *product.Small
	rounded  *product.SmallParts // nil if nothing is rounded

	start, length, text, head int // of the text; the head
	begin                     int // of its first feature in the text's first row

	first, width         int             // the block of keys: its first in the text, how many
	keys                 product.Columns // those of the block
	kTurned, vTurned, kv []float32       // its panels
	query, gradient      []float32       // rows of q and dy
	p, dp                product.Matrix
	factors              []float32
	tops, keeps          [queryRows]float32
	one                  [1]float32
}

// A block has keyRows keys and, backward, queryRows queries, whose terms are summed before they are added to
// dk and dv. Changing either changes results.
const (
	keyRows   = 256
	queryRows = 128
)

// groupOf returns how many queries of a block have their scores computed at a time: some if attention is
// causal, as what lies above the diagonal in a group is computed in vain, else all. It changes no result.
func groupOf(s Shape) int {
	if s.Causal {
		return queryRows / 4
	}
	return queryRows
}

// roundedLength is the least tokens of a text whose products are of operands rounded to bf16, if such are
// asked for: shorter texts leave steps unfilled. Changing it changes results.
const roundedLength = 64

// New plans attention.
func New(c *compute.CPU, s Shape) *Plan {
	if min(s.Heads, s.Size, s.Most) < 1 || s.Size%asm.RowLanes != 0 {
		panic(fmt.Sprintf("kernel: attention: %d heads of %d features, texts of %d tokens; want at least 1 "+
			"and a multiple of 16", s.Heads, s.Size, s.Most))
	}
	a := &Plan{Shape: s, cpu: c, ops: asm.OpsFor(c.ISA(), c.Math()),
		scale: float32(1 / math.Sqrt(float64(s.Size))), group: groupOf(s)}
	a.features = product.NewColumns(&a.ops.Gemm, s.Size)
	for range c.Threads() {
		a.parts = append(a.parts, a.newPart())
	}
	a.partFloats = a.floatsOf(a.parts[0])
	return a
}

// newPart returns what a thread computes with.
func (a *Plan) newPart() *headPart {
	keys := min(a.Most, keyRows)
	p := &headPart{floats: product.NewSmall(&a.ops.Gemm, queryRows),
		keys: product.NewColumns(&a.ops.Gemm, keys)}
	if a.cpu.Math().Parts() == 1 && a.Size%asm.SplitSide == 0 && a.Most >= roundedLength {
		p.rounded = product.NewSmallParts(&a.ops.Split, max(keys, a.Size))
	}
	return p
}

// floatsOf returns the most scratch of a thread: what divide takes for the longest text.
func (a *Plan) floatsOf(p *headPart) int {
	keys := min(a.Most, keyRows)
	floats := a.panelFloats(p.floats, keys)
	if p.rounded != nil {
		floats = max(floats, a.panelFloats(p.rounded, keys)+a.roundedFloats(p, keys))
	}
	return floats + 2*queryRows*(a.Size+scoreStride(keys)) + product.LineUp(keys)
}

// scoreStride is the distance of rows of scores with so many keys: whole steps, and a line that keeps rows
// from lying a power of two apart, where they would share few sets of the first-level cache.
func scoreStride(keys int) int { return product.WholeSteps(keys) + asm.LineFloats }

// OfParts reports whether a text of full length is multiplied by products of parts.
func (a *Plan) OfParts() bool { return a.parts[0].rounded != nil }

// products multiplies the matrices of a head.
type products interface {
	PanelFloats(depth, width int) int
	Turned(panels, src []float32, stride, depth int, c product.Columns) product.Panels
	Packed(panels, src []float32, stride, depth int, c product.Columns) product.Panels
	Times(dst, src product.Matrix, rows, terms int, panels product.Panels, add bool)
	Transposed(dst, a, b product.Matrix, rows, terms int, add bool, c product.Columns)
}

// panelFloats is the size of all panels of a block of keys.
func (a *Plan) panelFloats(p products, keys int) int {
	return 2*p.PanelFloats(a.Size, keys) + p.PanelFloats(keys, a.Size)
}

// roundedFloats is the scratch of products of rounded operands.
func (a *Plan) roundedFloats(p *headPart, keys int) int {
	return p.rounded.ScratchFloats(queryRows, max(keys, a.Size), a.Size)
}

// ScratchFloats returns how many floats of scratch each call needs.
func (a *Plan) ScratchFloats() int { return len(a.parts)*a.partFloats + asm.LineFloats }

// Forward computes y and stats, [tokens, heads, 2]: each row's maximum of q k and its inverse sum of
// exponentials, which Backward needs.
func (a *Plan) Forward(y, stats, q, k, v []float32, r row.Rows, d row.Dropout, scratch []float32) {
	r.Cols = a.Heads * a.Size
	for _, x := range [][]float32{y, q, k, v} {
		r.Check("attention", "rows", x)
	}
	a.y, a.stats, a.q, a.k, a.v = y, stats, q, k, v
	a.run((*forward)(a), r, d, scratch)
}

// Backward computes the gradients of q, k and v from the gradient of y and Forward's y and stats.
func (a *Plan) Backward(dq, dk, dv, dy, y, stats, q, k, v []float32, r row.Rows, d row.Dropout,
	scratch []float32) {
	r.Cols = a.Heads * a.Size
	for _, x := range [][]float32{dq, dk, dv, dy, y, q, k, v} {
		r.Check("attention backward", "rows", x)
	}
	a.dq, a.dk, a.dv, a.dy, a.y, a.stats, a.q, a.k, a.v = dq, dk, dv, dy, y, stats, q, k, v
	a.run((*backward)(a), r, d, scratch)
}

// run does t on all threads.
func (a *Plan) run(t compute.Task, r row.Rows, d row.Dropout, scratch []float32) {
	row.MustLen("attention", "stats", len(a.stats), r.Rows()*a.Heads*2)
	if len(scratch) < a.ScratchFloats() {
		panic(fmt.Sprintf("kernel: attention: len(scratch)=%d, want %d", len(scratch), a.ScratchFloats()))
	}
	a.rows, a.drop, a.scratch, a.total = r, d, product.Aligned(scratch), 0
	for n := range r.Samples() {
		length := int(r.Starts[n+1] - r.Starts[n])
		if length > a.Most {
			panic(fmt.Sprintf("kernel: attention: text of %d tokens, want at most %d", length, a.Most))
		}
		a.total += length * length * a.Heads
	}
	a.cpu.Share(t, a.total*a.Size)
	a.rows, a.drop, a.scratch = row.Rows{}, row.Dropout{}, nil
	a.y, a.q, a.k, a.v, a.stats = nil, nil, nil, nil, nil
	a.dq, a.dk, a.dv, a.dy = nil, nil, nil, nil
}

// each calls do for every block of keys of every text and head of a part, on a thread. Parts are cut to have
// equal sums of squared lengths.
func (a *Plan) each(thread, part, parts int, do func(a *Plan, p *headPart)) {
	p, before := a.parts[thread], 0
	for n := range a.rows.Samples() {
		p.text, p.start = n, int(a.rows.Starts[n])
		p.length = int(a.rows.Starts[n+1]) - p.start
		for h := range a.Heads {
			if before*parts/a.total == part {
				p.head, p.begin = h, p.start*a.rows.Cols+h*a.Size
				a.divide(p, a.scratch[thread*a.partFloats:][:a.partFloats])
				for p.first = 0; p.first < p.length; p.first += keyRows {
					p.width = min(keyRows, p.length-p.first)
					p.keys.Cut(&a.ops.Gemm, p.width)
					do(a, p)
				}
			}
			before += p.length * p.length
		}
	}
}

// divide assigns buffers for the text to a part.
func (a *Plan) divide(p *headPart, scratch []float32) {
	take := func(n int) []float32 {
		s := scratch[:n:n]
		scratch = scratch[n:]
		return s
	}
	keys := min(p.length, keyRows)
	p.products = p.floats
	if p.rounded != nil && p.length >= roundedLength {
		p.products = p.rounded
		p.rounded.Use(take(a.roundedFloats(p, keys)), queryRows, max(keys, a.Size), a.Size)
	}
	p.kTurned, p.vTurned = take(p.PanelFloats(a.Size, keys)), take(p.PanelFloats(a.Size, keys))
	p.kv = take(p.PanelFloats(keys, a.Size))
	p.query, p.gradient = take(queryRows*a.Size), take(queryRows*a.Size)
	stride := scoreStride(keys)
	p.p = product.Matrix{Floats: take(queryRows * stride), Stride: stride}
	p.dp = product.Matrix{Floats: take(queryRows * stride), Stride: stride}
	p.factors = take(keys)
}

// of returns the part's rows of x from row i of the text on.
func (a *Plan) of(p *headPart, x []float32, i int) product.Matrix {
	return product.Matrix{Floats: x[p.begin+i*a.rows.Cols:], Stride: a.rows.Cols}
}

// near returns a copy, in the memory given, of the part's n rows of x from row i of the text on: products
// read them several times, and in x they share few sets of the first-level cache.
func (a *Plan) near(p *headPart, memory, x []float32, i, n int) product.Matrix {
	from, to := a.of(p, x, i), product.Matrix{Floats: memory, Stride: a.Size}
	for r := range n {
		copy(to.Row(r, a.Size), from.Row(r, a.Size))
	}
	return to
}

// turned returns the block's rows of x, transposed, and packed returns them as they are.
func (a *Plan) turned(p *headPart, panels, x []float32) product.Panels {
	return p.Turned(panels, a.of(p, x, p.first).Floats, a.rows.Cols, a.Size, p.keys)
}

func (a *Plan) packed(p *headPart, x []float32) product.Panels {
	return p.Packed(p.kv, a.of(p, x, p.first).Floats, a.rows.Cols, p.width, a.features)
}

// rowStats returns the maximum and the inverse sum of row i of the text, of the blocks so far.
func (a *Plan) rowStats(p *headPart, i int) []float32 {
	return a.stats[((p.start+i)*a.Heads+p.head)*2:][:2]
}

// firstQuery returns the first row of the text that meets the block of keys.
func (a *Plan) firstQuery(p *headPart) int {
	if a.Causal {
		return p.first
	}
	return 0
}

// seen returns how many keys of the block row i of the text attends to.
func (a *Plan) seen(p *headPart, i int) int {
	if a.Causal {
		return min(p.width, i+1-p.first)
	}
	return p.width
}

// isLast reports whether row i of the text meets no block of keys after this one.
func (a *Plan) isLast(p *headPart, i int) bool {
	return p.first+p.width == p.length || a.Causal && i < p.first+p.width
}
