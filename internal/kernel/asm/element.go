package asm

// ElementOps holds the inner loops of the memory-bound kernels for one ISA.
//
// Each but those over rows works on the elements of equally long slices one by one; the length of the first
// slice says how many. Every product and sum is rounded on its own (no fused multiply-add), so all ISAs give
// the same bits, and so does any way of cutting a call in pieces. Outputs come first; an output may be the
// same slice as an input. plainElement holds the formulas.
type ElementOps struct {
	Fill         func(dst []float32, value float32)
	Scale        func(dst, x []float32, factor float32)
	Add          func(dst, a, b []float32)
	Relu         func(y, x []float32)
	ReluBackward func(dx, dy, y []float32)

	// Over rows: s, q and the constants from mean on have one row, the other slices some such rows, one
	// behind the other. The rows are added to the sums in order.
	Sums             func(s, x []float32)
	Moments          func(s, q, x, pilot []float32)
	Normalize        func(y, x, mean, scale, shift []float32)
	NormalizeReLU    func(y, x, mean, scale, shift []float32)
	NormalizeAdd     func(y, x, r, mean, scale, shift []float32)
	NormalizeAddReLU func(y, x, r, mean, scale, shift []float32)
	NormSums         func(s, q, dy, x, mean []float32)
	NormSumsReLU     func(s, q, dy, x, mean, scale, shift []float32)
	NormSumsGate     func(g, s, q, dy, z, x, mean []float32)
	NormGrad         func(dx, dy, x, mean, scale, slope, offset []float32)
	NormGradReLU     func(dx, dy, x, mean, scale, shift, slope, offset []float32)

	// The same with results that go to memory past the caches, for maps that these do not hold. Rows of the
	// result must begin at multiples of 64 bytes.
	NormalizePast        func(y, x, mean, scale, shift []float32)
	NormalizeReLUPast    func(y, x, mean, scale, shift []float32)
	NormalizeAddPast     func(y, x, r, mean, scale, shift []float32)
	NormalizeAddReLUPast func(y, x, r, mean, scale, shift []float32)
	NormGradPast         func(dx, dy, x, mean, scale, slope, offset []float32)
	NormGradReLUPast     func(dx, dy, x, mean, scale, shift, slope, offset []float32)

	Sgd         func(w, v, grad []float32, lr, momentum, decay, scale float32)
	SgdNesterov func(w, v, grad []float32, lr, momentum, decay, scale float32)

	PoolOps
	// Narrow are those for pixels of few channels; see Pool.
	Narrow PoolOps
}

// Halve adds the n runs of width floats in s into the first. While there are several, it adds the later
// half to the earlier one; the middle one of an odd number waits.
func Halve(s []float32, n, width int, add func(dst, a, b []float32)) {
	for n > 1 {
		h := n / 2
		low := s[:h*width]
		add(low, low, s[(n-h)*width:n*width])
		n -= h
	}
}
