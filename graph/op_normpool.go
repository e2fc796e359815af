package graph

// NormPoolOp is NormalizeOp with ReLU, followed by MaxPoolOp, of x, mean, variance, gamma and beta; the
// map in between is never written. It pools by 2x2 with stride 2 and without padding.
type NormPoolOp struct {
	Eps  float32
	Pool MaxPoolOp
}

func (NormPoolOp) name() string { return "normalize+relu+max-pool" }

func (o NormPoolOp) infer(in []Type) ([]Type, error) { return o.Pool.infer(in[:1]) }

func (NormPoolOp) cost(in, out []Type) Cost { return cost(3*int64(in[0].Shape.Elems()), in, out) }

func (o NormPoolOp) host(h *Host, in, _ []Type) Kernel {
	v := h.rows.NewNormPool(o.Pool.shape(in[0]))
	return Kernel{Run: func(a *Args) {
		v.Forward(a.Out[0].F, a.In[0].F, a.In[1].F, a.In[2].F, a.In[3].F, a.In[4].F, o.Eps)
	}}
}

// NormPoolBackwardOp computes dx, dgamma and dbeta from dy and the inputs of NormPoolOp.
type NormPoolBackwardOp struct{ Of NormPoolOp }

func (NormPoolBackwardOp) name() string { return "batch-norm+relu+max-pool-backward" }

func (NormPoolBackwardOp) infer(in []Type) ([]Type, error) {
	return []Type{in[1], in[4], in[5]}, nil
}

func (NormPoolBackwardOp) cost(in, out []Type) Cost {
	return cost(9*int64(in[1].Shape.Elems()), in, out)
}

// overwrites names x, since dy is smaller than dx.
func (NormPoolBackwardOp) overwrites() int { return 1 }

func (o NormPoolBackwardOp) host(h *Host, in, _ []Type) Kernel {
	v := h.rows.NewNormPool(o.Of.Pool.shape(in[1]))
	return Kernel{Run: func(a *Args) {
		v.Backward(a.Out[0].F, a.Out[1].F, a.Out[2].F, a.In[0].F, a.In[1].F,
			a.In[2].F, a.In[3].F, a.In[4].F, a.In[5].F, o.Of.Eps)
	}}
}
