//go:build cuda && linux

package dnn

import (
	"fmt"
	"runtime"

	"lockstep/internal/cuda"
)

// descriptor is an object of cuDNN's backend interface. It has attributes, and is ready when finalized.
type descriptor uintptr

// Kinds of descriptors, from cudnn_graph.h.
const (
	kindConvolution     = 1
	kindEngine          = 2
	kindConfiguration   = 3
	kindHeuristic       = 4
	kindPlan            = 5
	kindKnobChoice      = 7
	kindForward         = 10
	kindBackwardWeights = 11
	kindBackwardData    = 12
	kindGraph           = 15
	kindPack            = 16
	kindTensor          = 17
)

// Types of attributes.
const (
	typeHandle     = 0
	typeDType      = 1
	typeInt64      = 3
	typeFloat      = 4
	typePointer    = 6
	typeConvMode   = 7
	typeHeuristic  = 8
	typeKnob       = 9
	typeNote       = 11
	typeDescriptor = 15
)

// Attributes.
const (
	convolutionType     = 100
	convolutionMode     = 101
	convolutionDilation = 102
	convolutionStride   = 103
	convolutionPadEnd   = 104
	convolutionPadStart = 105
	convolutionDims     = 106

	heuristicMode    = 200
	heuristicGraph   = 201
	heuristicResults = 202

	configurationEngine = 300
	configurationKnobs  = 302

	planHandle        = 400
	planConfiguration = 401
	planWorkspace     = 402

	knobType  = 600
	knobValue = 601

	graphHandle = 800
	graphOps    = 801

	tensorAlignment = 900
	tensorType      = 901
	tensorSizes     = 902
	tensorStrides   = 903
	tensorID        = 906

	packIDs       = 1000
	packPointers  = 1001
	packWorkspace = 1003

	engineIndex = 1301
	engineNotes = 1303
)

// attribute is a value for an attribute of a descriptor.
type attribute struct {
	number, kind uintptr
	count        int
	at           uintptr
	value        any // keeps alive what is at the address
}

// one returns an attribute of one element.
func one[T any](number, kind uintptr, value T) attribute { return many(number, kind, value) }

// many returns an attribute of several elements.
func many[T any](number, kind uintptr, values ...T) attribute {
	held := append([]T(nil), values...)
	return attribute{number, kind, len(held), cuda.Address(&held[0]), held}
}

// builder makes descriptors, and keeps them all. It keeps the first error, after which it makes no more.
type builder struct {
	library *Library
	made    []descriptor
	err     error
}

// empty returns a descriptor without attributes.
func (b *builder) empty(kind uintptr) descriptor {
	if b.err != nil {
		return 0
	}
	d, err := b.library.newDescriptor(kind)
	if err != nil {
		b.err = err
		return 0
	}
	b.made = append(b.made, d)
	return d
}

// build returns a finalized descriptor.
func (b *builder) build(kind uintptr, attributes ...attribute) descriptor {
	d := b.empty(kind)
	for _, a := range attributes {
		if b.err != nil {
			return 0
		}
		status := b.library.f.set.Call(uintptr(d), a.number, a.kind, uintptr(a.count), a.at)
		runtime.KeepAlive(a.value)
		if err := b.library.check("cudnnBackendSetAttribute", status); err != nil {
			b.err = fmt.Errorf("%w (descriptor %d, attribute %d)", err, kind, a.number)
		}
	}
	if b.err != nil {
		return 0
	}
	if err := b.library.check("cudnnBackendFinalize", b.library.f.finalize.Call(uintptr(d))); err != nil {
		b.err = fmt.Errorf("%w (descriptor %d)", err, kind)
	}
	return d
}

// free frees what the builder has made, last first.
func (b *builder) free() {
	for i := len(b.made) - 1; i >= 0; i-- {
		b.library.freeDescriptor(b.made[i])
	}
	b.made = nil
}

func (l *Library) newDescriptor(kind uintptr) (descriptor, error) {
	var d descriptor
	status := l.f.makeDescriptor.Call(kind, cuda.Address(&d))
	return d, l.check("cudnnBackendCreateDescriptor", status)
}

func (l *Library) freeDescriptor(d descriptor) { l.f.freeDescriptor.Call(uintptr(d)) }

// read reads an attribute of a finalized descriptor into values, and returns how many elements it has. Where
// the elements are descriptors, values holds empty ones of the right kind.
func read[T any](f cuda.Func, d descriptor, number, kind uintptr, values []T) (int, int32) {
	var count int64
	var at uintptr
	if len(values) > 0 {
		at = cuda.Address(&values[0])
	}
	status := f.Call(uintptr(d), number, kind, uintptr(len(values)), cuda.Address(&count), at)
	runtime.KeepAlive(values)
	return int(count), status
}
