package checkpoint_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lockstep/checkpoint"
	"lockstep/tensor"
)

// Vectors of weights and of running statistics, and tensors, come back as they were, by names that say what
// they belong to.
func TestVectorsComeBack(t *testing.T) {
	v := variablesOf(t, "resnet20")
	filled := func(seed float32) checkpoint.Vectors {
		fill(v)
		w, s, x := slices.Clone(v.Weights), slices.Clone(v.State), []float32{1, 2, 3, 4, 5, 6}
		for _, values := range [][]float32{w, s, x} {
			for i := range values {
				values[i] *= seed
			}
		}
		return checkpoint.Vectors{Weights: []checkpoint.Vector{{Name: "ema", Data: w}},
			Statistics: []checkpoint.Vector{{Name: "ema", Data: s}},
			Others:     []checkpoint.Values{{Name: "factor", Shape: tensor.Shape{2, 3}, Data: x}}}
	}
	want := filled(2)
	r := written(t, want.File("some", v).Entries...)
	for _, name := range []string{"conv1.weight.ema", "bn1.running_var.ema", "factor"} {
		if _, ok := r.Find(name); !ok {
			t.Errorf("no tensor %s", name)
		}
	}
	got := filled(0)
	if err := got.Load(r, v); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Error("other values came back")
	}

	surplus, missing, misshapen := got, got, got
	surplus.Statistics = nil
	missing.Weights = append(got.Weights, checkpoint.Vector{Name: "lookahead", Data: got.Weights[0].Data})
	misshapen.Others = []checkpoint.Values{{Name: "factor", Shape: tensor.Shape{3, 2},
		Data: make([]float32, 6)}}
	for want, k := range map[string]checkpoint.Vectors{
		"surplus (": surplus, "missing (": missing, "of another shape (factor)": misshapen,
	} {
		err := k.Load(r, v)
		var mismatch *checkpoint.MatchError
		if !errors.As(err, &mismatch) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want one with %q", err, want)
		}
	}
}
