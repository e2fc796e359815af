//go:build cuda && linux && amd64

package gpu_test

import (
	"math"
	"slices"
	"testing"

	"lockstep/graph"
	"lockstep/graph/gpu"
	"lockstep/model"
	"lockstep/random"
	"lockstep/tensor"
)

const samples, classes = 3, 4

// plan is a network to be trained.
type plan struct {
	name    string
	input   tensor.Shape
	samples int
	limit   int64 // of memory; 1 recomputes what it can
}

// trained is what two steps of a network compute, in the layout that all executors share.
type trained struct {
	loss, logits, statistics, gradient []float32
}

// compile returns a training program with initial variables and a gradient, closed with the test.
func (n plan) compile(t *testing.T, ex graph.Executor, kept bool) (*graph.Program, model.Network,
	*graph.Variables, []float32) {
	t.Helper()
	net, err := model.Named(n.name, classes, n.input)
	if err != nil {
		t.Fatal(err)
	}
	g := graph.New()
	logits := net.Build(net.Samples(g, n.samples))
	loss := graph.SoftmaxCrossEntropy(logits, g.Labels("labels", n.samples))
	o := graph.Options{Loss: loss, Logits: logits, Train: true, MemoryLimit: n.limit, Kept: kept}
	p, err := graph.Compile(g, ex, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	v := graph.NewVariables(p)
	v.Initialize(1)
	if err := p.Attach(v); err != nil {
		t.Fatal(err)
	}
	gradient := v.NewGradient()
	p.SetGradients(gradient)
	return p, net, v, gradient
}

// train computes two steps of a network. The second starts from what the gradient of the first leads to.
func (n plan) train(t *testing.T, ex graph.Executor) trained {
	t.Helper()
	p, net, v, gradient := n.compile(t, ex, false)
	// Most samples are of one class, so that the gradient is not a difference of almost equal terms.
	labels, numbers := p.Input("labels").Ints(), make([]int32, n.samples)
	for i := range labels {
		labels[i], numbers[i] = int32(i%4/3), int32(i)
	}
	p.SetDraws(graph.Draws{Seed: 1, Samples: numbers})
	var all trained
	for step := range 2 {
		feed(p, net, uint64(step))
		p.Forward()
		p.Backward(nil)
		all.loss = append(all.loss, float32(p.Loss()))
		all.logits = slices.Concat(all.logits, p.Logits())
		all.statistics = slices.Concat(all.statistics, p.BatchStats())
		all.gradient = slices.Concat(all.gradient, gradient)
		for i, d := range gradient {
			v.Weights[i] -= 1e-3 * d
		}
	}
	return all
}

// feed gives a program random images, or texts of several lengths of which some are pairs.
func feed(p *graph.Program, net model.Network, step uint64) {
	if !net.ReadsTexts() {
		images := p.Input(model.Images).Floats()
		for i := range images {
			images[i] = random.Stream(step).Symmetric(uint64(i), 1)
		}
		return
	}
	var tokens, lengths, splits []int32
	for n := range p.Samples() {
		length := 1 + (2*n+int(step)+4)%net.Input[0]
		lengths, splits = append(lengths, int32(length)), append(splits, int32(length/2*(n%2)))
		for range length {
			tokens = append(tokens, int32(random.Stream(step).Intn(uint64(len(tokens)), 100)))
		}
	}
	p.Input(model.Texts).SetPairs(tokens, lengths, splits)
}

// networks are one of each kind, with the smallest inputs that they take.
var networks = []plan{
	{name: "lenet", input: tensor.Shape{32, 32, 3}, samples: samples},
	{name: "resnet20", input: tensor.Shape{8, 8, 3}, samples: samples},
	{name: "airbench", input: tensor.Shape{32, 32, 3}, samples: samples},
	{name: "bert-tiny", input: tensor.Shape{6}, samples: samples},
}

// Every op of larger networks computes what the host does from the same operands.
func TestLargeNetworks(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes without a GPU")
	}
	for _, n := range []plan{
		{name: "vgg11", input: tensor.Shape{32, 32, 3}, samples: 2},
		{name: "resnet50", input: tensor.Shape{32, 32, 3}, samples: 2},
	} {
		t.Run(n.name, func(t *testing.T) { n.train(t, newTwin(t, gpu.Config{Plain: true})) })
	}
}

// Two steps lead to what they lead to on the host, with and without recomputing in the backward pass.
func TestNetworks(t *testing.T) {
	for _, n := range networks {
		t.Run(n.name, func(t *testing.T) {
			for _, n.limit = range []int64{0, 1} {
				want := n.train(t, host(t))
				n.train(t, open(t, gpu.Config{Plain: true})).check(t, want, 1e-4)
			}
		})
	}
}

func (got trained) check(t *testing.T, want trained, limit float64) {
	t.Helper()
	for _, v := range []struct {
		what      string
		got, want []float32
	}{
		{"loss", got.loss, want.loss},
		{"logits", got.logits, want.logits},
		{"batch statistics", got.statistics, want.statistics},
		{"gradient", got.gradient, want.gradient},
	} {
		if e := distance(v.got, v.want, 0); !(e <= limit) {
			t.Errorf("%s off by %.2g, limit %.0g: %s", v.what, e, limit, first(v.got, v.want))
		}
	}
}

// In bfloat16 the direction of the gradient stays.
func TestNetworksInBF16(t *testing.T) {
	for i, n := range networks {
		if testing.Short() && i >= 2 {
			break // without a GPU the larger ones take long; TestOps has all ops of them in bfloat16
		}
		n.samples = 16
		t.Run(n.name, func(t *testing.T) {
			want := n.train(t, host(t))
			got := n.train(t, open(t, gpu.Config{Plain: true, Math: gpu.BF16}))
			if e := distance(got.logits, want.logits, 0); !(e <= 5e-2) {
				t.Errorf("logits off by %.2g: %s", e, first(got.logits, want.logits))
			}
			if e := distance(got.loss, want.loss, 0); !(e <= 5e-2) {
				t.Errorf("loss off by %.2g", e)
			}
			if e := distance(got.statistics, want.statistics, 0); !(e <= 5e-2) {
				t.Errorf("batch statistics off by %.2g", e)
			}
			if c := cosine(got.gradient, want.gradient); !(c >= 0.97) {
				t.Errorf("cosine of the gradients is %.4f, want 0.97", c)
			}
		})
	}
}

// cosine returns that of the angle between two vectors.
func cosine(a, b []float32) float64 {
	var product, aa, bb float64
	for i, x := range a {
		y := b[i]
		product += float64(x) * float64(y)
		aa += float64(x) * float64(x)
		bb += float64(y) * float64(y)
	}
	return product / math.Sqrt(aa*bb)
}

// Two runs give the same bits, in every precision.
func TestRunsHaveTheSameBits(t *testing.T) {
	if testing.Short() {
		t.Skip("TestKeptProgramsHaveTheSameBits compares two runs, too")
	}
	for _, math := range []gpu.Math{gpu.Float32, gpu.BF16} {
		for _, n := range networks {
			t.Run(n.name+" "+string(math), func(t *testing.T) {
				var runs [2]trained
				for i := range runs {
					runs[i] = n.train(t, open(t, gpu.Config{Plain: true, Math: math}))
				}
				a, b := runs[0], runs[1]
				for i, pair := range [][2][]float32{{a.loss, b.loss}, {a.logits, b.logits},
					{a.statistics, b.statistics}, {a.gradient, b.gradient}} {
					if !slices.EqualFunc(pair[0], pair[1], sameBits) {
						t.Errorf("vector %d differs: %s", i, first(pair[0], pair[1]))
					}
				}
			})
		}
	}
}

func sameBits(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) }
