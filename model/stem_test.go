package model_test

import (
	"testing"

	"lockstep/graph"
	"lockstep/model"
	"lockstep/tensor"
)

// A stem that is asked for stands in place of the one that the size of the images would choose.
func TestStemIsChosen(t *testing.T) {
	for _, test := range []struct {
		stem string
		side int
		want int // elements of the first filter
	}{
		{model.StemAuto, 32, 64 * 3 * 3 * 3}, {model.StemImageNet, 32, 64 * 3 * 7 * 7},
		{model.StemAuto, 96, 64 * 3 * 7 * 7}, {model.StemCIFAR, 96, 64 * 3 * 3 * 3},
	} {
		n, err := model.Named("resnet50", 10, tensor.Shape{test.side, test.side, 3})
		if err == nil {
			n, err = n.WithStem(test.stem)
		}
		if err != nil {
			t.Fatal(err)
		}
		g := graph.New()
		n.Build(n.Samples(g, 1))
		if got := g.Params()[0].Shape.Elems(); got != test.want {
			t.Errorf("%s on %d pixels: first filter of %d elements, want %d", test.stem, test.side, got,
				test.want)
		}
	}
}
