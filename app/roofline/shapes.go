package roofline

import (
	"fmt"
	"time"

	"lockstep/app/evidence/compare"
	"lockstep/compute"
	"lockstep/internal/kernel/product"
	"lockstep/internal/kernel/row"
	"lockstep/random"
)

// call is a kernel of a fixed shape, ready to be timed.
type call struct {
	timing compare.Timing
	run    func()
}

// family prepares the calls of one plan. Families are made one after the other, so that the memory
// of one is gone before the next.
type family struct {
	name  string
	calls func(c *compute.CPU) []call
}

// families lists the shapes, the same for every machine and model so that machines can be compared.
func families() []family {
	conv := func(name string, s product.ConvShape) family {
		return family{name, func(c *compute.CPU) []call { return convCalls(c, name, s) }}
	}
	return []family{
		conv("gemm", product.ConvShape{N: 512, H: 1, W: 1, C: 512, K: 512, R: 1, S: 1, Stride: 1}),
		conv("1x1", product.ConvShape{N: 8, H: 32, W: 32, C: 64, K: 256, R: 1, S: 1, Stride: 1}),
		conv("1x1", product.ConvShape{N: 8, H: 8, W: 8, C: 1024, K: 256, R: 1, S: 1, Stride: 1}),
		conv("3x3", product.ConvShape{N: 4, H: 32, W: 32, C: 64, K: 64, R: 3, S: 3, Stride: 1, Pad: 1}),
		conv("3x3", product.ConvShape{N: 16, H: 8, W: 8, C: 256, K: 256, R: 3, S: 3, Stride: 1, Pad: 1}),
		conv("3x3", product.ConvShape{N: 64, H: 2, W: 2, C: 512, K: 512, R: 3, S: 3, Stride: 1, Pad: 1}),
		conv("3x3/2", product.ConvShape{N: 8, H: 32, W: 32, C: 64, K: 128, R: 3, S: 3, Stride: 2, Pad: 1}),
		conv("5x5", product.ConvShape{N: 64, H: 14, W: 14, C: 6, K: 16, R: 5, S: 5, Stride: 1, Pad: 2}),
		conv("first 3x3",
			product.ConvShape{N: 32, H: 32, W: 32, C: 3, K: 64, R: 3, S: 3, Stride: 1, Pad: 1}),
		conv("first 7x7/2",
			product.ConvShape{N: 1, H: 224, W: 224, C: 3, K: 64, R: 7, S: 7, Stride: 2, Pad: 3}),
		{"max-pool", poolCalls},
		{"batch-norm", normCalls},
		{"element-wise", elementCalls},
		{"softmax", softmaxCalls},
	}
}

// shapes times every family.
func (r *run) shapes() error {
	list, begun := families(), time.Now()
	for i, f := range list {
		if err := r.tell(f.name, i, len(list), begun); err != nil {
			return err
		}
		for _, one := range f.calls(r.cpu) {
			if r.ctx.Err() != nil {
				return r.ctx.Err()
			}
			one.timing.Seconds = r.sample(one.run)
			r.kernels.Rate(&one.timing)
			r.kernels.Shapes = append(r.kernels.Shapes, one.timing)
		}
	}
	return nil
}

// sampleTime is the least duration of a sample, long enough for the resolution of the clock.
const sampleTime = time.Millisecond

// sample returns the seconds per call, once per repeat, after a call that warms up.
func (r *run) sample(call func()) []float64 {
	call()
	calls := 1
	several := func() time.Duration {
		begin := time.Now()
		for range calls {
			call()
		}
		return time.Since(begin)
	}
	for calls < 1<<20 && several() < sampleTime {
		calls *= 2
	}
	samples := make([]float64, r.config.Repeats)
	for i := range samples {
		samples[i] = seconds(several()) / float64(calls)
	}
	return samples
}

// noise returns n values between -1 and 1; seed tells several apart.
func noise(n int, seed uint64) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = random.Stream(seed).Symmetric(uint64(i), 1)
	}
	return v
}

// bytesOf returns the size of all slices.
func bytesOf(slices ...[]float32) int64 {
	n := 0
	for _, s := range slices {
		n += 4 * len(s)
	}
	return int64(n)
}

// convCalls are the three directions of a convolution.
func convCalls(c *compute.CPU, name string, s product.ConvShape) []call {
	v := product.On(c).NewConv(s)
	x, w := noise(s.N*s.H*s.W*s.C, 1), noise(s.R*s.S*s.C*s.K, 2)
	dy := noise(s.N*s.OutH()*s.OutW()*s.K, 3)
	y, dx, dw := make([]float32, len(dy)), make([]float32, len(x)), make([]float32, len(w))
	scratch := make([]float32, v.ScratchFloats())
	shape := fmt.Sprintf("%dx%dx%dx%d %dx%dx%dx%d", s.N, s.H, s.W, s.C, s.R, s.S, s.C, s.K)
	timing := func(direction string, ofParts bool) compare.Timing {
		return compare.Timing{Op: name + direction, Shape: shape, OfParts: ofParts, FLOPs: s.FLOPs(),
			Bytes: bytesOf(x, w, y)}
	}
	data, weights := v.PartsBackward()
	return []call{
		{timing("", v.PartsForward()), func() { v.Forward(y, x, w, nil, false, nil, scratch) }},
		{timing("-backward-data", data), func() { v.BackwardData(dx, dy, w, false, scratch) }},
		{timing("-backward-weights", weights), func() { v.BackwardWeights(dw, x, dy, scratch) }},
	}
}

// poolCalls are both directions of max pooling by 2x2.
func poolCalls(c *compute.CPU) []call {
	s := row.PoolShape{N: 8, H: 32, W: 32, C: 64, Size: 2, Stride: 2}
	v := row.On(c).NewMaxPool(s)
	x, dx := noise(s.N*s.H*s.W*s.C, 1), make([]float32, s.N*s.H*s.W*s.C)
	dy := noise(s.N*s.OutH()*s.OutW()*s.C, 2)
	y := make([]float32, len(dy))
	timing := func(direction string, bytes int64) compare.Timing {
		return compare.Timing{Op: "max-pool" + direction, Shape: "8x32x32x64",
			FLOPs: int64(4 * len(y)), Bytes: bytes}
	}
	return []call{
		{timing("", bytesOf(y, x)), func() { v.Forward(y, x) }},
		{timing("-backward", bytesOf(dx, dy, x)), func() { v.Backward(dx, dy, x, false) }},
	}
}

// normCalls are the passes of batch normalisation.
func normCalls(c *compute.CPU) []call {
	const rows, channels = 8192, 64
	on := row.On(c)
	v, moments := on.NewBatchNorm(rows, channels), on.NewMoments(rows, channels, 1024)
	x, dy, y := noise(rows*channels, 1), noise(rows*channels, 2), make([]float32, rows*channels)
	mean, variance := make([]float32, channels), make([]float32, channels)
	unbiased := make([]float32, channels)
	gamma, beta := noise(channels, 3), noise(channels, 4)
	dgamma, dbeta := make([]float32, channels), make([]float32, channels)
	const eps = 1e-5
	timing := func(op string, flops, bytes int64) compare.Timing {
		return compare.Timing{Op: op, Shape: fmt.Sprintf("%dx%d", rows, channels),
			FLOPs: flops * rows * channels, Bytes: bytes}
	}
	return []call{
		{timing("batch-statistics", 3, bytesOf(x)), func() {
			moments.Run(mean, variance, unbiased, x)
		}},
		{timing("normalize+relu", 2, bytesOf(x, y)), func() {
			v.Normalize(y, x, mean, variance, gamma, beta, eps, true)
		}},
		{timing("batch-norm+relu-backward", 8, bytesOf(dy, x, y)), func() {
			v.Backward(y, dgamma, dbeta, dy, x, mean, variance, gamma, beta, eps, true)
		}},
	}
}

// elementCalls work element by element.
func elementCalls(c *compute.CPU) []call {
	rows := row.On(c)
	const n = 1 << 20
	a, b, out := noise(n, 1), noise(n, 2), make([]float32, n)
	timing := func(op string, flops int64) compare.Timing {
		return compare.Timing{Op: op, Shape: fmt.Sprint(n), FLOPs: flops * n, Bytes: bytesOf(a, b, out)}
	}
	sgd := updateTiming(n)
	return []call{
		{timing("add", 1), func() { rows.Add(out, a, b) }},
		{timing("relu-backward", 1), func() { rows.ReLUBackward(out, a, b) }},
		{sgd, func() { rows.SGD(out, a, b, rate, 0.9, 0, 1, false) }},
	}
}

// softmaxCalls are the loss of many samples of ten classes.
func softmaxCalls(c *compute.CPU) []call {
	const samples, classes = 512, 10
	logits, losses := noise(samples*classes, 1), make([]float32, samples)
	gradient, labels := make([]float32, len(logits)), make([]int32, samples)
	timing := compare.Timing{Op: "softmax-cross-entropy", Shape: fmt.Sprintf("%dx%d", samples, classes),
		FLOPs: 5 * samples * classes, Bytes: bytesOf(logits, gradient, losses)}
	rows := row.On(c)
	return []call{{timing, func() { rows.SoftmaxCrossEntropy(losses, gradient, logits, labels, classes, 0) }}}
}
