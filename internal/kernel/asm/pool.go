package asm

// PoolOps holds the inner loops of pooling for one ISA, which take the channels of one pixel after those of
// another, in whole vectors and a part of one.
type PoolOps struct {
	// Max pooling by 2x2, stride 2: one row of output pixels of channels floats each, from the two
	// input rows top and low. These walk len(y) or len(dy) elements.
	MaxPool          func(y, top, low []float32, channels int)
	MaxPoolBackward  func(dtop, dlow, dy, top, low []float32, channels int)
	ReluPoolBackward func(dtop, dlow, dy, top, low []float32, channels int)

	// The same of a map that is normalised, by constants per channel, and rectified on the way.
	NormPool         func(y, top, low, mean, scale, shift []float32, channels int)
	NormPoolBackward func(dtop, dlow, dy, top, low, mean, scale, shift []float32, channels int)

	// Max pooling by any window: each call takes one pixel of the window, the tap, for a row of windows.
	// The pixels in x or dx are step floats apart. These walk len(y) or len(dy) elements.
	WindowMax   func(y, x []float32, channels, step int)
	WindowPlace func(y, place, x []float32, channels, step int, tap float32)
	WindowGive  func(dx, dy, place []float32, channels, step int, tap float32)
}

// narrowChannels is the most channels that a vector of AVX2 holds.
const narrowChannels = 8

// Pool returns the loops for pixels of so many channels: those of AVX2 where its vectors hold a pixel. In
// steps of lenet, with six channels, they take three quarters of the time of AVX-512's (Zen 4).
func (o *ElementOps) Pool(channels int) *PoolOps {
	if channels <= narrowChannels {
		return &o.Narrow
	}
	return &o.PoolOps
}
