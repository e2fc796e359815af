package roofline_test

import (
	"strings"
	"testing"

	"lockstep/app/evidence/compare"
	"lockstep/compute"
	"lockstep/graph"
	"lockstep/model"
	"lockstep/tensor"
)

// What reports know of networks by their names is what they are.
func TestKnownNetworks(t *testing.T) {
	known := compare.Parameters()
	for _, name := range model.Names() {
		n, isKnown := known[name]
		if !isKnown {
			t.Errorf("compare.Parameters lacks %s", name)
			continue
		}
		input := tensor.Shape{32, 32, 3}
		if strings.HasPrefix(name, "bert-") {
			input = tensor.Shape{16}
		}
		if count := countParameters(t, name, input); count != n {
			t.Errorf("%s: %d parameters; compare.Parameters has %d", name, count, n)
		}
	}
}

// countParameters returns how many parameters a network has for ten classes.
func countParameters(t *testing.T, name string, input tensor.Shape) int64 {
	t.Helper()
	network, err := model.Named(name, 10, input)
	if err != nil {
		t.Fatal(err)
	}
	const batch = 2
	cpu, err := compute.Open(compute.Config{ISA: compute.Plain, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cpu.Close)
	g := graph.New()
	logits := network.Build(network.Samples(g, batch))
	loss := graph.SoftmaxCrossEntropy(logits, g.Labels("labels", batch))
	p, err := graph.Compile(g, graph.NewHost(cpu), graph.Options{Loss: loss, Logits: logits, Train: true})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	return int64(graph.NewVariables(p).Count())
}
