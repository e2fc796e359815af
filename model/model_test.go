package model_test

import (
	"strings"
	"testing"

	"lockstep/compute"
	"lockstep/graph"
	"lockstep/model"
	"lockstep/tensor"
)

// compile builds a network with a loss for n samples.
func compile(t testing.TB, net model.Network, n int, isa compute.ISA, train bool) *graph.Program {
	t.Helper()
	return compileOn(t, net, n, compute.Config{ISA: isa}, train)
}

// compileOn is compile for a given CPU.
func compileOn(t testing.TB, net model.Network, n int, c compute.Config, train bool) *graph.Program {
	t.Helper()
	cpu, err := compute.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cpu.Close)
	return compileFor(t, net, n, graph.NewHost(cpu), train)
}

// compileFor is compile for a given executor.
func compileFor(t testing.TB, net model.Network, n int, ex graph.Executor, train bool) *graph.Program {
	t.Helper()
	g := graph.New()
	logits := net.Build(net.Samples(g, n))
	loss := graph.SoftmaxCrossEntropy(logits, g.Labels("labels", n))
	p, err := graph.Compile(g, ex, graph.Options{Loss: loss, Logits: logits, Train: train})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func TestParameterCounts(t *testing.T) {
	for _, c := range []struct {
		name  string
		input tensor.Shape
		want  int
	}{
		{"lenet", tensor.Shape{32, 32, 3}, 53762},
		{"lenet", tensor.Shape{28, 28, 1}, 6*25 + 6 + 16*150 + 16 + 64*576 + 64 + 650},
		{"vgg11", tensor.Shape{32, 32, 3}, 9231114},
		{"resnet20", tensor.Shape{32, 32, 3}, 269722},
		{"airbench", tensor.Shape{32, 32, 3}, 1972792},
		{"resnet56", tensor.Shape{32, 32, 3}, 853018},
		{"resnet50", tensor.Shape{32, 32, 3}, 23520842},
		{"resnet50", tensor.Shape{64, 64, 3}, 23520842},
		{"resnet50", tensor.Shape{96, 96, 3}, 23520842 + (7*7-3*3)*3*64},
		{"bert-tiny", tensor.Shape{128}, 4386178 + 1290 - 258}, // 10 classes, not 2
	} {
		net, err := model.Named(c.name, 10, c.input)
		if err != nil {
			t.Fatal(err)
		}
		v := graph.NewVariables(compile(t, net, 2, compute.Plain, true))
		if got := v.Count(); got != c.want {
			t.Errorf("%s on %v has %d parameters, want %d", c.name, c.input, got, c.want)
		}
	}
}

func TestNamedRefuses(t *testing.T) {
	cifar := tensor.Shape{32, 32, 3}
	for _, c := range []struct {
		name    string
		classes int
		input   tensor.Shape
		want    string
	}{
		{"vgg13", 10, cifar, `did you mean "vgg11"?`},
		{"LeNet", 10, cifar, `did you mean "lenet"?`},
		{"transformer", 10, cifar, "known: lenet, vgg11, resnet20"},
		{"lenet", 0, cifar, "0 classes"},
		{"bert-mini", 2, cifar, "want [T] of a text"},
		{"bert-mini", 2, tensor.Shape{513}, "texts of 513 tokens, but only 512 positions"},
		{"lenet", 10, tensor.Shape{32, 32}, "want [H, W, C]"},
		{"vgg11", 10, tensor.Shape{28, 28, 1}, "does not fit input [28, 28, 1]: graph: max-pool"},
	} {
		_, err := model.Named(c.name, c.classes, c.input)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Named(%s, %d, %v): %v, want %q in it", c.name, c.classes, c.input, err, c.want)
		}
	}
}
