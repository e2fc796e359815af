package row

import "lockstep/compute"

// Note: sums by the producer
//
// Backward's first pass over dy can be taken by the product that computes dy, block by block while the block
// is in a cache: StartSums, then Finish of every block or SumAll, then Sums, and in place of Backward
// BackwardSummed. The blocks and the order within them are those of the pass, so the bits are the same. A
// thread may begin a block before all its rows are computed (Begin), while these are in the nearest cache.

// begunBlock is the block whose sums are in a thread's accumulators, and the first wide row that is not.
type begunBlock struct{ block, next int }

// StartSums names the operands of the sums of dy, which is computed from here on. x to eps are Backward's.
// If z is not nil, it is the result of NormalizeAdd with a ReLU, relu is false, and dy becomes g of
// BackwardAdd in its place.
func (p *BatchNorm) StartSums(dy, z, x, mean, variance, gamma, beta []float32, eps float32, relu bool) {
	p.mustChannels("sums", mean, variance, gamma, beta)
	MustLen("batch norm sums", "x", len(x), p.rows*p.cols)
	MustLen("batch norm sums", "dy", len(dy), len(x))
	if z != nil {
		MustLen("batch norm sums", "z", len(z), len(x))
	}
	p.prepare(mean, variance, gamma, beta, eps)
	p.grad, p.g, p.z, p.x, p.relu = dy, dy, z, x, relu
	for i := range p.begun {
		p.begun[i].block = -1
	}
}

// BlockRows returns how many rows of dy each call of Finish takes, or 0 if blocks are of several sizes: then
// only SumAll can take them.
func (p *BatchNorm) BlockRows() int { return p.blockRows() }

// Finish takes the sums of a block of dy. Several may be taken at a time, on different threads.
func (p *BatchNorm) Finish(thread, block int) { p.Begin(thread, block, p.blockRows()) }

// Begin takes into the sums of a block what its first rows rows add to those that the thread took before.
func (p *BatchNorm) Begin(thread, block, rows int) {
	begun := &p.begun[thread]
	first, last := compute.Span(p.wides(), block, p.blocks)
	if begun.block != block {
		*begun = begunBlock{block, first}
	}
	to := min(first+rows*p.cols/p.wide, last)
	if begun.next < to {
		p.sumPart(thread, block, begun.next, to, p.cpu.ops.Element.Add, (*normSums)(p).take)
		begun.next = to
	}
}

// Reads returns the maps beside dy that Finish reads.
func (p *BatchNorm) Reads() [2][]float32 { return [2][]float32{p.x, p.z} }

// SumAll takes the sums of all blocks: one pass, 8 bytes read per element, or with z 12 and 4 written.
func (p *BatchNorm) SumAll() { p.cpu.Share((*normSums)(p), len(p.x)) }

// Sums writes the sums over all rows, [2, channels]: those of g, then those of g*(x-mean).
func (p *BatchNorm) Sums(sums []float32) {
	MustLen("batch norm sums", "sums", len(sums), 2*p.cols)
	copy(sums, p.total(p.cpu.ops.Element.Add))
	p.grad, p.g, p.z, p.x = nil, nil, nil, nil
}

// BackwardSummed is Backward for sums that are known. One pass: 8 bytes read and 4 written per element.
func (p *BatchNorm) BackwardSummed(dx, dgamma, dbeta, dy, x, mean, variance, gamma, beta, sums []float32,
	eps float32, relu bool) {
	p.mustChannels("backward", dgamma, dbeta, mean, variance, gamma, beta)
	MustLen("batch norm backward", "x", len(x), p.rows*p.cols)
	MustLen("batch norm backward", "dy", len(dy), len(x))
	MustLen("batch norm backward", "dx", len(dx), len(x))
	MustLen("batch norm backward", "sums", len(sums), 2*p.cols)
	p.prepare(mean, variance, gamma, beta, eps)
	p.out, p.grad, p.x, p.relu, p.past = dx, dy, x, relu, p.goesPast(dx)
	p.finish(sums, dgamma, dbeta, variance, eps)
	p.cpu.Share((*normGrad)(p), len(x))
	p.out, p.grad, p.x = nil, nil, nil
}
