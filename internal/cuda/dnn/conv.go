//go:build cuda && linux

package dnn

import "fmt"

// DType is the type of a tensor's elements.
type DType int

// The types of elements.
const (
	F32 DType = iota
	BF16
)

// String returns "f32" or "bf16".
func (t DType) String() string { return [...]string{"f32", "bf16"}[t] }

// code returns the type as a cudnnDataType_t.
func (t DType) code() int32 {
	if t == BF16 {
		return 9
	}
	return 0
}

// Conv is a convolution of N maps of H rows, W columns and C channels with K filters of R rows and S columns:
//
//	y[n, p, q, k] = Σ x[n, p*Stride-Pad+r, q*Stride-Pad+s, c] * w[k, r, s, c],
//
// the sum over r, s and c, where x is 0 outside of its H rows and W columns.
type Conv struct{ N, H, W, C, K, R, S, Stride, Pad int }

// P returns the number of rows of y.
func (c Conv) P() int { return (c.H+2*c.Pad-c.R)/c.Stride + 1 }

// Q returns the number of columns of y.
func (c Conv) Q() int { return (c.W+2*c.Pad-c.S)/c.Stride + 1 }

// String describes the convolution for errors.
func (c Conv) String() string {
	return fmt.Sprintf("x [%d,%d,%d,%d], w [%d,%d,%d,%d], stride %d, pad %d",
		c.N, c.H, c.W, c.C, c.K, c.R, c.S, c.C, c.Stride, c.Pad)
}

// Pass says which of x, w and y is computed from the other two.
type Pass int

const (
	// Forward computes y.
	Forward Pass = iota
	// BackwardData computes x, the gradient of the maps, from y, the gradient of the result.
	BackwardData
	// BackwardWeights computes w, the gradient of the filters, from y, the gradient of the result.
	BackwardWeights
)

// String returns the pass's name.
func (p Pass) String() string { return [...]string{"forward", "backward data", "backward weights"}[p] }

// operations describes the operation of each pass: its kind of descriptor and its attributes.
var operations = [...]struct{ kind, alpha, beta, convolution, w, x, y uintptr }{
	Forward:         {kindForward, 700, 701, 702, 703, 704, 705},
	BackwardData:    {kindBackwardData, 706, 707, 708, 709, 710, 711},
	BackwardWeights: {kindBackwardWeights, 712, 713, 714, 715, 716, 717},
}

// Numbers that name the tensors.
const (
	idX int64 = 1 + iota
	idY
	idW
)

const alignmentBytes int64 = 16

// tensor describes a tensor of sizes [n, h, w, c], stored in this order; cuDNN lists the channels second.
func (b *builder) tensor(id int64, t DType, n, h, w, c int) descriptor {
	N, H, W, C := int64(n), int64(h), int64(w), int64(c)
	return b.build(kindTensor,
		one(tensorID, typeInt64, id),
		one(tensorType, typeDType, t.code()),
		one(tensorAlignment, typeInt64, alignmentBytes),
		many(tensorSizes, typeInt64, N, C, H, W),
		many(tensorStrides, typeInt64, H*W*C, 1, W*C, C))
}

// operation describes one pass as an operation.
func (b *builder) operation(c Conv, pass Pass, in, out DType) descriptor {
	x, y, w := in, in, in
	switch pass {
	case Forward:
		y = out
	case BackwardData:
		x = out
	case BackwardWeights:
		w = out
	}
	xs := b.tensor(idX, x, c.N, c.H, c.W, c.C)
	ys := b.tensor(idY, y, c.N, c.P(), c.Q(), c.K)
	ws := b.tensor(idW, w, c.K, c.R, c.S, c.C)
	stride, pad := int64(c.Stride), int64(c.Pad)
	const crossCorrelation int32 = 1
	convolution := b.build(kindConvolution,
		one(convolutionDims, typeInt64, int64(2)),
		one(convolutionType, typeDType, F32.code()),
		one(convolutionMode, typeConvMode, crossCorrelation),
		many(convolutionPadStart, typeInt64, pad, pad),
		many(convolutionPadEnd, typeInt64, pad, pad),
		many(convolutionStride, typeInt64, stride, stride),
		many(convolutionDilation, typeInt64, int64(1), int64(1)))
	o := operations[pass]
	return b.build(o.kind,
		one(o.x, typeDescriptor, xs),
		one(o.y, typeDescriptor, ys),
		one(o.w, typeDescriptor, ws),
		one(o.convolution, typeDescriptor, convolution),
		one(o.alpha, typeFloat, float32(1)),
		one(o.beta, typeFloat, float32(0)))
}

// graph describes one pass as a graph of one operation.
func (b *builder) graph(c Conv, pass Pass, in, out DType) descriptor {
	operation := b.operation(c, pass, in, out)
	return b.build(kindGraph,
		one(graphHandle, typeHandle, b.library.handle),
		one(graphOps, typeDescriptor, operation))
}
