package roofline_test

import (
	"strings"
	"testing"

	"lockstep/app/analysis"
	"lockstep/compute"
	"lockstep/graph"
	"lockstep/model"
	"lockstep/tensor"
)

// What lockstep check knows of networks by their names is what they are.
func TestKnownNetworks(t *testing.T) {
	known := analysis.Networks()
	for _, name := range model.Names() {
		n, isKnown := known[name]
		if !isKnown {
			t.Errorf("analysis.Networks lacks %s", name)
			continue
		}
		input := tensor.Shape{32, 32, 3}
		if strings.HasPrefix(name, "bert-") {
			input = tensor.Shape{16}
		}
		count, flops := describe(t, name, 10, input)
		more, _ := describe(t, name, 11, input)
		if count != n.Parameters || more-count != n.PerClass {
			t.Errorf("%s: %d parameters, %d per class; analysis.Networks has %d, %d", name, count, more-count,
				n.Parameters, n.PerClass)
		}
		if n.FLOPs > 0 && !(n.FLOPs > 0.8*flops && n.FLOPs < 1.2*flops) {
			t.Errorf("%s: %.4g operations for a sample; analysis.Networks has %.4g", name, flops, n.FLOPs)
		}
	}
}

// describe returns the parameters of a network, and the operations of a training step on one sample.
func describe(t *testing.T, name string, classes int, input tensor.Shape) (parameters int64, flops float64) {
	t.Helper()
	network, err := model.Named(name, classes, input)
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
	return int64(graph.NewVariables(p).Count()), float64(p.FLOPs()) / batch
}
