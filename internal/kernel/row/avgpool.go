package row

import "lockstep/compute"

// AvgPool is the plan of the mean over whole maps x of the shape [n, pixels, channels], and of its
// gradient. Its methods give the same bits for any number of threads and on every ISA, and allocate
// nothing.
type AvgPool struct {
	cpu                 *CPU
	n, pixels, channels int
	from, to            []float32 // operands of the call in progress
}

// NewAvgPool plans means over maps, all sizes at least 1.
func (c *CPU) NewAvgPool(n, pixels, channels int) *AvgPool {
	mustShape("average pool", n*pixels, channels)
	return &AvgPool{cpu: c, n: n, pixels: pixels, channels: channels}
}

// Forward computes y[n,c] = (sum over p of x[n,p,c]) * (1/pixels), the sum in the order of the pixels.
func (p *AvgPool) Forward(y, x []float32) {
	MustLen("average pool", "y", len(y), p.n*p.channels)
	MustLen("average pool", "x", len(x), p.n*p.pixels*p.channels)
	p.from, p.to = x, y
	p.cpu.Share((*averageForward)(p), len(x))
	p.from, p.to = nil, nil
}

// Backward computes dx[n,p,c] = dy[n,c] * (1/pixels).
func (p *AvgPool) Backward(dx, dy []float32) {
	MustLen("average pool backward", "dy", len(dy), p.n*p.channels)
	MustLen("average pool backward", "dx", len(dx), p.n*p.pixels*p.channels)
	p.from, p.to = dy, dx
	p.cpu.Share((*averageBackward)(p), len(dx))
	p.from, p.to = nil, nil
}

// The two directions, each a Task over maps.
type (
	averageForward  AvgPool
	averageBackward AvgPool
)

// Do averages a run of maps.
func (p *averageForward) Do(_, part, parts int) {
	ops, c := &p.cpu.ops.Element, p.channels
	lo, hi := compute.Span(p.n, part, parts)
	for n := lo; n < hi; n++ {
		sum, x := p.to[n*c:(n+1)*c], p.from[n*p.pixels*c:(n+1)*p.pixels*c]
		clear(sum)
		for ; len(x) > 0; x = x[c:] {
			ops.Add(sum, sum, x[:c])
		}
		ops.Scale(sum, sum, 1/float32(p.pixels))
	}
}

// Do spreads the gradient over a run of maps.
func (p *averageBackward) Do(_, part, parts int) {
	ops, c := &p.cpu.ops.Element, p.channels
	lo, hi := compute.Span(p.n, part, parts)
	for n := lo; n < hi; n++ {
		dx := p.to[n*p.pixels*c : (n+1)*p.pixels*c]
		ops.Scale(dx[:c], p.from[n*c:(n+1)*c], 1/float32(p.pixels))
		for i := c; i < len(dx); i += c {
			copy(dx[i:i+c], dx[:c])
		}
	}
}
