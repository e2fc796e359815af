package kernel

// rowOps holds the inner loops of transformers for one ISA. They work on one row: a token's features,
// or a query's scores.
//
// Like elementOps they round every product and sum on their own and take equally long slices, whose
// outputs come first and may be the same slice as an input, so all ISAs give the same bits. What a loop
// returns is a sum (or maximum) over the row in the order of the note "sums over a row". The plain
// forms in row_plain.go hold the formulas.
type rowOps struct {
	mul    func(dst, a, b []float32)
	mulAdd func(dst, x, a, b []float32)

	addScaled func(dst, a, b []float32, factor float32)
	lerp      func(dst, a, b []float32, factor float32)

	sum     func(x []float32) float32
	top     func(x []float32) float32
	dot     func(a, b []float32) float32
	squares func(x []float32, mean float32) float32

	gelu         func(y, x []float32)
	geluBackward func(dx, dy, x []float32)

	expSum      func(p, x []float32, scale, top float32) float32
	exps        func(p, x []float32, scale, top, factor float32)
	softmaxGrad func(ds, p, dp []float32, sum, scale float32)

	layerNorm     func(y, x, gamma, beta []float32, mean, inverse float32)
	layerNormSums func(dy, x, gamma []float32, mean, inverse float32) (s, q float32)
	layerNormGrad func(dx, dgamma, dbeta, dy, x, gamma []float32, mean, inverse, s, q float32)

	drop func(dst []float32, key uint64, limit uint32, scale float32)

	adamW func(w, m, v, grad []float32, gradScale, decay, first, second, rest, rate, root, eps float32)
}

// Note: sums over a row.
//
// A row is summed in rowLanes lanes: lane l takes the elements l, l+16, l+32, ... in order, starting from
// zero. Then the upper half of the lanes is added to the lower half until one is left. This is what a
// 16-lane vector does, and two vectors of 8 lanes or a plain loop can do as well.

// rowLanes is the number of partial sums of a row.
const rowLanes = 16
