package graph

import (
	"fmt"
	"slices"

	"lockstep/tensor"
)

// Input is a handle on one input of a program, from [Program.Input]. Setting it looks nothing up and
// allocates nothing.
//
// A slice that is set is read in place, without a copy, until another one is set. It must not change
// between Forward and the end of Backward or, with an executor that is not in place, until a result of
// Forward is read. A nil Input stands for an input that the program does not read. Setting it has no
// effect, so the same code can feed programs for training and for inference.
type Input struct {
	program *Program
	node    *Node
	buffer  *Buffer
}

// Input returns the input that the graph has under name, nil if the program does not read it. It panics if
// the graph has none.
func (p *Program) Input(name string) *Input {
	for _, in := range p.inputs {
		if in.node.name == name {
			return in
		}
	}
	if !slices.Contains(p.code.unread, name) {
		panic(fmt.Sprintf("graph: the graph has no input %s", name))
	}
	return nil
}

// Inputs returns the inputs that the program reads, in the order in which the graph adds them.
func (p *Program) Inputs() []*Input {
	var set []*Input
	for _, in := range p.inputs {
		if in.node != p.code.texts.starts && in.node != p.code.texts.splits { // SetTexts sets those
			set = append(set, in)
		}
	}
	return set
}

// Name returns the name that the graph has given the input.
func (in *Input) Name() string { return in.node.name }

// SetFloats sets the input to values, in stored order. It panics unless the input is of type float32 and
// has as many elements.
func (in *Input) SetFloats(values []float32) {
	if in == nil {
		return
	}
	in.check(tensor.Float32, len(values))
	in.buffer.F = values
}

// SetInts sets the input to values. It panics unless the input is of type int32 and has as many elements.
func (in *Input) SetInts(values []int32) {
	if in == nil {
		return
	}
	in.check(tensor.Int32, len(values))
	in.buffer.I = values
}

// check panics unless n elements of a type fit the input.
func (in *Input) check(t tensor.DType, n int) {
	is := in.node.typ
	if is.DType != t || is.Ragged {
		panic(fmt.Sprintf("graph: set input: %v values for %s %v", t, in.node.name, is))
	}
	if want := is.Shape.Elems(); n != want {
		panic(fmt.Sprintf("graph: set input: len(%s)=%d, want %d", in.node.name, n, want))
	}
}

// SetTexts sets the texts: the tokens of all, one text after another, and the length of each. It panics
// unless the input is that of Graph.Texts, there are Samples() lengths, each is from 1 to the graph's
// limit, and they add up to the number of tokens.
func (in *Input) SetTexts(tokens, lengths []int32) { in.SetPairs(tokens, lengths, nil) }

// SetPairs is SetTexts for texts that may have two parts: splits[n] is the number of tokens of text n before
// its second part, 0 if it has none. If splits is nil, no text has one. SetPairs also panics unless there is
// a split for each text, less than its length.
func (in *Input) SetPairs(tokens, lengths, splits []int32) {
	if in == nil {
		return
	}
	p := in.program
	if in.node != p.code.texts.tokens {
		panic(fmt.Sprintf("graph: set texts: %s is no input of texts", in.node.name))
	}
	at := 0
	for n, length := range lengths {
		if length < 1 || int(length) > p.code.texts.most {
			panic(fmt.Sprintf("graph: set texts: text %d has %d tokens, want 1 to %d",
				n, length, p.code.texts.most))
		}
		at += int(length)
	}
	if len(lengths) != p.Samples() || len(tokens) != at {
		panic(fmt.Sprintf("graph: set texts: %d texts of %d tokens, want %d of %d",
			len(lengths), len(tokens), p.Samples(), at))
	}
	for n, length := range lengths {
		p.starts[n+1] = p.starts[n] + length
	}
	in.setSplits(splits, lengths)
	in.buffer.I = tokens
	p.rows = len(tokens)
	p.resize()
}

// setSplits sets where the texts split.
func (in *Input) setSplits(splits, lengths []int32) {
	if splits != nil && len(splits) != len(lengths) {
		panic(fmt.Sprintf("graph: set texts: %d splits for %d texts", len(splits), len(lengths)))
	}
	for n, split := range splits {
		if split < 0 || split >= lengths[n] {
			panic(fmt.Sprintf("graph: set texts: text %d of %d tokens splits at %d", n, lengths[n], split))
		}
	}
	clear(in.program.splits)
	copy(in.program.splits, splits)
}

// Floats returns the program's own memory for a float32 input, in stored order, to be filled before
// Forward. The first call allocates the memory and sets the input to it.
func (in *Input) Floats() []float32 {
	if in == nil || in.node.typ.DType != tensor.Float32 {
		return nil
	}
	if in.buffer.F == nil {
		in.buffer.F = alignedFloats(in.node.typ.Shape.Elems())
	}
	return in.buffer.F
}

// Ints is Floats for an int32 input, such as labels.
func (in *Input) Ints() []int32 {
	if in == nil || in.node.typ.DType != tensor.Int32 || in.node.typ.Ragged {
		return nil
	}
	if in.buffer.I == nil {
		in.buffer.I = make([]int32, in.node.typ.Shape.Elems())
	}
	return in.buffer.I
}
