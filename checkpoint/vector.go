package checkpoint

import (
	"lockstep/graph"
	"lockstep/tensor"
)

// The files of vectors.
const (
	// OptimizerFile holds what the update of the parameters keeps between steps.
	OptimizerFile = "optimizer.safetensors"
	// ExchangeFile holds what the exchange of gradients keeps between steps.
	ExchangeFile = "exchange.safetensors"
)

// Vector is a named vector in the layout of a network's weights, or of its running statistics.
type Vector struct {
	Name string
	Data []float32
}

// Vectors is what a run keeps between steps besides its variables.
type Vectors struct {
	// Weights lie like a network's weights, Statistics like its running statistics.
	Weights, Statistics []Vector
	// Others have a shape of their own.
	Others []Values
}

// Values are a named tensor in row-major order.
type Values struct {
	Name  string
	Shape tensor.Shape
	Data  []float32
}

// part is one tensor of a file: of a vector, what belongs to one parameter or one running statistic.
type part struct {
	name  string
	shape tensor.Shape
	read  func(dst []float32) // gives the values in canonical order
	write func(src []float32) // takes them
}

// parts lists the tensors of what is kept beside v.
func (k Vectors) parts(v *graph.Variables) []part {
	var all []part
	for _, x := range k.Weights {
		for i, p := range v.Params {
			all = append(all, part{p.Name + "." + x.Name, p.Shape,
				func(dst []float32) { v.Canonical(i, dst, x.Data) },
				func(src []float32) { v.SetCanonical(i, x.Data, src) }})
		}
	}
	for _, x := range k.Statistics {
		for i, s := range v.States {
			segment := v.StateSegments[i]
			values := x.Data[segment.Offset:][:segment.Len]
			all = append(all, part{s.Name + "." + x.Name, s.Shape,
				func(dst []float32) { copy(dst, values) },
				func(src []float32) { copy(values, src) }})
		}
	}
	for _, x := range k.Others {
		all = append(all, part{x.Name, x.Shape,
			func(dst []float32) { copy(dst, x.Data) },
			func(src []float32) { copy(x.Data, src) }})
	}
	return all
}

// File returns the file, of that name, of what is kept: for each parameter of v its part of each vector of
// Weights in canonical order, as conv1.weight.momentum_buffer, for each running statistic its part of each
// of Statistics, as bn1.running_mean.ema, and Others. They must not change until it is written.
func (k Vectors) File(name string, v *graph.Variables) File {
	f := File{Name: name}
	var room floatWriter
	for _, p := range k.parts(v) {
		f.Entries = append(f.Entries, room.entry(p.name, p.shape, p.read))
	}
	return f
}

// Load fills k's memory from a file that File has described. Errors: *MatchError if it has not the same
// tensors, *FormatError at a value that is not finite, *ReadError; k then holds some of the file's values.
func (k Vectors) Load(r *Reader, v *graph.Variables) error {
	mismatch := &MatchError{File: r.Path}
	all := k.parts(v)
	wanted := map[string]bool{}
	for _, p := range all {
		wanted[p.name] = true
		t, ok := r.Find(p.name)
		switch {
		case !ok:
			mismatch.Missing = append(mismatch.Missing, quote(p.name))
			continue
		case t.DType != F32 || !t.Shape.Equal(p.shape):
			mismatch.Misshapen = append(mismatch.Misshapen, quote(p.name))
			continue
		}
		canonical := make([]float32, p.shape.Elems())
		if err := r.Floats(t, canonical); err != nil {
			return err
		}
		p.write(canonical)
	}
	for _, t := range r.Tensors {
		if !wanted[t.Name] {
			mismatch.Surplus = append(mismatch.Surplus, quote(t.Name))
		}
	}
	if len(mismatch.Missing)+len(mismatch.Misshapen)+len(mismatch.Surplus) > 0 {
		return mismatch
	}
	return nil
}
