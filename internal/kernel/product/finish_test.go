package product_test

import (
	"slices"
	"testing"

	"lockstep/compute"
	"lockstep/internal/kernel/kerneltest"
	"lockstep/internal/kernel/product"
	"lockstep/internal/kernel/row"
)

// Statistics computed while a convolution runs equal those computed after it, on any number of threads.
func TestMomentsWhileHot(t *testing.T) {
	for name, s := range convShapes() {
		d := newConvData(t, s)
		rows := len(d.dy) / s.K
		mean, biased := make([]float32, s.K), make([]float32, s.K)
		unbiased, want := make([]float32, s.K), make([]float32, 3*s.K)
		for _, isa := range compute.Supported() {
			for threads := 1; threads <= 3; threads++ {
				c := kerneltest.Open(t, isa, threads)
				v, y := product.On(c).NewConv(s), make([]float32, len(d.dy))
				m := row.On(c).NewMoments(rows, s.K, v.FinishRows())
				m.Start(y)
				v.Forward(y, d.x, d.w, nil, false, m, make([]float32, v.ScratchFloats()))
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
	for name, s := range map[string]product.ConvShape{
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
			c := kerneltest.Open(t, compute.Best(), threads)
			v := product.On(c).NewConv(s)
			y := filled(t, s.N*s.OutH()*s.OutW()*s.K, nan)
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
