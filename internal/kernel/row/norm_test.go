package row_test

import (
	"fmt"
	"math"
	"testing"

	"lockstep/compute"
	"lockstep/internal/alloctest"
	"lockstep/internal/kernel/kerneltest"
	"lockstep/internal/kernel/row"
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
		x: kerneltest.Draw(t, n, offset, 1), dy: kerneltest.Draw(t, n, 0.1, 2),
		gamma: kerneltest.Draw(t, channels, 1, 3), beta: kerneltest.Draw(t, channels, 0, 4),
		mean: kerneltest.Floats(t, channels), variance: kerneltest.Floats(t, channels),
		y:        kerneltest.Floats(t, n),
		unbiased: kerneltest.Floats(t, channels),
		dx:       kerneltest.Floats(t, n), dgamma: kerneltest.Floats(t, channels),
		dbeta: kerneltest.Floats(t, channels)}
	return k
}

func (k *normCase) run(c *compute.CPU) { k.pass(k.plan(c)) }

// plan plans the statistics and the normalisation.
func (k *normCase) plan(c *compute.CPU) (*row.Moments, *row.BatchNorm) {
	return row.On(c).NewMoments(k.rows, k.channels, max(1, 1500/k.channels)), row.On(c).NewBatchNorm(k.rows,
		k.channels)
}

func (k *normCase) pass(m *row.Moments, p *row.BatchNorm) {
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
	plain := kerneltest.Open(t, compute.Plain, 1)
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
			kerneltest.Near(t, what+" mean", k.mean, k.wantMean, 1e-6, 1)
			kerneltest.Near(t, what+" variance", k.variance, k.wantVar, 2e-6, 1e-3)
			kerneltest.Near(t, what+" y", k.y, k.wantY, 1e-5, 1)
			kerneltest.Near(t, what+" dgamma", k.dgamma, k.wantDGamma, 2e-6, rows)
			kerneltest.Near(t, what+" dbeta", k.dbeta, k.wantBeta, 2e-6, rows)
			if m[0] > 4 { // with less the gradient is a difference of nearly equal numbers
				kerneltest.Near(t, what+" dx", k.dx, k.wantDX, 2e-5, 1)
			}
		}
	}
}

func TestBatchNormEverywhereTheSame(t *testing.T) {
	plain := kerneltest.Open(t, compute.Plain, 1)
	kerneltest.Everywhere(t, func(t *testing.T, c *compute.CPU) {
		for _, m := range matrices {
			for _, relu := range []bool{false, true} {
				got := newNormCase(t, m[0], m[1], 0.5, relu)
				want := newNormCase(t, m[0], m[1], 0.5, relu)
				want.run(plain)
				moments, p := got.plan(c)
				for range 2 { // a plan can be used again
					got.pass(moments, p)
					what := fmt.Sprint(m, relu)
					kerneltest.SameBits(t, what+" mean", got.mean, want.mean)
					kerneltest.SameBits(t, what+" variance", got.variance, want.variance)
					kerneltest.SameBits(t, what+" unbiased", got.unbiased, want.unbiased)
					kerneltest.SameBits(t, what+" y", got.y, want.y)
					kerneltest.SameBits(t, what+" dgamma", got.dgamma, want.dgamma)
					kerneltest.SameBits(t, what+" dbeta", got.dbeta, want.dbeta)
					kerneltest.SameBits(t, what+" dx", got.dx, want.dx)
				}
			}
		}
	})
}

func TestBatchNormInPlace(t *testing.T) {
	c := kerneltest.Open(t, compute.Best(), 2)
	k := newNormCase(t, 300, 20, 0, true)
	k.run(c)
	p := row.On(c).NewBatchNorm(k.rows, k.channels)
	dx := kerneltest.Clone(t, k.dy)
	p.Backward(dx, k.dgamma, k.dbeta, dx, k.x, k.mean, k.variance, k.gamma, k.beta, eps, true)
	kerneltest.SameBits(t, "dx in dy", dx, k.dx)
	x := kerneltest.Clone(t, k.x)
	p.Normalize(x, x, k.mean, k.variance, k.gamma, k.beta, eps, true)
	kerneltest.SameBits(t, "y in x", x, k.y)
}

// A residual in the same pass gives the bits of the passes one after the other.
func TestBatchNormAddIsNormAddReLU(t *testing.T) {
	kerneltest.Everywhere(t, func(t *testing.T, c *compute.CPU) {
		for _, m := range matrices {
			k := newNormCase(t, m[0], m[1], 0.5, false)
			moments, p := k.plan(c)
			k.pass(moments, p)
			what := fmt.Sprint(m)
			r, z, g := kerneltest.Draw(t, len(k.x), 0, 7), kerneltest.Floats(t, len(k.x)),
				kerneltest.Floats(t, len(k.x))
			kerneltest.Odd(r, 8)
			row.On(c).Add(k.y, k.y, r)
			p.NormalizeAdd(z, k.x, r, k.mean, k.variance, k.gamma, k.beta, eps, false)
			kerneltest.SameBits(t, what+" sum", z, k.y)
			row.On(c).ReLU(k.y, k.y)
			p.NormalizeAdd(r, k.x, r, k.mean, k.variance, k.gamma, k.beta, eps, true)
			kerneltest.SameBits(t, what+" relu in r", r, k.y)

			row.On(c).ReLUBackward(g, k.dy, k.y)
			p.Backward(k.dx, k.dgamma, k.dbeta, g, k.x, k.mean, k.variance, k.gamma, k.beta, eps, false)
			dx, dgamma, dbeta := kerneltest.Floats(t, len(k.x)), kerneltest.Floats(t, m[1]),
				kerneltest.Floats(t, m[1])
			p.BackwardAdd(k.dy, dx, dgamma, dbeta, k.dy, k.y, k.x, k.mean, k.variance, k.gamma, k.beta,
				eps)
			kerneltest.SameBits(t, what+" g in dz", k.dy, g)
			kerneltest.SameBits(t, what+" dgamma", dgamma, k.dgamma)
			kerneltest.SameBits(t, what+" dbeta", dbeta, k.dbeta)
			kerneltest.SameBits(t, what+" dx", dx, k.dx)
		}
	})
}

// Maps that go past the caches have the bits of the portable loops, whole or with a short last row.
func TestBatchNormPastTheCaches(t *testing.T) {
	plain := kerneltest.Open(t, compute.Plain, 2)
	for _, rows := range []int{16 << 10, 16<<10 + 1} {
		want := newNormCase(t, rows, 512, 0.5, true)
		want.run(plain)
		r, sum := kerneltest.Draw(t, rows*512, 0, 7), kerneltest.Floats(t, rows*512)
		row.On(plain).NewBatchNorm(rows, 512).NormalizeAdd(sum, want.x, r, want.mean, want.variance,
			want.gamma, want.beta, eps, true)
		for _, isa := range compute.Supported() {
			k := newNormCase(t, rows, 512, 0.5, true)
			m, p := k.plan(kerneltest.Open(t, isa, 2))
			if !row.GoesPast(p, k.y) || !row.GoesPast(p, k.dx) || row.GoesPast(p, k.dx[1:]) {
				t.Fatal("aligned maps of 32 MiB stay in the caches, or another one does not")
			}
			k.pass(m, p)
			kerneltest.SameBits(t, "y", k.y, want.y)
			kerneltest.SameBits(t, "dx", k.dx, want.dx)
			p.NormalizeAdd(k.y, k.x, r, k.mean, k.variance, k.gamma, k.beta, eps, true)
			kerneltest.SameBits(t, "y with a residual", k.y, sum)
		}
	}
}

func TestBatchNormDoesNotAllocate(t *testing.T) {
	c := kerneltest.Open(t, compute.Best(), 2)
	k := newNormCase(t, 3000, 32, 0, true)
	m, p := k.plan(c)
	if n := alloctest.Least(10, func() {
		k.pass(m, p)
		p.NormalizeAdd(k.y, k.x, k.dy, k.mean, k.variance, k.gamma, k.beta, eps, true)
		p.BackwardAdd(k.dy, k.dx, k.dgamma, k.dbeta, k.dy, k.y, k.x, k.mean, k.variance, k.gamma,
			k.beta, eps)
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

// Rows without sums are cut from wide ones between pixels, in whole cache lines where these can be.
func TestLeanRow(t *testing.T) {
	for _, test := range []struct{ wide, channels, want int }{
		{1024, 64, 256}, {1008, 24, 144}, {960, 80, 240}, {2048, 2048, 2048}, {1020, 6, 204}, {24, 8, 24},
		{7, 7, 7}, {1024, 512, 512}, {1000, 40, 200}, {912, 152, 912}, {864, 216, 864},
	} {
		if got := row.LeanRow(test.wide, test.channels); got != test.want {
			t.Errorf("%d of %d channels: %d, want %d", test.wide, test.channels, got, test.want)
		}
	}
}
