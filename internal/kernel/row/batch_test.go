package row_test

import (
	"fmt"
	"testing"

	"lockstep/compute"
	"lockstep/internal/kernel/kerneltest"
	"lockstep/internal/kernel/row"
)

// The map of an image in the tests below.
const (
	batchSide, batchChannels = 8, 10
	batchFloats              = batchSide * batchSide * batchChannels
)

// batchOp computes out, of size floats for each image, from the maps of images one after another.
type batchOp struct {
	name string
	size int
	run  func(c *row.CPU, out, x []float32, images int)
}

// batchOps lists what computes an image from its own map alone, with the parameters p, 4 for each channel.
func batchOps(p []float32) []batchOp {
	const side, channels, eps = batchSide, batchChannels, 1e-5
	mean, variance := p[:channels], p[channels:2*channels]
	gamma, beta := p[2*channels:3*channels], p[3*channels:]
	pool := func(images, size, stride, pad int) row.PoolShape {
		return row.PoolShape{N: images, H: side, W: side, C: channels, Size: size, Stride: stride, Pad: pad}
	}
	pairs, pixels := side/2*side/2*channels, side*side
	return []batchOp{
		{"batch norm", batchFloats, func(c *row.CPU, out, x []float32, n int) {
			c.NewBatchNorm(n*pixels, channels).Normalize(out, x, mean, variance, gamma, beta, eps, true)
		}},
		{"batch norm and residual", batchFloats, func(c *row.CPU, out, x []float32, n int) {
			c.NewBatchNorm(n*pixels, channels).NormalizeAdd(out, x, x, mean, variance, gamma, beta, eps, true)
		}},
		{"norm pool", pairs, func(c *row.CPU, out, x []float32, n int) {
			c.NewNormPool(pool(n, 2, 2, 0)).Forward(out, x, mean, variance, gamma, beta, eps)
		}},
		{"max pool of pairs", pairs, func(c *row.CPU, out, x []float32, n int) {
			c.NewMaxPool(pool(n, 2, 2, 0)).Forward(out, x)
		}},
		{"max pool", pairs, func(c *row.CPU, out, x []float32, n int) {
			c.NewMaxPool(pool(n, 3, 2, 1)).Forward(out, x)
		}},
		{"average pool", channels, func(c *row.CPU, out, x []float32, n int) {
			c.NewAvgPool(n, pixels, channels).Forward(out, x)
		}},
		{"softmax cross entropy", 1, func(c *row.CPU, out, x []float32, n int) {
			c.SoftmaxCrossEntropy(out, nil, x, make([]int32, n), batchFloats, 0.1)
		}},
		{"layer norm", batchFloats, func(c *row.CPU, out, x []float32, n int) {
			r := row.Rows{Starts: []int32{0, int32(n * pixels)}}
			moments := make([]float32, 2*n*pixels)
			c.NewLayerNorm(channels, eps).Forward(out, x, moments, x, nil, gamma, beta, r, row.Dropout{})
		}},
		{"gelu", batchFloats, func(c *row.CPU, out, x []float32, _ int) { c.GELU(out, x) }},
		{"relu", batchFloats, func(c *row.CPU, out, x []float32, _ int) { c.ReLU(out, x) }},
		{"tanh", batchFloats, func(c *row.CPU, out, x []float32, _ int) { c.Tanh(out, x) }},
	}
}

// An image gets the same bits in every batch.
func TestImageBitsByBatch(t *testing.T) {
	const images = 23
	x, p := kerneltest.Draw(t, images*batchFloats, 0, 1), kerneltest.Draw(t, 4*batchChannels, 0, 2)
	for i := range batchChannels { // a variance is positive
		p[batchChannels+i] = 0.5 + p[batchChannels+i]*p[batchChannels+i]
	}
	kerneltest.Everywhere(t, func(t *testing.T, c *compute.CPU) {
		for _, op := range batchOps(p) {
			want := make([]float32, images*op.size)
			op.run(row.On(c), want, x, images)
			for _, n := range []int{1, 2, 5, 16, 22} {
				got := make([]float32, len(want))
				for first := 0; first < images; first += n {
					k := min(n, images-first)
					out, in := got[first*op.size:][:k*op.size], x[first*batchFloats:][:k*batchFloats]
					op.run(row.On(c), out, in, k)
				}
				kerneltest.SameBits(t, fmt.Sprintf("%s in batches of %d", op.name, n), got, want)
			}
		}
	})
}
