package graph

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"math"

	"lockstep/random"
)

// Segment is a range of a flat vector, counted in float32 values.
type Segment struct{ Offset, Len int }

// Variables hold the parameters and the state of a network, apart from any program.
//
// Segments start on a cache line; the gaps between them are zero in every vector of this layout
// and stay so.
type Variables struct {
	// Params describes the parameters in definition order; its index is the parameter number.
	Params []Param
	// Segments says where each parameter lies in Weights and in gradient vectors, by number.
	Segments []Segment
	// Order lists the parameter numbers as their gradients become final in Backward of the program that
	// these variables were made for; others that they are attached to report in this order. Segments
	// are laid out in it, so that a run of Order is one contiguous range.
	Order []int
	// Weights are the parameters, each in its stored layout.
	Weights []float32
	// States describes the state in definition order.
	States []State
	// StateSegments says where each state lies in State, by state number.
	StateSegments []Segment
	// State are the state's values.
	State []float32
}

// NewVariables returns variables for p, all zero. A training program fixes Order; for an inference
// program it is the definition order, and no training program can be attached.
func NewVariables(p *Program) *Variables {
	v := &Variables{
		Params: p.code.params, Segments: make([]Segment, len(p.code.params)), Order: p.order,
		States: p.code.states, StateSegments: stateSegments(p.code.states),
	}
	n := 0
	for _, i := range v.Order {
		v.Segments[i] = Segment{Offset: n, Len: v.Params[i].Shape.Elems()}
		n += alignUp(v.Segments[i].Len)
	}
	v.Weights = alignedFloats(n)
	v.State = alignedFloats(extent(v.StateSegments))
	return v
}

// stateSegments lays states out in definition order.
func stateSegments(states []State) []Segment {
	segments, n := make([]Segment, len(states)), 0
	for i, s := range states {
		segments[i] = Segment{Offset: n, Len: s.Shape.Elems()}
		n += alignUp(segments[i].Len)
	}
	return segments
}

// extent returns the length of a vector that ends with the last segment's line.
func extent(segments []Segment) int {
	if len(segments) == 0 {
		return 0
	}
	last := segments[len(segments)-1]
	return alignUp(last.Offset + last.Len)
}

// NewGradient returns a zero vector of the layout of Weights.
func (v *Variables) NewGradient() []float32 { return alignedFloats(len(v.Weights)) }

// Count returns the number of trained values, without the gaps between segments.
func (v *Variables) Count() int {
	n := 0
	for _, s := range v.Segments {
		n += s.Len
	}
	return n
}

// initPurpose separates the streams of initial values from other uses of the same seed.
const initPurpose = 1

// Initialize draws every parameter from its Init and sets every state to its initial value. A value
// depends on seed, parameter number and canonical element index alone.
func (v *Variables) Initialize(seed uint64) {
	room := v.largest()
	for p, param := range v.Params {
		values := room[:v.Segments[p].Len]
		clear(values)
		stream := random.Derive(seed, initPurpose, uint64(p))
		for i := range values {
			if param.Init != nil {
				values[i] = param.Init.Draw(stream, uint64(i))
			}
		}
		v.SetParam(p, values)
	}
	for i, s := range v.States {
		values := v.StateOf(i)
		for j := range values {
			values[j] = s.Initial
		}
		copy(values, s.Values)
	}
}

// SetParam stores parameter p given in canonical order, of the parameter's length.
func (v *Variables) SetParam(p int, canonical []float32) { v.SetCanonical(p, v.Weights, canonical) }

// SetCanonical is the inverse of Canonical: it stores the elements of parameter p, given in
// canonical order, in flat.
func (v *Variables) SetCanonical(p int, flat, canonical []float32) {
	v.Params[p].Layout.FromCanonical(v.of(flat, p), canonical)
}

// Param writes parameter p into dst in canonical order.
func (v *Variables) Param(p int, dst []float32) { v.Canonical(p, dst, v.Weights) }

// Canonical writes the elements of parameter p of flat, a vector of the layout of Weights such as
// a gradient, into dst in canonical order.
func (v *Variables) Canonical(p int, dst, flat []float32) {
	v.Params[p].Layout.ToCanonical(dst, v.of(flat, p))
}

// StateOf returns the values of state i, which may be written.
func (v *Variables) StateOf(i int) []float32 {
	s := v.StateSegments[i]
	return v.State[s.Offset : s.Offset+s.Len : s.Offset+s.Len]
}

// of returns parameter p's segment of a flat vector.
func (v *Variables) of(flat []float32, p int) []float32 {
	s := v.Segments[p]
	return flat[s.Offset : s.Offset+s.Len : s.Offset+s.Len]
}

// SHA256 returns the hash, in hexadecimal, of all parameters, then all states, in definition order,
// each as little-endian float32 in canonical order. It does not depend on the stored layout.
func (v *Variables) SHA256() string {
	h, room := sha256.New(), v.largest()
	for p := range v.Params {
		values := room[:v.Segments[p].Len]
		v.Param(p, values)
		hashFloats(h, values)
	}
	for i := range v.States {
		hashFloats(h, v.StateOf(i))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// largest returns a slice as long as the largest parameter.
func (v *Variables) largest() []float32 {
	n := 0
	for _, s := range v.Segments {
		n = max(n, s.Len)
	}
	return make([]float32, n)
}

func hashFloats(h hash.Hash, values []float32) {
	var bytes [4096]byte
	for len(values) > 0 {
		n := min(len(values), len(bytes)/4)
		for i, x := range values[:n] {
			binary.LittleEndian.PutUint32(bytes[4*i:], math.Float32bits(x))
		}
		h.Write(bytes[:4*n])
		values = values[n:]
	}
}

// check reports how p's variables differ from v, if they do.
func (v *Variables) check(p *Program) error {
	if len(v.Params) != len(p.code.params) || len(v.States) != len(p.code.states) {
		return fmt.Errorf("graph: attach: program has %d parameters and %d states, variables "+
			"%d and %d", len(p.code.params), len(p.code.states), len(v.Params), len(v.States))
	}
	for i, a := range v.Params {
		if b := p.code.params[i]; a.Name != b.Name || !a.Stored().Equal(b.Stored()) {
			return fmt.Errorf("graph: attach: parameter %d is %s %v in the program, %s %v in "+
				"the variables", i, b.Name, b.Stored(), a.Name, a.Stored())
		}
	}
	for i, a := range v.States {
		if b := p.code.states[i]; a.Name != b.Name || !a.Shape.Equal(b.Shape) {
			return fmt.Errorf("graph: attach: state %d is %s %v in the program, %s %v in "+
				"the variables", i, b.Name, b.Shape, a.Name, a.Shape)
		}
	}
	return nil
}
