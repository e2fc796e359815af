package check_test

import (
	"math"
	"slices"
	"testing"
	"unsafe"

	"lockstep/compute"
	"lockstep/graph"
	"lockstep/graph/check"
	"lockstep/model"
	"lockstep/random"
	"lockstep/tensor"
)

func host(t *testing.T) *graph.Host {
	cpu, err := compute.Open(compute.Config{ISA: compute.Best()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cpu.Close() })
	return graph.NewHost(cpu)
}

const samples, classes = 3, 4

// trained is everything that two steps of a network compute.
func trained(t *testing.T, name string, input tensor.Shape, ex graph.Executor, limit int64) []float32 {
	net, err := model.Named(name, classes, input)
	if err != nil {
		t.Fatal(err)
	}
	g := graph.New()
	logits := net.Build(net.Samples(g, samples))
	loss := graph.SoftmaxCrossEntropy(logits, g.Labels("labels", samples))
	p, err := graph.Compile(g, ex, graph.Options{Loss: loss, Logits: logits, Train: true, MemoryLimit: limit})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	v := graph.NewVariables(p)
	v.Initialize(1)
	if err := p.Attach(v); err != nil {
		t.Fatal(err)
	}
	gradient := v.NewGradient()
	p.SetGradients(gradient)
	p.Input("labels").SetInts([]int32{0, 1, 2})
	p.SetDraws(graph.Draws{Seed: 1, Samples: []int32{0, 1, 2}})
	var all []float32
	for step := range 2 {
		feed(p, net, uint64(step))
		p.Forward()
		p.Backward(nil)
		all = slices.Concat(all, p.Logits(), p.BatchStats(), gradient, []float32{float32(p.Loss())})
		for i, d := range gradient {
			v.Weights[i] -= 1e-3 * d
		}
	}
	return all
}

// feed gives a program random images, or texts of several lengths of which two are pairs.
func feed(p *graph.Program, net model.Network, step uint64) {
	if net.ReadsTexts() {
		lengths := []int32{2, 5, int32(3 + step)}
		tokens := make([]int32, 2+5+3+step)
		for i := range tokens {
			tokens[i] = int32(random.Stream(step).Intn(uint64(i), 100))
		}
		p.Input(model.Texts).SetPairs(tokens, lengths, []int32{0, 3, 1})
		return
	}
	images := p.Input(model.Images).Floats()
	for i := range images {
		images[i] = random.Stream(step).Symmetric(uint64(i), 1)
	}
}

// Two steps of each kind of network have no fault under the checks, and the bits of the host: this is an
// executor with memory of its own, outside of package graph.
func TestNetworksHaveNoFault(t *testing.T) {
	for name, input := range map[string]tensor.Shape{
		"lenet": {32, 32, 3}, "resnet20": {8, 8, 3}, "airbench": {32, 32, 3}, "bert-tiny": {6},
	} {
		for _, limit := range []int64{0, 1} {
			inner := host(t)
			want := trained(t, name, input, inner, limit)
			checked := check.New(inner)
			got := trained(t, name, input, checked, limit)
			if err := checked.Err(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if !equalBits(got, want) {
				t.Errorf("%s: other bits than the host's", name)
			}
		}
	}
}

func equalBits(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool {
		return math.Float32bits(x) == math.Float32bits(y)
	})
}

// planted is the host with a fault in the kernel of one op.
type planted struct {
	*graph.Host
	op    graph.Op
	fault func(a *graph.Args)
}

func (p planted) Prepare(a graph.Application) (graph.Kernel, error) {
	k, err := p.Host.Prepare(a)
	if a.Op == p.op {
		run := k.Run
		k.Run = func(a *graph.Args) {
			run(a)
			p.fault(a)
		}
	}
	return k, err
}

// beyond returns the element behind the last one of f, as assembly could write it.
func beyond(f []float32) *float32 {
	return (*float32)(unsafe.Add(unsafe.Pointer(&f[0]), 4*len(f)))
}

func TestPlantedFaultsAreFound(t *testing.T) {
	pool := graph.MaxPoolOp{Size: 2, Stride: 2}
	unwritten := math.Float32frombits(0x7fa5a5a5)
	for want, p := range map[string]planted{
		"max-pool, forward: result 0 is NaN at 5": {op: pool,
			fault: func(a *graph.Args) { a.Out[0].F[5] = float32(math.NaN()) }},
		"linear of fc2, forward: result 0 is -Inf at 0": {op: graph.LinearOp{},
			fault: func(a *graph.Args) { a.Out[0].F[0] = float32(math.Inf(-1)) }},
		"max-pool, forward: result 0 is not written at 7": {op: pool,
			fault: func(a *graph.Args) { a.Out[0].F[7] = unwritten }},
		"max-pool, forward: writes outside of result 0": {op: pool,
			fault: func(a *graph.Args) { *beyond(a.Out[0].F) = 1 }},
		"max-pool, forward: writes outside of input 0": {op: pool,
			fault: func(a *graph.Args) { *beyond(a.In[0].F) = 1 }},
		"max-pool, forward: writes to input 0": {op: pool,
			fault: func(a *graph.Args) { a.In[0].F[3]++ }},
		"max-pool+relu-backward, backward: result 0 is +Inf at 1": {
			op:    graph.MaxPoolBackwardOp{Of: pool, ReLU: true},
			fault: func(a *graph.Args) { a.Out[0].F[1] = float32(math.Inf(1)) }},
	} {
		p.Host = host(t)
		checked := check.New(p)
		trained(t, "lenet", tensor.Shape{32, 32, 3}, checked, 0)
		if len(checked.Faults()) == 0 {
			t.Errorf("nothing found, want %q", want)
			continue
		}
		if got := checked.Faults()[0].Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A plan of memory that lets values overlap, or hands out one that nobody has written, is found by looking
// at the buffers alone.
func TestWrongPlansAreFound(t *testing.T) {
	checked := check.New(host(t))
	memory, err := checked.Allocate(100)
	if err != nil {
		t.Fatal(err)
	}
	at := func(offset int) *graph.Buffer {
		return &graph.Buffer{Device: graph.Span{Handle: memory.Handle, Offset: offset, Len: 10}}
	}
	four := graph.Type{Shape: tensor.Shape{10}}
	k, err := checked.Prepare(graph.Application{Op: graph.AddOp{}, Name: "add", Layer: "top", Overwrites: 0,
		In: []graph.Type{four, four}, Out: []graph.Type{four}})
	if err != nil {
		t.Fatal(err)
	}
	a, b, over := at(0), at(20), at(25)
	upload := func(b *graph.Buffer) { checked.Upload(b, &graph.Buffer{F: make([]float32, 10)}) }
	run := func(in0, in1, out *graph.Buffer) {
		k.Run(&graph.Args{In: []*graph.Buffer{in0, in1}, Out: []*graph.Buffer{out}, Scratch: &graph.Buffer{}})
	}
	upload(a)
	run(a, b, at(40)) // b was never written
	upload(b)
	upload(over)
	run(a, b, at(40)) // an upload went over b
	upload(b)
	run(a, b, at(15)) // the result overlaps b
	upload(a)
	upload(b)
	run(a, b, a) // allowed
	want := []string{"input 1 is a value that nobody has written",
		"input 1 is a value that an upload has overwritten", "result 0 overlaps input 1"}
	for i, f := range checked.Faults() {
		if got := f.Error(); i >= len(want) || got != "add of top, forward: "+want[i] {
			t.Errorf("fault %d: %s", i, got)
		}
	}
	if got := len(checked.Faults()); got != len(want) {
		t.Errorf("%d faults, want %d", got, len(want))
	}
}
