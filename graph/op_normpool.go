package graph

// normPool is max-pool of normalize+relu in one: from x, mean, variance, gamma and beta it computes the
// pooled map, and the one in between is never written. Its pooling is by 2x2, stride 2, no padding.
type normPool struct {
	eps  float32
	pool maxPool
}

func (normPool) Name() string { return "normalize+relu+max-pool" }

func (o normPool) Infer(in []Type) ([]Type, error) { return o.pool.Infer(in[:1]) }

func (normPool) Cost(in, out []Type) Cost { return cost(3*int64(in[0].Shape.Elems()), in, out) }

func (o normPool) host(h *Host, in, _ []Type) Kernel {
	v := h.rows.NewNormPool(o.pool.shape(in[0]))
	return Kernel{Run: func(a *Args) {
		v.Forward(a.Out[0].F, a.In[0].F, a.In[1].F, a.In[2].F, a.In[3].F, a.In[4].F, o.eps)
	}}
}

// normPoolBackward computes dx, dgamma and dbeta of normPool from dy and normPool's inputs.
type normPoolBackward struct{ of normPool }

func (normPoolBackward) Name() string { return "batch-norm+relu+max-pool-backward" }

func (normPoolBackward) Infer(in []Type) ([]Type, error) {
	return []Type{in[1], in[4], in[5]}, nil
}

func (normPoolBackward) Cost(in, out []Type) Cost {
	return cost(9*int64(in[1].Shape.Elems()), in, out)
}

// overwrites names x, since dy is smaller than dx.
func (normPoolBackward) overwrites() int { return 1 }

func (o normPoolBackward) host(h *Host, in, _ []Type) Kernel {
	v := h.rows.NewNormPool(o.of.pool.shape(in[1]))
	return Kernel{Run: func(a *Args) {
		v.Backward(a.Out[0].F, a.Out[1].F, a.Out[2].F, a.In[0].F, a.In[1].F,
			a.In[2].F, a.In[3].F, a.In[4].F, a.In[5].F, o.of.eps)
	}}
}
