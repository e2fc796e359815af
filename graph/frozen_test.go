package graph_test

import (
	"slices"
	"strings"
	"testing"

	"lockstep/compute"
	"lockstep/graph"
)

// Gradients of frozen parameters are zero, or unchanged if one op computes them together with another. All
// else has the bits and the order of a program that freezes nothing.
func TestFrozenParameters(t *testing.T) {
	for _, c := range []struct {
		frozen, zero string
		saved        []string // ops that a program without frozen parameters has more of
	}{
		{"conv1.weight", "conv1.weight", []string{"conv-backward-weights"}},
		{"conv1.weight norm.weight", "conv1.weight", []string{"conv-backward-weights"}},
		{"norm.weight norm.bias", "", nil},
		{"conv1.weight conv1.bias norm.weight norm.bias", "conv1.weight conv1.bias norm.weight norm.bias",
			[]string{"conv-backward-weights", "column-sums", "conv-backward-data"}},
		{"fc2.bias conv2.weight", "fc2.bias conv2.weight",
			[]string{"column-sums", "conv-backward-weights"}},
	} {
		frozen, zero := strings.Fields(c.frozen), strings.Fields(c.zero)
		h := host(t, compute.Best(), 1)
		all := networkOn(t, h, 4, true, nil, graph.Compile)
		some := networkOn(t, h, 4, true, nil, func(g *graph.Graph, ex graph.Executor, o graph.Options) (
			*graph.Program, error) {
			o.Frozen = func(p graph.Param) bool { return slices.Contains(frozen, p.Name) }
			return graph.Compile(g, ex, o)
		})
		if !slices.Equal(all.p.Order(), some.p.Order()) {
			t.Errorf("%s frozen: order %v, want %v", c.frozen, some.p.Order(), all.p.Order())
		}
		want, got := all.step(), some.step()
		for i, p := range all.v.Params {
			if s := all.v.Segments[i]; slices.Contains(zero, p.Name) {
				clear(want[s.Offset : s.Offset+s.Len])
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s frozen: other gradients, or more or fewer zeros", c.frozen)
		}
		before, after := ops(all.p), ops(some.p)
		for _, op := range c.saved {
			if after[op] >= before[op] {
				t.Errorf("%s frozen: %d times %s, of %d without", c.frozen, after[op], op, before[op])
			}
		}
	}
}
