package checkpoint_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"lockstep/checkpoint"
)

// Vectors of weights and of running statistics come back as they were, by names that say what they
// belong to.
func TestVectorsComeBack(t *testing.T) {
	v := variablesOf(t, "resnet20")
	filled := func(seed float32) (weights, statistics []checkpoint.Vector) {
		fill(v)
		w, s := slices.Clone(v.Weights), slices.Clone(v.State)
		for _, values := range [][]float32{w, s} {
			for i := range values {
				values[i] *= seed
			}
		}
		return []checkpoint.Vector{{Name: "ema", Data: w}}, []checkpoint.Vector{{Name: "ema", Data: s}}
	}
	weights, statistics := filled(2)
	r := written(t, checkpoint.Vectors("some", v, weights, statistics).Entries...)
	if _, ok := r.Find("conv1.weight.ema"); !ok {
		t.Error("no tensor conv1.weight.ema")
	}
	if _, ok := r.Find("bn1.running_var.ema"); !ok {
		t.Error("no tensor bn1.running_var.ema")
	}
	w, s := filled(0)
	if err := checkpoint.LoadVectors(r, v, w, s); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(w[0].Data, weights[0].Data) || !slices.Equal(s[0].Data, statistics[0].Data) {
		t.Error("other values came back")
	}

	for want, vectors := range map[string][2][]checkpoint.Vector{
		"surplus (": {w, nil},
		"missing (": {append(w, checkpoint.Vector{Name: "lookahead", Data: w[0].Data}), s},
	} {
		err := checkpoint.LoadVectors(r, v, vectors[0], vectors[1])
		var mismatch *checkpoint.MatchError
		if !errors.As(err, &mismatch) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want one with %q", err, want)
		}
	}
}
