package asm

// RowOps holds the inner loops of transformers for one ISA. They work on one row: a token's features,
// or a query's scores.
//
// Like ElementOps they round every product and sum on their own and take equally long slices, whose outputs
// come first and may be the same slice as an input, so all ISAs give the same bits. Results are sums (or
// maxima) over the row in the order of the note "sums over a row". The plain forms in row_plain.go hold the
// formulas.
type RowOps struct {
	Mul    func(dst, a, b []float32)
	MulAdd func(dst, x, a, b []float32)

	AddScaled func(dst, a, b []float32, factor float32)
	Lerp      func(dst, a, b []float32, factor float32)

	Sum     func(x []float32) float32
	Top     func(x []float32) float32
	Dot     func(a, b []float32) float32
	Squares func(x []float32, mean float32) float32

	Gelu         func(y, x []float32)
	GeluSlope    func(y, slope, x []float32)
	GeluBackward func(dx, dy, x []float32)

	ExpSum      func(p, x []float32, scale, top float32) float32
	Exps        func(p, x []float32, scale, top, factor float32)
	SoftmaxGrad func(ds, p, dp []float32, sum, scale float32)

	LayerNorm     func(y, x, gamma, beta []float32, mean, inverse float32)
	LayerNormSums func(dy, x, gamma []float32, mean, inverse float32) (s, q float32)
	LayerNormGrad func(dx, dgamma, dbeta, dy, x, gamma []float32, mean, inverse, s, q float32)

	Drop func(dst []float32, key uint64, limit uint32, scale float32)

	AdamW func(w, m, v, grad []float32, gradScale, decay, first, second, rest, rate, root, eps float32)
}

// Note: sums over a row.
//
// A row is summed in RowLanes lanes: lane l takes the elements l, l+16, l+32, ... in order, starting from
// zero. Then the upper half of the lanes is added to the lower half until one is left. This is what a
// 16-lane vector does, and two vectors of 8 lanes or a plain loop can do as well.

// RowLanes is the number of partial sums of a row.
const RowLanes = 16
