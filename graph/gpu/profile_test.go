//go:build cuda && linux && amd64

package gpu_test

import (
	"testing"
	"time"

	"lockstep/graph"
	"lockstep/graph/gpu"
	"lockstep/model"
)

// kept compiles a network whose weights lie in the executor's memory, and feeds it.
func (n plan) kept(t *testing.T, e *gpu.Executor) *graph.Program {
	t.Helper()
	net, err := model.Named(n.name, classes, n.input)
	if err != nil {
		t.Fatal(err)
	}
	g := graph.New()
	logits := net.Build(net.Samples(g, n.samples))
	loss := graph.SoftmaxCrossEntropy(logits, g.Labels("labels", n.samples))
	p, err := graph.Compile(g, e, graph.Options{Loss: loss, Logits: logits, Train: true, Kept: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	v := graph.NewVariables(p)
	v.Initialize(1)
	if err := p.Attach(v); err != nil {
		t.Fatal(err)
	}
	var vectors [2]graph.Span
	for i := range vectors {
		m, err := e.Allocate(len(v.Weights))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(m.Release)
		vectors[i] = graph.Span{Handle: m.Handle, Len: len(v.Weights)}
	}
	e.Upload(&graph.Buffer{Device: vectors[0]}, &graph.Buffer{F: v.Weights})
	e.Wait()
	p.Keep(vectors[0], vectors[1])
	clear(p.Input("labels").Ints())
	p.SetDraws(graph.Draws{Seed: 1, Samples: make([]int32, n.samples)})
	feed(p, net, 1)
	return p
}

// Every op of a pass is timed, and nothing else: not when it is recorded, nor when it is replayed.
func TestTimed(t *testing.T) {
	timed := networks
	if testing.Short() {
		timed = networks[:2] // the larger ones take long without a GPU
	}
	for _, math := range []gpu.Math{gpu.Float32, gpu.BF16} {
		for _, n := range timed {
			t.Run(n.name+" "+string(math), func(t *testing.T) {
				e := open(t, gpu.Config{Plain: true, Math: math, Profile: true})
				p := n.kept(t, e)
				p.Forward()
				p.Backward(nil)
				want := p.Loss()
				unused := make([]time.Duration, len(p.Cost()))
				for range 2 {
					before, ops := e.Timed(func() { p.Profile(unused) })
					if before <= 0 || len(ops) != len(p.Cost()) {
						t.Errorf("%v s before %d ops, want %d", before, len(ops), len(p.Cost()))
					}
					for i, s := range ops {
						if !(s > 0 && s < 60) {
							t.Errorf("op %s took %v s", p.Cost()[i].Op, s)
						}
					}
					if got := p.Loss(); got != want {
						t.Errorf("loss %v when timed, want %v", got, want)
					}
					p.Forward()
					p.Backward(nil)
					if got := p.Loss(); got != want {
						t.Errorf("loss %v when recorded, want %v", got, want)
					}
				}
			})
		}
	}
}

// An executor without a profile times the whole, and no op.
func TestElapsedWithoutProfile(t *testing.T) {
	e := open(t, gpu.Config{Plain: true})
	p := networks[0].kept(t, e)
	if s := e.Elapsed(p.Forward); !(s > 0) {
		t.Errorf("%v s", s)
	}
	if _, ops := e.Timed(p.Forward); ops != nil {
		t.Errorf("%d ops were timed", len(ops))
	}
}

// The limits are measured in every precision.
func TestMeasuredLimits(t *testing.T) {
	for _, math := range []gpu.Math{gpu.Float32, gpu.TF32, gpu.BF16} {
		e := open(t, gpu.Config{Plain: true, Math: math})
		if rate := e.MeasureCopy(1 << 16); !(rate > 0 && rate < 1e15) {
			t.Errorf("%s: %v bytes per second", math, rate)
		}
		if rate := e.MeasureProduct(64); !(rate > 0 && rate < 1e17) {
			t.Errorf("%s: %v operations per second", math, rate)
		}
	}
}
