package optim

import (
	"math"

	"lockstep/compute"
	"lockstep/internal/kernel/row"
)

// norm computes Euclidean norms in an order that depends on the length alone.
type norm struct{ squares *row.Squares }

// newNorm returns a norm for vectors up to the largest layer.
func newNorm(cpu *compute.CPU, layers []layer) norm {
	return norm{row.On(cpu).NewSquares(largest(layers))}
}

// of returns the root of the sum of the squares of x.
func (n norm) of(x []float32) float64 { return math.Sqrt(n.squares.Sum(x)) }

// largest returns the length of the longest layer.
func largest(layers []layer) int {
	n := 0
	for _, l := range layers {
		n = max(n, l.Len)
	}
	return n
}

// Clip scales gradients down to a maximum global norm, as torch.nn.utils.clip_grad_norm_ does.
type Clip struct {
	most float64
	norm norm
}

// NewClip returns a Clip to the maximum norm most, above 0, for gradients of n values.
func NewClip(most float64, cpu *compute.CPU, n int) *Clip {
	return &Clip{most, norm{row.On(cpu).NewSquares(n)}}
}

// Scale returns scale * min(1, most/(|g*scale| + 1e-6)): the factor that turns the summed gradient
// g into the clipped mean, where scale turns it into the mean. |x| is the root of the sum of
// squares over all parameters. It takes one pass over g and allocates nothing.
func (c *Clip) Scale(g []float32, scale float32) float32 {
	return c.ScaleOf(c.norm.squares.Sum(g), scale)
}

// ScaleOf is Scale for a gradient that lies elsewhere, by the sum of its squares.
func (c *Clip) ScaleOf(squares float64, scale float32) float32 {
	return float32(float64(scale) * min(1, c.most/(float64(math.Sqrt(squares)*float64(scale))+1e-6)))
}
