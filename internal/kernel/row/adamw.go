package row

// AdamWStep holds the numbers of one AdamW call.
type AdamWStep struct {
	// Scale multiplies the gradient: it divides a sum by the number of samples.
	Scale float32
	// Decay is 1 - lr*weight decay.
	Decay float32
	// First is 1-beta1; Second is beta2 and Rest 1-beta2.
	First, Second, Rest float32
	// Rate is lr/(1-beta1^t), Root sqrt(1-beta2^t) for step number t, counted from 1.
	Rate, Root float32
	// Eps is added to the root of the second moment.
	Eps float32
}

// AdamW takes one step of AdamW (Loshchilov and Hutter 2019), all slices of one length:
//
//	g = grad*Scale
//	m = m + (g-m)*First
//	v = v*Second + g*g*Rest
//	w = w*Decay - m / (sqrt(v)/Root + Eps) * Rate
//
// m and v start as zeros. Each operation is rounded on its own. One pass: 16 bytes read and 12 written per
// element.
func (c *CPU) AdamW(w, m, v, grad []float32, s AdamWStep) {
	MustLen("adamw", "m", len(m), len(w))
	MustLen("adamw", "v", len(v), len(w))
	MustLen("adamw", "grad", len(grad), len(w))
	c.each(elementwise{n: len(w), dst: w, a: m, b: v, c: grad, adamW: s,
		loop: func(e *elementwise, lo, hi int) {
			s := &e.adamW
			e.row.AdamW(e.dst[lo:hi], e.a[lo:hi], e.b[lo:hi], e.c[lo:hi],
				s.Scale, s.Decay, s.First, s.Second, s.Rest, s.Rate, s.Root, s.Eps)
		}})
}
