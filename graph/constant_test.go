package graph_test

import (
	"math"
	"strings"
	"testing"

	"lockstep/compute"
	"lockstep/graph"
)

// With constants, batch norm is part of the convolutions, and so is the addition of a residual, but for a
// norm of a sum and for a residual that the convolution reads; the logits are the same but for rounding.
// Programs of several batch sizes share the constants.
func TestConstants(t *testing.T) {
	h := host(t, compute.Best(), 2)
	variables := func(n int) (*graph.Graph, *graph.Node, *graph.Program, *graph.Variables) {
		g, _, logits := residual(n)
		p, err := graph.Compile(g, h, graph.Options{Logits: logits})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Close)
		v := graph.NewVariables(p)
		v.Initialize(1)
		for i := range v.State {
			v.State[i] += float32(i%5) / 8
		}
		if err := p.Attach(v); err != nil {
			t.Fatal(err)
		}
		return g, logits, p, v
	}
	var known *graph.Constants
	var shared *graph.Variables
	kept := 0
	for n := 1; n <= 3; n += 2 {
		g, logits, plain, v := variables(n)
		if known == nil {
			known, shared = graph.NewConstants(v), v
			defer known.Close()
		}
		p, err := graph.Compile(g, h, graph.Options{Logits: logits, Constants: known})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if n > 1 && p.Attach(v) == nil {
			t.Error("the program takes other variables than those of its constants")
		}
		if err := p.Attach(shared); err != nil {
			t.Fatal(err)
		}
		images := plain.Input("images").Floats()
		for i := range images {
			images[i] = float32(math.Sin(float64(i)))
		}
		p.Input("images").SetFloats(images)
		plain.Forward()
		p.Forward()
		for i, want := range plain.Logits() {
			if got := p.Logits()[i]; math.Abs(float64(got-want)) > 1e-5*(1+math.Abs(float64(want))) {
				t.Errorf("%d samples: logit %d is %v, without constants %v", n, i, got, want)
			}
		}
		for _, c := range p.Cost() {
			isLeft := c.Layer == "inner" || c.Layer == "overlap" // which adds its input; which is of a sum
			if strings.HasPrefix(c.Op, "norm") && !isLeft {
				t.Errorf("%d samples: %s of %s is left", n, c.Op, c.Layer)
			}
		}
		if n > 1 && known.Kept() != kept || known.Kept() < 3 {
			t.Errorf("%d samples: %d weights are laid out, before %d", n, known.Kept(), kept)
		}
		kept = known.Kept()
	}
	g, loss, _ := residual(1)
	if _, err := graph.Compile(g, h, graph.Options{Loss: loss, Train: true, Constants: known}); err == nil {
		t.Error("a training program takes constants")
	}
}
