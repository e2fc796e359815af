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

// part is one tensor of a vector: what belongs to one parameter or one running statistic.
type part struct {
	name  string
	shape tensor.Shape
	read  func(dst []float32) // gives the values in canonical order
	write func(src []float32) // takes them
}

// parts lists the tensors of vectors that lie like v's weights, then of those that lie like its
// running statistics.
func parts(v *graph.Variables, weights, statistics []Vector) []part {
	var all []part
	for _, x := range weights {
		for i, p := range v.Params {
			all = append(all, part{p.Name + "." + x.Name, p.Shape,
				func(dst []float32) { v.Canonical(i, dst, x.Data) },
				func(src []float32) { v.SetCanonical(i, x.Data, src) }})
		}
	}
	for _, x := range statistics {
		for i, s := range v.States {
			segment := v.StateSegments[i]
			values := x.Data[segment.Offset:][:segment.Len]
			all = append(all, part{s.Name + "." + x.Name, s.Shape,
				func(dst []float32) { copy(dst, values) },
				func(src []float32) { copy(values, src) }})
		}
	}
	return all
}

// Vectors returns the file, of that name, of what is kept between steps: for each parameter of v its part
// of each vector of weights in canonical order, as conv1.weight.momentum_buffer, and for each running
// statistic its part of each of statistics, as bn1.running_mean.ema. They must not change until it is
// written.
func Vectors(name string, v *graph.Variables, weights, statistics []Vector) File {
	f := File{Name: name}
	var room floatWriter
	for _, p := range parts(v, weights, statistics) {
		f.Entries = append(f.Entries, room.entry(p.name, p.shape, p.read))
	}
	return f
}

// LoadVectors fills vectors from a file that Vectors has described. Errors: *MatchError if it has not
// the same tensors, *FormatError at a value that is not finite, *ReadError; the vectors then hold some
// of the file's values.
func LoadVectors(r *Reader, v *graph.Variables, weights, statistics []Vector) error {
	mismatch := &MatchError{File: r.Path}
	all := parts(v, weights, statistics)
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
