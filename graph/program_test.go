package graph_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"lockstep/compute"
	"lockstep/graph"
	"lockstep/internal/alloctest"
	"lockstep/random"
	"lockstep/tensor"
)

// network is a small residual network with everything in it: convolution, batch norm, ReLU, pooling,
// a value read twice, a linear layer.
type network struct {
	p *graph.Program
	v *graph.Variables
}

const side, channels = 6, 4

// build returns the network's graph for n samples.
func build(n int) (g *graph.Graph, loss, logits *graph.Node) {
	g = graph.New()
	param := func(name string, axes ...int) *graph.Node {
		return g.Parameter(graph.Param{Name: name, Shape: axes, Init: graph.Uniform{Bound: 0.5}})
	}
	state := func(name string, start float32) *graph.Node {
		return g.State(graph.State{Name: name, Shape: tensor.Shape{channels}, Momentum: 0.1, Initial: start})
	}
	x := g.Input("images", tensor.Shape{n, side, side, 3})
	x = graph.Conv(x, param("conv1.weight", 3, 3, 3, channels), param("conv1.bias", channels), 1, 1)
	x = graph.BatchNorm(x, param("norm.weight", channels), param("norm.bias", channels),
		state("norm.running_mean", 0), state("norm.running_var", 1), eps)
	x = graph.ReLU(x)
	y := graph.Conv(x, param("conv2.weight", 3, 3, channels, channels), nil, 1, 1)
	x = graph.MaxPool(graph.ReLU(graph.Add(x, y)), 2, 2, 0)
	x = graph.ReLU(graph.Linear(x, param("fc1.weight", 3, 3, channels, 8), param("fc1.bias", 8)))
	logits = graph.Linear(x, param("fc2.weight", 8, classes), param("fc2.bias", classes))
	return g, graph.SoftmaxCrossEntropy(logits, g.Labels("labels", n)), logits
}

type compiler func(*graph.Graph, graph.Executor, graph.Options) (*graph.Program, error)

func newNetwork(t testing.TB, n int, train bool) network {
	return networkOn(t, host(t, compute.Best(), 1), n, train, nil, graph.Compile)
}

func networkOn(t testing.TB, h *graph.Host, n int, train bool, a *graph.Arena, compile compiler) network {
	t.Helper()
	g, loss, logits := build(n)
	p, err := compile(g, h, graph.Options{Loss: loss, Logits: logits, Train: train, Arena: a})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	v := graph.NewVariables(p)
	v.Initialize(1)
	if err := p.Attach(v); err != nil {
		t.Fatal(err)
	}
	fillInput(p)
	return network{p, v}
}

// images returns a program's own memory for its only input of numbers.
func images(p *graph.Program) []float32 {
	for _, in := range p.Inputs() {
		if values := in.Floats(); values != nil {
			return values
		}
	}
	return nil
}

// labelsOf is images for the labels; nil if the program reads none.
func labelsOf(p *graph.Program) []int32 { return p.Input("labels").Ints() }

// correct returns how many samples the last Forward has classified correctly.
func correct(p *graph.Program) int { return graph.CountCorrect(p.Logits(), labelsOf(p)) }

// fillInput draws the input; a sample does not depend on the batch size.
func fillInput(p *graph.Program) {
	for i := range images(p) {
		images(p)[i] = random.Stream(99).Symmetric(uint64(i), 1)
	}
	for i := range labelsOf(p) {
		labelsOf(p)[i] = int32(i) % classes
	}
}

// step runs once and returns everything the program computes.
func (n network) step() []float32 {
	all := []float32{}
	if n.p.IsTraining() {
		grad := n.v.NewGradient()
		n.p.SetGradients(grad)
		n.p.Forward()
		n.p.Backward(nil)
		all = append(all, grad...)
	} else {
		n.p.Forward()
	}
	all = append(all, float32(n.p.Loss()), float32(correct(n.p)))
	all = append(all, n.p.Logits()...)
	return append(all, n.p.BatchStats()...)
}

func TestStepDoesNotAllocate(t *testing.T) {
	for _, threads := range []int{1, 2} {
		n := networkOn(t, host(t, compute.Best(), threads), 8, true, nil, graph.Compile)
		grad, other := n.v.NewGradient(), n.v.NewGradient()
		images, labels := n.p.Input("images"), n.p.Input("labels")
		pixels, classes := images.Floats(), labels.Ints()
		seen := 0
		ready := func(int) { seen++ }
		allocs := alloctest.Least(20, func() {
			images.SetFloats(pixels)
			labels.SetInts(classes)
			n.p.SetGradients(grad)
			n.p.Forward()
			n.p.Backward(ready)
			grad, other = other, grad
		})
		if allocs != 0 {
			t.Errorf("%d threads: %v allocations per step, want 0", threads, allocs)
		}
		if seen == 0 {
			t.Error("no gradient became ready")
		}
	}
}

// Fused code computes what unfused code does, bit for bit, and reusing memory changes nothing.
func TestPassesAndPlanKeepEveryBit(t *testing.T) {
	for _, isa := range compute.Supported() {
		for _, train := range []bool{true, false} {
			h := host(t, isa, 1)
			want := networkOn(t, h, 5, train, nil, graph.CompileUnfused).step()
			for name, compile := range map[string]compiler{
				"fused": graph.CompileApart, "fused, planned": graph.Compile,
			} {
				n := networkOn(t, h, 5, train, nil, compile)
				n.p.Poison(float32(math.NaN()))
				if got := n.step(); !slices.Equal(got, want) {
					t.Errorf("%v, training %v: %s code differs from unfused code", isa, train, name)
				}
			}
		}
	}
}

func TestThreadsKeepEveryBit(t *testing.T) {
	for _, isa := range compute.Supported() {
		want := networkOn(t, host(t, isa, 1), 5, true, nil, graph.Compile).step()
		for threads := 2; threads <= 5; threads++ {
			n := networkOn(t, host(t, isa, threads), 5, true, nil, graph.Compile)
			if got := n.step(); !slices.Equal(got, want) {
				t.Errorf("%v: %d threads change the result", isa, threads)
			}
		}
	}
}

// The ops of the compiled network, in the order they run: ReLUs and masks are folded, the images receive no
// gradient, and in the backward pass the gradient of the weights comes before that of the data.
func TestCompiledOps(t *testing.T) {
	n := newNetwork(t, 2, true)
	var got []string
	for _, c := range n.p.Cost() {
		got = append(got, strings.TrimSpace(c.Op+" "+c.Layer))
	}
	want := []string{
		"conv+statistics conv1",
		"normalize+relu norm",
		"conv conv2",
		"add",
		"relu",
		"max-pool",
		"linear+relu fc1",
		"linear fc2",
		"softmax-cross-entropy",
		"column-sums fc2",
		"linear-backward-weights fc2",
		"linear-backward-data fc2",
		"relu-backward",
		"column-sums fc1",
		"linear-backward-weights fc1",
		"linear-backward-data fc1",
		"max-pool+relu-backward",
		"conv-backward-weights conv2",
		"conv-backward-data conv2",
		"add conv2",
		"batch-norm+relu-backward norm",
		"column-sums conv1",
		"conv-backward-weights conv1",
	}
	if !slices.Equal(got, want) {
		t.Errorf("compiled to\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// Gradients become final from the last layer to the first; Backward reports them in that order, and
// segments lie in it, each on a cache line.
func TestOrder(t *testing.T) {
	n := newNetwork(t, 2, true)
	want := []string{"fc2.bias", "fc2.weight", "fc1.bias", "fc1.weight", "conv2.weight",
		"norm.weight", "norm.bias", "conv1.bias", "conv1.weight"}
	var got []string
	offset := 0
	for _, p := range n.v.Order {
		got = append(got, n.v.Params[p].Name)
		s := n.v.Segments[p]
		if s.Offset < offset || s.Offset%16 != 0 || s.Len != n.v.Params[p].Shape.Elems() {
			t.Errorf("%s has segment %+v behind %d", n.v.Params[p].Name, s, offset)
		}
		offset = s.Offset + s.Len
	}
	if !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
	var reported []int
	n.p.SetGradients(n.v.NewGradient())
	n.p.Forward()
	n.p.Backward(func(p int) { reported = append(reported, p) })
	if !slices.Equal(reported, n.v.Order) || !slices.Equal(n.p.Order(), n.v.Order) {
		t.Errorf("reported %v, want %v", reported, n.v.Order)
	}
}

// A gradient is final when it is reported: nothing later in Backward touches it.
func TestReadyMeansFinal(t *testing.T) {
	n := newNetwork(t, 3, true)
	grad := n.v.NewGradient()
	at := map[int][]float32{}
	n.p.SetGradients(grad)
	n.p.Forward()
	n.p.Backward(func(p int) {
		s := n.v.Segments[p]
		at[p] = slices.Clone(grad[s.Offset : s.Offset+s.Len])
	})
	for p, then := range at {
		s := n.v.Segments[p]
		if !slices.Equal(then, grad[s.Offset:s.Offset+s.Len]) {
			t.Errorf("%s changed after it was reported", n.v.Params[p].Name)
		}
	}
}

// ForwardAs asks for each parameter once, before any op reads it.
func TestForwardAs(t *testing.T) {
	for _, train := range []bool{true, false} {
		n := newNetwork(t, 3, train)
		n.p.Forward()
		want := []float32{float32(n.p.Loss())}
		want = append(want, n.p.Logits()...)
		whole := slices.Clone(n.v.Weights)
		for i := range n.v.Weights {
			n.v.Weights[i] = float32(math.NaN())
		}
		var asked []int
		n.p.ForwardAs(func(param int) {
			asked = append(asked, param)
			s := n.v.Segments[param]
			copy(n.v.Weights[s.Offset:s.Offset+s.Len], whole[s.Offset:])
		})
		if got := append([]float32{float32(n.p.Loss())}, n.p.Logits()...); !slices.Equal(got, want) {
			t.Errorf("train %v: computed %v, want %v", train, got, want)
		}
		slices.Sort(asked)
		if len(asked) != len(n.v.Params) || len(slices.Compact(asked)) != len(n.v.Params) {
			t.Errorf("train %v: asked for %v of %d parameters", train, asked, len(n.v.Params))
		}
	}
}

// Programs of several batch sizes share variables and an arena that grows.
func TestProgramsShare(t *testing.T) {
	h := host(t, compute.Best(), 1)
	a := graph.NewArena(h)
	defer a.Close()
	small := networkOn(t, h, 2, true, a, graph.Compile)
	want := small.step()
	large := networkOn(t, h, 400, true, a, graph.Compile)
	if err := large.p.Attach(small.v); err != nil {
		t.Fatal(err)
	}
	wantLarge := large.step()
	test := networkOn(t, h, 2, false, a, graph.Compile)
	if err := test.p.Attach(small.v); err != nil {
		t.Fatal(err)
	}
	test.step()
	if got := small.step(); !slices.Equal(got, want) {
		t.Error("a program changed when the arena it shares grew")
	}
	if got := large.step(); !slices.Equal(got, wantLarge) {
		t.Error("a program changed after another used the shared arena")
	}
	if most := large.p.ArenaBytes(); a.Bytes() != most || small.p.ArenaBytes() >= most {
		t.Errorf("the arena holds %d bytes, want %d, the largest program's", a.Bytes(), most)
	}
	g := graph.New()
	w := g.Parameter(graph.Param{Name: "w", Shape: tensor.Shape{3, 2}})
	logits := graph.Linear(g.Input("x", tensor.Shape{1, 3}), w, nil)
	other, err := graph.Compile(g, h, graph.Options{Logits: logits})
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Attach(small.v); err == nil || !strings.Contains(err.Error(), "1 parameters") {
		t.Errorf("another network's variables: got %v", err)
	}
}

// Training normalises with the batch's statistics and reports them, the variance unbiased; inference
// uses the states.
func TestBatchStatistics(t *testing.T) {
	g := graph.New()
	x := g.Input("x", tensor.Shape{4, 2})
	one := g.Parameter(graph.Param{Name: "weight", Shape: tensor.Shape{2}, Init: graph.Constant{Value: 1}})
	zero := g.Parameter(graph.Param{Name: "bias", Shape: tensor.Shape{2}})
	y := batchNorm(x, one, zero)
	loss := graph.SoftmaxCrossEntropy(y, g.Labels("labels", 4))
	run := func(train bool) (*graph.Program, *graph.Variables) {
		p, v := start(t, g, compute.Plain, graph.Options{Loss: loss, Logits: y, Train: train})
		v.Initialize(0)
		copy(v.StateOf(0), []float32{2, 20})
		copy(v.StateOf(1), []float32{4, 100})
		clear(labelsOf(p))
		copy(images(p), []float32{0, 10, 2, 20, 4, 30, 6, 40})
		p.Forward()
		return p, v
	}
	p, v := run(true)
	stats := func(i int) []float32 {
		s := v.StateSegments[i]
		return p.BatchStats()[s.Offset : s.Offset+s.Len]
	}
	near(t, "mean", stats(0), 3, 25)
	near(t, "unbiased variance", stats(1), 20.0/3, 500.0/3)
	near(t, "trained", p.Logits()[:2], float32(-3/math.Sqrt(5)), float32(-15/math.Sqrt(125)))
	p, _ = run(false)
	near(t, "inference", p.Logits(), -1, -1, 0, 0, 1, 1, 2, 2)
	if len(p.BatchStats()) != 0 {
		t.Errorf("inference reports %d batch statistics", len(p.BatchStats()))
	}
}

func near(t *testing.T, what string, got []float32, want ...float32) {
	t.Helper()
	for i, w := range want {
		if math.Abs(float64(got[i]-w)) > 1e-5*math.Abs(float64(w))+1e-5 {
			t.Errorf("%s: %v, want %v", what, got, want)
			return
		}
	}
}

func TestVariables(t *testing.T) {
	a, b := newNetwork(t, 2, true), newNetwork(t, 7, true)
	if a.v.SHA256() != b.v.SHA256() {
		t.Error("the same seed gave different values")
	}
	b.v.Initialize(2)
	if a.v.SHA256() == b.v.SHA256() {
		t.Error("another seed gave the same values")
	}
	// By hand: one parameter in transposed layout, one state.
	g := graph.New()
	w := g.Parameter(graph.Param{Name: "w", Shape: tensor.Shape{2, 3}, Init: graph.Uniform{Bound: 1},
		Layout: tensor.Layout{View: tensor.Shape{2, 3}, Perm: []int{1, 0}}})
	g.State(graph.State{Name: "s", Shape: tensor.Shape{1}, Initial: 0.5})
	logits := graph.Linear(g.Input("x", tensor.Shape{1, 3}), w, nil)
	_, v := start(t, g, compute.Plain, graph.Options{Logits: logits})
	v.SetParam(0, []float32{0, 1, 2, 3, 4, 5})
	near(t, "stored", v.Weights, 0, 3, 1, 4, 2, 5)
	copy(v.StateOf(0), []float32{0.5})
	var bytes []byte
	for _, x := range []float32{0, 1, 2, 3, 4, 5, 0.5} {
		bytes = binary.LittleEndian.AppendUint32(bytes, math.Float32bits(x))
	}
	if got, want := v.SHA256(), fmt.Sprintf("%x", sha256.Sum256(bytes)); got != want {
		t.Errorf("hash %s, want %s", got, want)
	}
	v.Initialize(3)
	values := make([]float32, 6)
	v.Param(0, values)
	for i, x := range values {
		if want := random.Derive(3, 1, 0).Symmetric(uint64(i), 1); x != want {
			t.Errorf("element %d starts at %v, want %v", i, x, want)
		}
	}
}

// A program without a loss needs no labels.
func TestLogitsAlone(t *testing.T) {
	want := newNetwork(t, 3, false)
	want.p.Forward()
	g, _, logits := build(3)
	p, v := start(t, g, compute.Best(), graph.Options{Logits: logits})
	v.Initialize(1)
	fillInput(p)
	p.Forward()
	if !slices.Equal(p.Logits(), want.p.Logits()) || labelsOf(p) != nil || p.Samples() != 3 {
		t.Errorf("logits %v, want %v", p.Logits(), want.p.Logits())
	}
	p.Input("labels").SetInts([]int32{1}) // which has no effect
	if p.Loss() != 0 {
		t.Errorf("loss %v without labels", p.Loss())
	}
}

// Running a program before everything is set is a bug of the caller: it panics and says what is missing.
func TestRunningTooEarly(t *testing.T) {
	g, loss, logits := build(2)
	p, err := graph.Compile(g, host(t, compute.Plain, 1),
		graph.Options{Loss: loss, Logits: logits, Train: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	mustPanic(t, "input images is not set", p.Forward)
	fillInput(p)
	mustPanic(t, "no variables attached", p.Forward)
	v := graph.NewVariables(p)
	mustPanic(t, "attached false", func() { p.SetGradients(v.NewGradient()) })
	if err := p.Attach(v); err != nil {
		t.Fatal(err)
	}
	p.Forward()
	mustPanic(t, "no gradients set", func() { p.Backward(nil) })
	mustPanic(t, "len=1, want", func() { p.SetGradients(make([]float32, 1)) })
	mustPanic(t, "len(images)=3, want 216", func() { p.Input("images").SetFloats(make([]float32, 3)) })
	mustPanic(t, "int32 values for images [2, 6, 6, 3]", func() { p.Input("images").SetInts(nil) })
	mustPanic(t, "images is no input of texts", func() { p.Input("images").SetTexts(nil, nil) })
	mustPanic(t, "the graph has no input pictures", func() { p.Input("pictures") })
}

func mustPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
			t.Errorf("panic %q, want %q in it", got, want)
		}
	}()
	f()
}
