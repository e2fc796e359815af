package kernel

import "fmt"

// ConvShape describes a two-dimensional convolution (cross-correlation, as networks use the word).
//
// N batch, H W height and width of the input, C its channels, K output channels, R S height and width
// of the filter, Stride and Pad the same in both directions. Padding is by zeros.
type ConvShape struct{ N, H, W, C, K, R, S, Stride, Pad int }

// OutH returns the height of the output, (H + 2 Pad - R) / Stride + 1.
func (s ConvShape) OutH() int { return (s.H+2*s.Pad-s.R)/s.Stride + 1 }

// OutW returns the width of the output, (W + 2 Pad - S) / Stride + 1.
func (s ConvShape) OutW() int { return (s.W+2*s.Pad-s.S)/s.Stride + 1 }

// FLOPs returns the work of one direction, 2 N OutH OutW K C R S, padding counted like pixels.
func (s ConvShape) FLOPs() int64 {
	return 2 * int64(s.N) * int64(s.OutH()) * int64(s.OutW()) * int64(s.K) * int64(s.C) *
		int64(s.R) * int64(s.S)
}

// check panics unless the shape can be computed.
func (s ConvShape) check() {
	if min(s.N, s.H, s.W, s.C, s.K, s.R, s.S, s.Stride) < 1 || s.Pad < 0 ||
		s.H+2*s.Pad < s.R || s.W+2*s.Pad < s.S {
		panic(fmt.Sprintf("kernel: conv: bad shape %+v", s))
	}
}

// Conv is a planned convolution: everything that depends on the shape alone is decided and
// tabulated once. A linear layer is the case R=H, S=W, Pad=0.
//
// Activations are [N, H, W, C], weights [R, S, C, K] and bias [K], without gaps.
type Conv struct {
	cpu   *CPU
	shape ConvShape
}

// NewConv plans the convolution s. It panics on a shape that has no output.
func (c *CPU) NewConv(s ConvShape) *Conv {
	s.check()
	return &Conv{cpu: c, shape: s}
}

// ScratchFloats returns how many floats of scratch each of the three calls needs at most.
func (v *Conv) ScratchFloats() int { return 0 }

// Forward computes y[n,p,q,k] = bias[k] + sum_rsc x[n, p*Stride+r-Pad, q*Stride+s-Pad, c] w[r,s,c,k],
// then the maximum of that and zero if relu is set. A nil bias counts as zeros. y must not overlap
// the inputs.
func (v *Conv) Forward(y, x, w, bias []float32, relu bool, scratch []float32) {
	v.walk(func(yi, xi, wi int) { y[yi] += float32(x[xi] * w[wi]) }, func() {
		for i := range y {
			y[i] = 0
			if bias != nil {
				y[i] = bias[i%len(bias)]
			}
		}
	})
	for i := range y {
		if relu && y[i] < 0 {
			y[i] = 0
		}
	}
}

// BackwardData computes the gradient of the input,
// dx[n,h,w,c] = sum_rsk dy[n,p,q,k] w[r,s,c,k] over the p, q with h = p*Stride+r-Pad and
// w = q*Stride+s-Pad. It overwrites dx, which must not overlap the inputs.
func (v *Conv) BackwardData(dx, dy, w, scratch []float32) {
	v.walk(func(yi, xi, wi int) { dx[xi] += float32(dy[yi] * w[wi]) }, func() { clear(dx) })
}

// BackwardWeights computes the gradient of the weights,
// dw[r,s,c,k] = sum_npq x[n, p*Stride+r-Pad, q*Stride+s-Pad, c] dy[n,p,q,k]. It overwrites dw, which
// must not overlap the inputs.
func (v *Conv) BackwardWeights(dw, x, dy, scratch []float32) {
	v.walk(func(yi, xi, wi int) { dw[wi] += float32(x[xi] * dy[yi]) }, func() { clear(dw) })
}

func (v *Conv) walk(visit func(y, x, w int), first func()) {
	first()
	s := v.shape
	for yi := range s.N * s.OutH() * s.OutW() {
		n, p, q := yi/(s.OutH()*s.OutW()), yi/s.OutW()%s.OutH(), yi%s.OutW()
		for t := range s.R * s.S {
			h, w := p*s.Stride+t/s.S-s.Pad, q*s.Stride+t%s.S-s.Pad
			if h < 0 || h >= s.H || w < 0 || w >= s.W {
				continue
			}
			for c := range s.C {
				for k := range s.K {
					visit(yi*s.K+k, ((n*s.H+h)*s.W+w)*s.C+c, (t*s.C+c)*s.K+k)
				}
			}
		}
	}
}
