//go:build cuda && linux && amd64

package gpu_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"lockstep/graph"
	"lockstep/graph/gpu"
	"lockstep/graph/gpu/emulate"
	"lockstep/random"
	"lockstep/tensor"
)

// orders are those in which the emulated driver does the work of its streams.
var orders = []string{"late", "copies-late", "copies-early", "random"}

// In whatever order streams do their work, as far as events leave it open, steps have the bits that they have
// if it is done at once: those of a kept program, and those of a program whose gradients are downloaded while
// it computes. The samples of the next step are copied beside both, and gradients of weights are computed
// aside.
func TestOrdersOfStreams(t *testing.T) {
	if dir, err := driver(); err != nil || dir == "" {
		t.Skip("needs the emulated driver")
	}
	for name, kind := range map[string]pooling{"kept": {isKept: true}, "downloaded": {},
		"kept, not recorded": {isKept: true, dropout: 0.2}} {
		t.Setenv(emulate.Order, "")
		want := prefetched(t, kind)
		for _, order := range orders {
			t.Run(name+" "+order, func(t *testing.T) {
				t.Setenv(emulate.Order, order)
				for step, got := range prefetched(t, kind) {
					if !slices.EqualFunc(got, want[step], sameBits) {
						t.Errorf("step %d differs: %s", step, first(got, want[step]))
					}
				}
			})
		}
	}
}

// pooling says what kind of program pooled returns. With dropout its passes are not recorded.
type pooling struct {
	isKept  bool
	dropout float64
}

// pooled is a program that is small but for its images, so that those are copied without a detour.
func pooled(t *testing.T, ex *gpu.Executor, kind pooling) *graph.Program {
	const n, side, channels = 4, 64, 4
	g := graph.New()
	param := func(name string, shape ...int) *graph.Node {
		return g.Parameter(graph.Param{Name: name, Shape: shape, Init: graph.Normal{Deviation: 0.3}})
	}
	x := g.Input("images", tensor.Shape{n, side, side, channels})
	x = graph.ReLU(batchNorm(x, param("gamma", channels), param("beta", channels)))
	x = graph.MaxPool(x, 8, 8, 0)
	for i := range 3 {
		name := strconv.Itoa(i)
		x = graph.Conv(x, param("filter"+name, 3, 3, channels, channels), param("bias"+name, channels), 1, 1)
		x = graph.ReLU(batchNorm(x, param("gamma"+name, channels), param("beta"+name, channels)))
	}
	x = graph.Dropout(graph.GlobalAvgPool(x), kind.dropout)
	logits := graph.Linear(x, param("weights", channels, classes), param("bias", classes))
	loss := graph.SoftmaxCrossEntropy(logits, g.Labels("labels", n))
	p, err := graph.Compile(g, ex, graph.Options{Loss: loss, Logits: logits, Train: true, Kept: kind.isKept})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// attached is a program with variables, of which a kept one has weights and gradients on the GPU.
type attached struct {
	*graph.Program
	variables       *graph.Variables
	gradient        []float32
	weights, device graph.Span
}

func attach(t *testing.T, ex *gpu.Executor, kind pooling) *attached {
	t.Helper()
	p := &attached{Program: pooled(t, ex, kind)}
	p.variables = graph.NewVariables(p.Program)
	p.variables.Initialize(1)
	if err := p.Attach(p.variables); err != nil {
		t.Fatal(err)
	}
	p.gradient = p.variables.NewGradient()
	p.SetGradients(p.gradient)
	if kind.isKept {
		p.weights, p.device = vector(t, ex, len(p.gradient)), vector(t, ex, len(p.gradient))
		p.Keep(p.weights, p.device)
		ex.Upload(&graph.Buffer{Device: p.weights}, &graph.Buffer{F: p.variables.Weights})
	}
	return p
}

// prefetched returns the logits, batch statistics and weights of each of six steps.
func prefetched(t *testing.T, kind pooling) [][]float32 {
	ex := open(t, gpu.Config{Plain: true})
	p := attach(t, ex, kind)
	v, velocity := p.variables, vector(t, ex, len(p.gradient))
	batches := [2][]float32{make([]float32, 4*64*64*4), make([]float32, 4*64*64*4)}
	fill := func(step int) []float32 {
		images := batches[step%2]
		for i := range images {
			images[i] = random.Stream(step).Symmetric(uint64(i), 1)
		}
		return images
	}
	fill(0)
	var all [][]float32
	for step := range 6 {
		p.Input("images").SetFloats(batches[step%2])
		for i, labels := 0, p.Input("labels").Ints(); i < len(labels); i++ {
			labels[i] = int32((i + step) % classes)
		}
		p.SetDraws(graph.Draws{Seed: 1, Step: step, Samples: []int32{0, 1, 2, 3}})
		p.Forward()
		ex.Prefetch(fill(step + 1))
		if kind.isKept {
			p.Backward(nil)
			ex.SGD(p.weights, velocity, p.device, 1e-2, 0.9, 1e-4, 1, false)
		} else {
			p.Backward(func(param int) {})
			for i, d := range p.gradient {
				v.Weights[i] -= 1e-2 * d
			}
		}
		all = append(all, slices.Concat(p.Logits(), p.BatchStats(), v.Weights))
	}
	if kind.isKept {
		ex.Download(&graph.Buffer{F: v.Weights}, &graph.Buffer{Device: p.weights})
		all = append(all, v.Weights)
	}
	return all
}

// What is prefetched first may be in progress when a larger slice needs another place.
func TestPrefetchGrows(t *testing.T) {
	for _, order := range append(orders, "") {
		t.Setenv(emulate.Order, order)
		ex := open(t, gpu.Config{Plain: true})
		const small, large = 1 << 17, 1 << 18
		v := vector(t, ex, large)
		send := func(x []float32) { ex.Upload(&graph.Buffer{Device: v}, &graph.Buffer{F: x}) }
		values := [2][]float32{make([]float32, small), make([]float32, large)}
		for i, x := range values {
			send(x)
			ex.Wait()
			for j := range x {
				x[j] = float32(i + j)
			}
		}
		ex.Prefetch(values[0])
		ex.Prefetch(values[1])
		send(values[1])
		got := make([]float32, large)
		ex.Download(&graph.Buffer{F: got}, &graph.Buffer{Device: v})
		if !slices.Equal(got, values[1]) {
			t.Errorf("order %q: %s", order, first(got, values[1]))
		}
	}
}

// Waiting ends what is computed aside, and so does profiling.
func TestWaitEndsWhatIsAside(t *testing.T) {
	for _, order := range append(orders, "") {
		t.Setenv(emulate.Order, order)
		ex := open(t, gpu.Config{Plain: true})
		p := attach(t, ex, pooling{isKept: true})
		images := make([]float32, 4*64*64*4)
		for i := range images {
			images[i] = random.Stream(1).Symmetric(uint64(i), 1)
		}
		p.Input("images").SetFloats(images)
		p.Input("labels").Ints()
		var got [2][]float32
		for i, run := range []func(){func() { p.Forward(); p.Backward(nil) },
			func() { p.Profile(make([]time.Duration, len(p.Cost()))) }} {
			ex.Zero(p.device)
			run()
			ex.Wait()
			got[i] = make([]float32, len(p.gradient))
			ex.Download(&graph.Buffer{F: got[i]}, &graph.Buffer{Device: p.device})
		}
		if !slices.EqualFunc(got[0], got[1], sameBits) {
			t.Errorf("order %q: profiled, %s", order, first(got[1], got[0]))
		}
	}
}

// A pass that the driver cannot record leaves the executor as it was.
func TestRecordingFails(t *testing.T) {
	ex := open(t, gpu.Config{Plain: true})
	v := vector(t, ex, 3)
	if r := ex.Record(ex.Wait); r != nil || ex.Err() != nil {
		t.Fatalf("recorded that the program waits: %v, error %v", r, ex.Err())
	}
	sums := graph.Application{Op: graph.ColumnSumsOp{}, Name: "sums", Backward: true, Overwrites: -1,
		In: []graph.Type{{Shape: tensor.Shape{1, 3}}}, Out: []graph.Type{{Shape: tensor.Shape{3}}}}
	aside, err := ex.Prepare(sums)
	if err != nil {
		t.Fatal(err)
	}
	args := &graph.Args{In: []*graph.Buffer{{Device: v}}, Out: []*graph.Buffer{{Device: vector(t, ex, 3)}}}
	if r := ex.Record(func() { aside.Run(args); ex.Wait() }); r != nil || ex.Err() != nil {
		t.Fatalf("recorded that the program waits: %v, error %v", r, ex.Err())
	}
	ex.Rejoin()
	want, got := []float32{1, 2, 3}, make([]float32, 3)
	ex.Upload(&graph.Buffer{Device: v}, &graph.Buffer{F: want})
	ex.Download(&graph.Buffer{F: got}, &graph.Buffer{Device: v})
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
