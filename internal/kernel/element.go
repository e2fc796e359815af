package kernel

// elementOps holds the inner loops of the memory-bound kernels for one ISA.
//
// Each works on the elements of equally long slices one by one; the length of the first slice says how
// many. Every product and sum is rounded on its own (no fused multiply-add), so all ISAs give the same
// bits, and so does any way of cutting a call in pieces. Outputs come first; an output may be the
// same slice as an input. plainElement holds the formulas.
type elementOps struct {
	fill         func(dst []float32, value float32)
	scale        func(dst, x []float32, factor float32)
	add          func(dst, a, b []float32)
	relu         func(y, x []float32)
	reluBackward func(dx, dy, y []float32)

	// Batch norm over wide rows: the arguments after dx or x are constants or sums per column.
	moments       func(s, q, x, pilot []float32)
	normalize     func(y, x, mean, scale, shift []float32)
	normalizeReLU func(y, x, mean, scale, shift []float32)
	normSums      func(s, q, dy, x, mean []float32)
	normSumsReLU  func(s, q, dy, x, mean, scale, shift []float32)
	normGrad      func(dx, dy, x, mean, scale, slope, offset []float32)
	normGradReLU  func(dx, dy, x, mean, scale, shift, slope, offset []float32)

	// The same with a residual r, and with the mask of a ReLU whose output is z.
	normalizeAdd     func(y, x, r, mean, scale, shift []float32)
	normalizeAddReLU func(y, x, r, mean, scale, shift []float32)
	normSumsGate     func(g, s, q, dy, z, x, mean []float32)

	sgd         func(w, v, grad []float32, lr, momentum, decay, scale float32)
	sgdNesterov func(w, v, grad []float32, lr, momentum, decay, scale float32)

	// Max pooling by 2x2, stride 2: one row of output pixels of channels floats each, from the two
	// input rows top and low. These walk len(y) or len(dy) elements.
	maxPool          func(y, top, low []float32, channels int)
	maxPoolBackward  func(dtop, dlow, dy, top, low []float32, channels int)
	reluPoolBackward func(dtop, dlow, dy, top, low []float32, channels int)

	// The same of a map that is normalised, by constants per channel, and rectified on the way.
	normPool         func(y, top, low, mean, scale, shift []float32, channels int)
	normPoolBackward func(dtop, dlow, dy, top, low, mean, scale, shift []float32, channels int)

	// Max pooling by any window takes one pixel of it at a time, the tap, for a row of windows: the
	// pixels in x or dx are step floats apart. These walk len(y) or len(dy) elements.
	windowMax   func(y, x []float32, channels, step int)
	windowPlace func(y, place, x []float32, channels, step int, tap float32)
	windowGive  func(dx, dy, place []float32, channels, step int, tap float32)
}
