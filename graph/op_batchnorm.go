package graph

import (
	"fmt"

	"lockstep/internal/kernel/product"
	"lockstep/internal/kernel/row"
	"lockstep/tensor"
)

// BatchNorm normalises each channel: y = (x - mean) / sqrt(variance + eps) * gamma + beta.
//
// x is [..., C], gamma and beta are [C], mean and variance states of shape [C]. In training, mean
// and (biased) variance are those of x over all axes but the last, gradients flow through them, and
// the program reports them, the variance unbiased, in BatchStats under the two states. In inference
// they are the states' values.
func BatchNorm(x, gamma, beta, mean, variance *Node, eps float32) *Node {
	return x.graph.emit(BatchNormOp{eps}, x, gamma, beta, mean, variance)
}

// BatchNormOp is BatchNorm of x, gamma, beta, mean and variance, which is lowered to others.
type BatchNormOp struct{ Eps float32 }

func (BatchNormOp) name() string { return "batch-norm" }

func (BatchNormOp) infer(in []Type) ([]Type, error) {
	if len(in[0].Shape) < 2 {
		return nil, fmt.Errorf("want an input of at least two axes")
	}
	for _, t := range in[1:] {
		if !t.Shape.Equal(tensor.Shape{lastAxis(in[0])}) {
			return nil, fmt.Errorf("weight, bias and states want shape [%d]", lastAxis(in[0]))
		}
	}
	return in[:1], nil
}

// Cost is that of the ops it is lowered to.
func (BatchNormOp) cost(in, out []Type) Cost { return NormalizeOp{}.cost(in, out) }

func (o BatchNormOp) lower(l *lowering, in []*Node) []*Node {
	x, gamma, beta, mean, variance := in[0], in[1], in[2], in[3], in[4]
	if l.train {
		s := l.to.apply(BatchStatisticsOp{}, x)
		l.report(mean, s[0])
		l.report(variance, s[2])
		mean, variance = s[0], s[1]
	}
	return l.to.apply(NormalizeOp{Eps: o.Eps}, x, mean, variance, gamma, beta)
}

// BatchStatisticsOp computes each channel's mean, biased variance and unbiased variance from x. The
// latter is 0 for a single row.
type BatchStatisticsOp struct{}

func (BatchStatisticsOp) name() string { return "batch-statistics" }

func (BatchStatisticsOp) infer(in []Type) ([]Type, error) {
	c := float(lastAxis(in[0]))
	return []Type{c, c, c}, nil
}

func (BatchStatisticsOp) cost(in, out []Type) Cost {
	return cost(3*int64(in[0].Shape.Elems()), in, out)
}

func (BatchStatisticsOp) host(h *Host, in, _ []Type) Kernel {
	m := moments(h, in[0])
	return Kernel{Run: func(a *Args) {
		m.Run(a.Out[0].F, a.Out[1].F, a.Out[2].F, a.In[0].F)
	}}
}

// moments plans the batch statistics of a map, in the blocks in which a convolution finishes the map.
func moments(h *Host, x Type) *row.Moments {
	c, n := lastAxis(x), x.Shape.Elems()
	pixels := n / (c * x.Shape[0])
	return h.rows.NewMoments(n/c, c, product.FinishRows(pixels, c))
}

// The gradient through the statistics is part of normalize's rule.
func (BatchStatisticsOp) gradient(*Graph, *call, []*Node) []*Node { return []*Node{nil} }

// NormalizeOp computes (x - mean) / sqrt(variance + Eps) * gamma + beta from x, mean, variance, gamma and
// beta. With Residual it adds a sixth input, and with ReLU it takes the maximum of that and 0.
type NormalizeOp struct {
	Eps            float32
	Residual, ReLU bool
}

func (o NormalizeOp) name() string {
	name := "normalize"
	if o.Residual {
		name += "+add"
	}
	if o.ReLU {
		name += "+relu"
	}
	return name
}

func (o NormalizeOp) withReLU() Op { o.ReLU = true; return o }

// overwrites prefers the residual, which the backward pass needs less often.
func (o NormalizeOp) overwrites() int {
	if o.Residual {
		return 5
	}
	return 0
}

func (NormalizeOp) infer(in []Type) ([]Type, error) { return in[:1], nil }

func (NormalizeOp) cost(in, out []Type) Cost { return cost(2*int64(in[0].Shape.Elems()), in, out) }

func (o NormalizeOp) host(h *Host, in, _ []Type) Kernel {
	channels := lastAxis(in[0])
	v := h.batchNorm(in[0].Shape.Elems()/channels, channels)
	return Kernel{Run: func(a *Args) {
		y, x, mean, variance, gamma, beta := a.Out[0].F, a.In[0].F, a.In[1].F, a.In[2].F, a.In[3].F,
			a.In[4].F
		if o.Residual {
			v.NormalizeAdd(y, x, a.In[5].F, mean, variance, gamma, beta, o.Eps, o.ReLU)
		} else {
			v.Normalize(y, x, mean, variance, gamma, beta, o.Eps, o.ReLU)
		}
	}}
}

func (o NormalizeOp) gradient(b *Graph, c *call, dy []*Node) []*Node {
	d := b.apply(BatchNormBackwardOp{Eps: o.Eps}, append([]*Node{dy[0]}, c.in...)...)
	return []*Node{d[0], nil, nil, d[1], d[2]}
}

// BatchNormBackwardOp computes dx, dgamma and dbeta from dy, x, mean, variance, gamma and beta, mean and
// variance being those of x. With ReLU it takes dy as 0 where the normalised value is not above 0. With
// Summed a seventh input holds the sums that a ConvBackwardDataSumsOp took of dy.
type BatchNormBackwardOp struct {
	Eps          float32
	ReLU, Summed bool
}

func (o BatchNormBackwardOp) name() string {
	name := "batch-norm"
	if o.ReLU {
		name += "+relu"
	}
	name += "-backward"
	if o.Summed {
		name += "-summed"
	}
	return name
}

func (BatchNormBackwardOp) overwrites() int { return 0 }

func (BatchNormBackwardOp) infer(in []Type) ([]Type, error) {
	return []Type{in[1], in[4], in[5]}, nil
}

func (o BatchNormBackwardOp) cost(in, out []Type) Cost {
	perElement := int64(8)
	if o.Summed {
		perElement = 4
	}
	return cost(perElement*int64(in[0].Shape.Elems()), in, out)
}

func (o BatchNormBackwardOp) host(h *Host, in, _ []Type) Kernel {
	channels := lastAxis(in[0])
	v := h.batchNorm(in[0].Shape.Elems()/channels, channels)
	if o.Summed {
		return Kernel{Run: func(a *Args) {
			v.BackwardSummed(a.Out[0].F, a.Out[1].F, a.Out[2].F, a.In[0].F, a.In[1].F,
				a.In[2].F, a.In[3].F, a.In[4].F, a.In[5].F, a.In[6].F, o.Eps, o.ReLU)
		}}
	}
	return Kernel{Run: func(a *Args) {
		v.Backward(a.Out[0].F, a.Out[1].F, a.Out[2].F, a.In[0].F, a.In[1].F,
			a.In[2].F, a.In[3].F, a.In[4].F, a.In[5].F, o.Eps, o.ReLU)
	}}
}

// ResidualBackwardOp is ReLUBackwardOp followed by BatchNormBackwardOp. Its inputs are dz, the result z of
// a NormalizeOp with Residual and ReLU, and that op's x, mean, variance, gamma and beta. Its results are
// the residual's gradient, g = dz where z > 0, else 0, and the dx, dgamma and dbeta that follow from g.
type ResidualBackwardOp struct{ Eps float32 }

func (ResidualBackwardOp) name() string { return "batch-norm+add+relu-backward" }

func (ResidualBackwardOp) overwrites() int { return 0 }

func (ResidualBackwardOp) infer(in []Type) ([]Type, error) {
	return []Type{in[0], in[2], in[5], in[6]}, nil
}

func (ResidualBackwardOp) cost(in, out []Type) Cost {
	return cost(9*int64(in[0].Shape.Elems()), in, out)
}

func (o ResidualBackwardOp) host(h *Host, in, _ []Type) Kernel {
	channels := lastAxis(in[0])
	v := h.batchNorm(in[0].Shape.Elems()/channels, channels)
	return Kernel{Run: func(a *Args) {
		v.BackwardAdd(a.Out[0].F, a.Out[1].F, a.Out[2].F, a.Out[3].F, a.In[0].F, a.In[1].F,
			a.In[2].F, a.In[3].F, a.In[4].F, a.In[5].F, a.In[6].F, o.Eps)
	}}
}
