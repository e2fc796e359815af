package graph

import "lockstep/internal/kernel/product"

// ConvBackwardDataSumsOp is ConvBackwardDataOp, whose result is the gradient of a normalised map: it also
// takes the sums that batch norm's backward op needs of that gradient, while it is in a cache. After dy and
// w come the normalisation's x, mean, variance, gamma and beta, and if Residual the result z of that
// normalisation, which has a residual and a ReLU: then the first result is dx where z > 0, else 0. The
// second is the sums, [2C].
type ConvBackwardDataSumsOp struct {
	ConvBackwardDataOp
	Eps            float32
	ReLU, Residual bool
}

func (o ConvBackwardDataSumsOp) name() string { return o.ConvBackwardDataOp.name() + "+sums" }

func (o ConvBackwardDataSumsOp) infer([]Type) ([]Type, error) {
	return []Type{o.x, float(2 * lastAxis(o.x))}, nil
}

func (o ConvBackwardDataSumsOp) cost(in, out []Type) Cost {
	return cost(o.Shape.planned().FLOPs()+4*int64(o.x.Shape.Elems()), in, out)
}

func (o ConvBackwardDataSumsOp) host(h *Host, in, _ []Type) Kernel { return o.kernel(h, in, false) }

// kernel returns the kernel; with add the input after w is added to.
func (o ConvBackwardDataSumsOp) kernel(h *Host, in []Type, add bool) Kernel {
	channels := lastAxis(o.x)
	n := h.batchNorm(o.x.Shape.Elems()/channels, channels)
	return o.planned(h, in, func(v *product.Conv, a *Args) {
		dx, dy, w, norm := a.Out[0].F, a.In[0].F, a.In[1].F, a.In[2:]
		if add {
			copy(dx, norm[0].F) // at once if it is the same memory
			norm = norm[1:]
		}
		var z []float32
		if o.Residual {
			z = norm[5].F
		}
		n.StartSums(dx, z, norm[0].F, norm[1].F, norm[2].F, norm[3].F, norm[4].F, o.Eps, o.ReLU)
		if rows := n.BlockRows(); rows > 0 {
			v.BackwardDataThen(dx, dy, w, add, n, rows, a.Scratch.F)
		} else {
			v.BackwardData(dx, dy, w, add, a.Scratch.F)
			n.SumAll()
		}
		n.Sums(a.Out[1].F)
	})
}

// ConvBackwardDataAddSumsOp adds to its third input what ConvBackwardDataSumsOp computes from the others,
// before the sums are taken.
type ConvBackwardDataAddSumsOp struct{ ConvBackwardDataSumsOp }

func (o ConvBackwardDataAddSumsOp) name() string { return o.ConvBackwardDataOp.name() + "+add+sums" }

func (ConvBackwardDataAddSumsOp) overwrites() int { return 2 }

func (o ConvBackwardDataAddSumsOp) host(h *Host, in, _ []Type) Kernel { return o.kernel(h, in, true) }
