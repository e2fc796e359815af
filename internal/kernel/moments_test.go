package kernel_test

import (
	"slices"
	"testing"

	"lockstep/internal/kernel"
)

// A mean a thousand deviations away must not eat the variance, and one wild row among those of a
// pilot only a few bits of it.
func TestMomentsKeepTheVariance(t *testing.T) {
	c := open(t, kernel.Best(), 2)
	for spike, tolerance := range map[float32]float64{0: 2e-6, 1e4: 3e-5} {
		k := newNormCase(t, 20000, 48, 1000, false)
		for i := range 48 {
			k.x[i] = 1000 + spike
		}
		m := c.NewMoments(k.rows, k.channels, kernel.FinishRows(1, k.channels))
		m.Run(k.mean, k.variance, k.unbiased, k.x)
		k.exact()
		near(t, "mean", k.mean, k.wantMean, 1e-7, 1)
		near(t, "variance", k.variance, k.wantVar, tolerance, 1e-3)
		for i := range k.wantVar {
			k.wantVar[i] *= 20000.0 / 19999
		}
		near(t, "unbiased variance", k.unbiased, k.wantVar, tolerance, 1e-3)
	}
}

// Rows that drift, as no single pilot could follow.
func TestMomentsFollowADrift(t *testing.T) {
	c := open(t, kernel.Best(), 1)
	k := newNormCase(t, 5000, 7, 0, false)
	for i := range k.x {
		k.x[i] += float32(i / 7)
	}
	k.exact()
	c.NewMoments(5000, 7, 100).Run(k.mean, k.variance, k.unbiased, k.x)
	near(t, "mean", k.mean, k.wantMean, 1e-6, 1)
	near(t, "variance", k.variance, k.wantVar, 1e-6, 1)
}

// Moments taken while a convolution runs are those taken after it, on any number of threads.
func TestMomentsWhileHot(t *testing.T) {
	for name, s := range convShapes() {
		d := newConvData(s)
		rows := len(d.y) / s.K
		mean, biased := make([]float32, s.K), make([]float32, s.K)
		unbiased, want := make([]float32, s.K), make([]float32, 3*s.K)
		for _, isa := range kernel.Supported() {
			for threads := 1; threads <= 3; threads++ {
				c := open(t, isa, threads)
				v, y := c.NewConv(s), make([]float32, len(d.y))
				m := c.NewMoments(rows, s.K, v.FinishRows())
				m.Start(y)
				v.Forward(y, d.x.s, d.w.s, nil, false, m, make([]float32, v.ScratchFloats()))
				m.Result(mean, biased, unbiased)
				m.Run(want[:s.K], want[s.K:2*s.K], want[2*s.K:], y)
				if !slices.Equal(slices.Concat(mean, biased, unbiased), want) {
					t.Errorf("%v %s, %d threads: hot moments differ", isa, name, threads)
				}
			}
		}
	}
}

// finishCounter counts how often each block is finished, and checks that it is complete.
type finishCounter struct {
	t     *testing.T
	y     []float32
	block int // floats
	count []int
}

func (f *finishCounter) Finish(_, block int) {
	f.count[block]++
	for _, v := range f.y[block*f.block : min((block+1)*f.block, len(f.y))] {
		if v != v {
			f.t.Errorf("block %d was finished before it was complete", block)
			return
		}
	}
}

// Every block is finished once, and complete by then, where maps are split into many blocks and
// threads meet within one.
func TestFinishOnceAndComplete(t *testing.T) {
	shapes := convShapes()
	for name, s := range map[string]kernel.ConvShape{
		"points":       {40, 8, 8, 64, 300, 1, 1, 1, 0},
		"large images": {2, 31, 30, 20, 200, 3, 3, 1, 1},
		"small images": {47, 5, 5, 32, 130, 3, 3, 2, 1},
		"by blocks":    {6, 2, 2, 256, 192, 3, 3, 1, 1},
		"side by side": {9, 64, 48, 3, 6, 5, 5, 1, 2},
		"pieces":       {3, 40, 40, 3, 64, 5, 5, 2, 2},
	} {
		shapes[name] = s
	}
	for name, s := range shapes {
		x, w := make([]float32, s.N*s.H*s.W*s.C), make([]float32, s.R*s.S*s.C*s.K)
		for threads := 1; threads <= 5; threads++ {
			c := open(t, kernel.Best(), threads)
			v := c.NewConv(s)
			y := newGuarded(s.N*s.OutH()*s.OutW()*s.K, nan).s
			block := v.FinishRows() * s.K
			f := &finishCounter{t, y, block, make([]int, (len(y)+block-1)/block)}
			v.Forward(y, x, w, nil, false, f, make([]float32, v.ScratchFloats()))
			for b, n := range f.count {
				if n != 1 {
					t.Errorf("%s, %d threads: block %d of %d was finished %d times", name, threads, b,
						len(f.count), n)
				}
			}
		}
	}
}
