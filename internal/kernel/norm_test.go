package kernel_test

import (
	"fmt"
	"math"
	"testing"

	"lockstep/internal/kernel"
)

const eps = 1e-5

// normCase is one batch normalisation, forward and backward.
type normCase struct {
	rows, channels       int
	relu                 bool
	x, dy, gamma, beta   []float32
	mean, variance, y    []float32
	unbiased             []float32
	dx, dgamma, dbeta    []float32
	wantMean, wantVar    []float64
	wantY, wantDX        []float64
	wantDGamma, wantBeta []float64
}

func newNormCase(t testing.TB, rows, channels int, offset float64, relu bool) *normCase {
	n := rows * channels
	k := &normCase{rows: rows, channels: channels, relu: relu,
		x: draw(t, n, offset, 1), dy: draw(t, n, 0.1, 2),
		gamma: draw(t, channels, 1, 3), beta: draw(t, channels, 0, 4),
		mean: floats(t, channels), variance: floats(t, channels), y: floats(t, n),
		unbiased: floats(t, channels),
		dx:       floats(t, n), dgamma: floats(t, channels), dbeta: floats(t, channels)}
	return k
}

func (k *normCase) run(c *kernel.CPU) { k.pass(k.plan(c)) }

// plan plans the statistics and the normalisation.
func (k *normCase) plan(c *kernel.CPU) (*kernel.Moments, *kernel.BatchNorm) {
	return c.NewMoments(k.rows, k.channels, max(1, 1500/k.channels)), c.NewBatchNorm(k.rows, k.channels)
}

func (k *normCase) pass(m *kernel.Moments, p *kernel.BatchNorm) {
	m.Run(k.mean, k.variance, k.unbiased, k.x)
	p.Normalize(k.y, k.x, k.mean, k.variance, k.gamma, k.beta, eps, k.relu)
	p.Backward(k.dx, k.dgamma, k.dbeta, k.dy, k.x, k.mean, k.variance, k.gamma, k.beta, eps, k.relu)
}

// exact computes the same in float64 by the textbook formulas.
func (k *normCase) exact() {
	n, c := float64(k.rows), k.channels
	mean, variance := make([]float64, c), make([]float64, c)
	dgamma, dbeta := make([]float64, c), make([]float64, c)
	y, dx := make([]float64, len(k.x)), make([]float64, len(k.x))
	for i, v := range k.x {
		mean[i%c] += float64(v) / n
	}
	for i, v := range k.x {
		variance[i%c] += (float64(v) - mean[i%c]) * (float64(v) - mean[i%c]) / n
	}
	xh := func(i int) float64 {
		return (float64(k.x[i]) - mean[i%c]) / math.Sqrt(variance[i%c]+eps)
	}
	grad := func(i int) float64 {
		if k.relu && k.y[i] <= 0 {
			return 0
		}
		return float64(k.dy[i])
	}
	for i := range k.x {
		y[i] = xh(i)*float64(k.gamma[i%c]) + float64(k.beta[i%c])
		if k.relu {
			y[i] = max(y[i], 0)
		}
		dbeta[i%c] += grad(i)
		dgamma[i%c] += grad(i) * xh(i)
	}
	for i := range k.x {
		j := i % c
		scale := float64(k.gamma[j]) / math.Sqrt(variance[j]+eps)
		dx[i] = scale * (grad(i) - dbeta[j]/n - xh(i)*dgamma[j]/n)
	}
	k.wantMean, k.wantVar, k.wantY, k.wantDX = mean, variance, y, dx
	k.wantDGamma, k.wantBeta = dgamma, dbeta
}

func TestBatchNormAgainstFloat64(t *testing.T) {
	plain := open(t, kernel.Plain, 1)
	for _, m := range matrices {
		for _, relu := range []bool{false, true} {
			if m[0] == 1 {
				continue // no variance: 0/0 in all but eps
			}
			what := fmt.Sprint(m, relu)
			k := newNormCase(t, m[0], m[1], 0.5, relu)
			k.run(plain)
			k.exact()
			rows := float64(m[0])
			near(t, what+" mean", k.mean, k.wantMean, 1e-6, 1)
			near(t, what+" variance", k.variance, k.wantVar, 2e-6, 1e-3)
			near(t, what+" y", k.y, k.wantY, 1e-5, 1)
			near(t, what+" dgamma", k.dgamma, k.wantDGamma, 2e-6, rows)
			near(t, what+" dbeta", k.dbeta, k.wantBeta, 2e-6, rows)
			if m[0] > 4 { // with less the gradient is a difference of nearly equal numbers
				near(t, what+" dx", k.dx, k.wantDX, 2e-5, 1)
			}
		}
	}
}

func TestBatchNormEverywhereTheSame(t *testing.T) {
	plain := open(t, kernel.Plain, 1)
	everywhere(t, func(t *testing.T, c *kernel.CPU) {
		for _, m := range matrices {
			for _, relu := range []bool{false, true} {
				got := newNormCase(t, m[0], m[1], 0.5, relu)
				want := newNormCase(t, m[0], m[1], 0.5, relu)
				want.run(plain)
				moments, p := got.plan(c)
				for range 2 { // a plan can be used again
					got.pass(moments, p)
					what := fmt.Sprint(m, relu)
					sameBits(t, what+" mean", got.mean, want.mean)
					sameBits(t, what+" variance", got.variance, want.variance)
					sameBits(t, what+" unbiased", got.unbiased, want.unbiased)
					sameBits(t, what+" y", got.y, want.y)
					sameBits(t, what+" dgamma", got.dgamma, want.dgamma)
					sameBits(t, what+" dbeta", got.dbeta, want.dbeta)
					sameBits(t, what+" dx", got.dx, want.dx)
				}
			}
		}
	})
}

func TestBatchNormInPlace(t *testing.T) {
	c := open(t, kernel.Best(), 2)
	k := newNormCase(t, 300, 20, 0, true)
	k.run(c)
	p := c.NewBatchNorm(k.rows, k.channels)
	dx := clone(t, k.dy)
	p.Backward(dx, k.dgamma, k.dbeta, dx, k.x, k.mean, k.variance, k.gamma, k.beta, eps, true)
	sameBits(t, "dx in dy", dx, k.dx)
	x := clone(t, k.x)
	p.Normalize(x, x, k.mean, k.variance, k.gamma, k.beta, eps, true)
	sameBits(t, "y in x", x, k.y)
}

// A residual in the same pass gives the bits of the passes one after the other.
func TestBatchNormAddIsNormAddReLU(t *testing.T) {
	everywhere(t, func(t *testing.T, c *kernel.CPU) {
		for _, m := range matrices {
			k := newNormCase(t, m[0], m[1], 0.5, false)
			moments, p := k.plan(c)
			k.pass(moments, p)
			what := fmt.Sprint(m)
			r, z, g := draw(t, len(k.x), 0, 7), floats(t, len(k.x)), floats(t, len(k.x))
			odd(r, 8)
			c.Add(k.y, k.y, r)
			p.NormalizeAdd(z, k.x, r, k.mean, k.variance, k.gamma, k.beta, eps, false)
			sameBits(t, what+" sum", z, k.y)
			c.ReLU(k.y, k.y)
			p.NormalizeAdd(r, k.x, r, k.mean, k.variance, k.gamma, k.beta, eps, true)
			sameBits(t, what+" relu in r", r, k.y)

			c.ReLUBackward(g, k.dy, k.y)
			p.Backward(k.dx, k.dgamma, k.dbeta, g, k.x, k.mean, k.variance, k.gamma, k.beta, eps, false)
			dx, dgamma, dbeta := floats(t, len(k.x)), floats(t, m[1]), floats(t, m[1])
			p.BackwardAdd(k.dy, dx, dgamma, dbeta, k.dy, k.y, k.x, k.mean, k.variance, k.gamma, k.beta,
				eps)
			sameBits(t, what+" g in dz", k.dy, g)
			sameBits(t, what+" dgamma", dgamma, k.dgamma)
			sameBits(t, what+" dbeta", dbeta, k.dbeta)
			sameBits(t, what+" dx", dx, k.dx)
		}
	})
}

func TestBatchNormDoesNotAllocate(t *testing.T) {
	c := open(t, kernel.Best(), 2)
	k := newNormCase(t, 3000, 32, 0, true)
	m, p := k.plan(c)
	if n := testing.AllocsPerRun(10, func() {
		k.pass(m, p)
		p.NormalizeAdd(k.y, k.x, k.dy, k.mean, k.variance, k.gamma, k.beta, eps, true)
		p.BackwardAdd(k.dy, k.dx, k.dgamma, k.dbeta, k.dy, k.y, k.x, k.mean, k.variance, k.gamma,
			k.beta, eps)
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}
