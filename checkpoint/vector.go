package checkpoint

import "lockstep/graph"

// OptimizerFile holds what an optimizer keeps between steps.
const OptimizerFile = "optimizer.safetensors"

// Vector is a named vector in the layout of a network's weights.
type Vector struct {
	Name string
	Data []float32
}

// Vectors returns the file of an optimizer's vectors: for each parameter of v its part of each
// vector in canonical order, as conv1.weight.momentum_buffer. They must not change until it is
// written.
func Vectors(v *graph.Variables, vectors []Vector) File {
	f := File{Name: OptimizerFile}
	var room floatWriter
	for _, x := range vectors {
		for i, p := range v.Params {
			f.Entries = append(f.Entries, room.entry(p.Name+"."+x.Name, p.Shape,
				func(dst []float32) { v.Canonical(i, dst, x.Data) }))
		}
	}
	return f
}

// LoadVectors fills an optimizer's vectors from a file that Vectors has described. Errors:
// *MatchError if it has not the same tensors, *FormatError at a value that is not finite,
// *ReadError; the vectors then hold some of the file's values.
func LoadVectors(r *Reader, v *graph.Variables, vectors []Vector) error {
	mismatch := &MatchError{File: r.Path}
	wanted := map[string]bool{}
	for _, x := range vectors {
		for i, p := range v.Params {
			name := p.Name + "." + x.Name
			wanted[name] = true
			t, ok := r.Find(name)
			switch {
			case !ok:
				mismatch.Missing = append(mismatch.Missing, quote(name))
				continue
			case t.DType != F32 || !t.Shape.Equal(p.Shape):
				mismatch.Misshapen = append(mismatch.Misshapen, quote(name))
				continue
			}
			canonical := make([]float32, p.Shape.Elems())
			if err := r.Floats(t, canonical); err != nil {
				return err
			}
			v.SetCanonical(i, x.Data, canonical)
		}
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
