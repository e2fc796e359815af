package row

// sgdStep holds the numbers of one SGD call.
type sgdStep struct{ lr, momentum, decay, scale float32 }

// SGD takes one step of stochastic gradient descent, all slices of one length:
//
//	d = grad*scale + decay*w
//	v = momentum*v + d
//	w = w - lr*u    with u = d + momentum*v if nesterov, else v
//
// This is torch.optim.SGD without dampening; v starts as zeros, which gives PyTorch's first step. Scale
// divides a summed gradient by the number of samples. Each product and sum is rounded on its own. One
// pass: 12 bytes read and 8 written per element.
func (c *CPU) SGD(w, v, grad []float32, lr, momentum, decay, scale float32, nesterov bool) {
	MustLen("sgd", "v", len(v), len(w))
	MustLen("sgd", "grad", len(grad), len(w))
	e := elementwise{n: len(w), dst: w, a: v, b: grad, loop: plainMomentum,
		step: sgdStep{lr, momentum, decay, scale}}
	if nesterov {
		e.loop = nesterovMomentum
	}
	c.each(e)
}

func plainMomentum(e *elementwise, lo, hi int) {
	s := &e.step
	e.ops.Sgd(e.dst[lo:hi], e.a[lo:hi], e.b[lo:hi], s.lr, s.momentum, s.decay, s.scale)
}

func nesterovMomentum(e *elementwise, lo, hi int) {
	s := &e.step
	e.ops.SgdNesterov(e.dst[lo:hi], e.a[lo:hi], e.b[lo:hi], s.lr, s.momentum, s.decay, s.scale)
}
