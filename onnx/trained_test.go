package onnx_test

import (
	"slices"
	"testing"

	"lockstep/graph"
	"lockstep/onnx"
	"lockstep/tensor"
)

// A file that was trained is written with its own nodes, and comes back with the same parameters and logits,
// bit by bit: also where one tensor of the file has become several parameters.
func TestATrainedFileComesBack(t *testing.T) {
	for _, o := range goldens(t) {
		p := program(t, o.model, samples, false)
		v := start(t, p)
		for i := range v.Weights { // as if it was trained: no two parameters stay alike
			if v.Weights[i] != 0 {
				v.Weights[i] += float32(i%13) / 256
			}
		}
		p.Input("x").SetFloats(o.images())
		p.Forward()
		want, hash := slices.Clone(p.Logits()), v.SHA256()
		g := graph.New()
		x := g.Input("x", append(tensor.Shape{1}, o.model.Input()...))
		trained, err := o.model.With(x, onnx.Options{}, v)
		if err != nil {
			t.Fatalf("%s: %v", o.name, err)
		}
		back, err := onnx.Decode(trained.Encode())
		if err != nil {
			t.Fatalf("%s: %v", o.name, err)
		}
		q := program(t, back, samples, false)
		w := start(t, q)
		q.Input("x").SetFloats(o.images())
		q.Forward()
		if got := q.Logits(); w.SHA256() != hash || !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", o.name, got, want)
		}
	}
}

// With other classes the head has their number, and the file says so.
func TestAFreshHeadIsWritten(t *testing.T) {
	for _, o := range goldens(t) {
		fresh := onnx.Options{FreshClasses: 3}
		build := func(m *onnx.Model, o onnx.Options) (*graph.Node, *graph.Node) {
			g := graph.New()
			x := g.Input("x", append(tensor.Shape{2}, m.Input()...))
			logits, err := m.Build(x, o)
			if err != nil {
				t.Fatal(err)
			}
			return x, logits
		}
		_, logits := build(o.model, fresh)
		v := variables(t, logits)
		x := graph.New().Input("x", append(tensor.Shape{2}, o.model.Input()...))
		trained, err := o.model.With(x, fresh, v)
		if err != nil {
			t.Fatalf("%s: %v", o.name, err)
		}
		if _, y := build(trained, onnx.Options{}); y.Shape()[1] != 3 || trained.NumOutputs() != 3 {
			t.Errorf("%s: %v, %d outputs", o.name, y.Shape(), trained.NumOutputs())
		}
	}
}

// Unscale undoes Rescale, also in a file that was read, and takes nothing off a model that ends otherwise.
func TestUnscaleIsTheInverseOfRescale(t *testing.T) {
	for _, o := range goldens(t) {
		m, err := onnx.Decode(o.model.Encode())
		if err != nil {
			t.Fatal(err)
		}
		if scale, _ := m.Unscale(); scale != nil {
			t.Errorf("%s: unscaled by %v, and was not scaled", o.name, scale)
		}
		want := m.Encode()
		scale, offset := []float32{2, 0.5}, []float32{-1, 1e6}
		m.Rescale(scale, offset)
		if m, err = onnx.Decode(m.Encode()); err != nil {
			t.Fatal(err)
		}
		a, b := m.Unscale()
		if !slices.Equal(a, scale) || !slices.Equal(b, offset) || !slices.Equal(m.Encode(), want) {
			t.Errorf("%s: got %v and %v, want %v and %v and the model as it was", o.name, a, b, scale, offset)
		}
	}
}
