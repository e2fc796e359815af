package checkpoint

import (
	"lockstep/graph"
	"lockstep/tensor"
)

// The files of vectors.
const (
	// OptimizerFile holds the state of the update of parameters.
	OptimizerFile = "optimizer.safetensors"
	// ExchangeFile holds the state of the exchange of gradients.
	ExchangeFile = "exchange.safetensors"
)

// Vector is a named vector in the layout of a network's weights, or of its running statistics.
type Vector struct {
	Name string
	Data []float32
}

// Vectors is the state of a run between steps besides its variables.
type Vectors struct {
	// Weights have the layout of a network's weights, Statistics that of its running statistics.
	Weights, Statistics []Vector
	// Others have shapes of their own.
	Others []Values
}

// Values are a named tensor in row-major order.
type Values struct {
	Name  string
	Shape tensor.Shape
	Data  []float32
}

// part is one tensor of a file: the part of a vector that belongs to one parameter or running
// statistic.
type part struct {
	name  string
	shape tensor.Shape
	read  func(dst []float32) // returns the values in canonical order
	write func(src []float32) // stores values in canonical order
}

// parts lists the tensors of k for a network with variables v.
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

// File returns the file, called name, of k: for each parameter of v its part of each vector of
// Weights in canonical order, as conv1.weight.momentum_buffer; for each running statistic its part
// of each vector of Statistics, as bn1.running_mean.ema; and Others. They must not change until the
// file is written.
func (k Vectors) File(name string, v *graph.Variables) File {
	f := File{Name: name}
	var room floatWriter
	for _, p := range k.parts(v) {
		f.Entries = append(f.Entries, room.entry(p.name, p.shape, p.read))
	}
	return f
}

// Load fills k's vectors from a file that File described. Errors: *MatchError if the tensors
// differ, *FormatError at a value that is not finite, *ReadError; k then holds some of the file's
// values.
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
