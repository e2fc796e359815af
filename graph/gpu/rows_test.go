//go:build cuda && linux && amd64

package gpu_test

import (
	"fmt"
	"math"
	"testing"

	"lockstep/compute"
	"lockstep/graph"
	"lockstep/graph/gpu"
	"lockstep/random"
	"lockstep/tensor"
)

// The texts of the tests: some words are frequent, most do not occur, and every third text is a pair.
const (
	testTexts, testMost, testWords, testClasses = 9, 200, 1000, 5
)

// rowNetwork has the ops of rows, with so many columns and so much dropout, up to a loss for each text.
// Without classes the loss is a squared error.
func rowNetwork(cols int, share float64, classes bool) (*graph.Graph, graph.Options) {
	g := graph.New()
	param := func(name string, axes ...int) *graph.Node {
		return g.Parameter(graph.Param{Name: name, Shape: axes})
	}
	tokens := g.Texts("texts", testTexts, testMost)
	x := graph.Embedding(tokens, param("words", testWords, cols), param("positions", testMost+3, cols),
		param("kinds", 2+cols%2, cols))
	x = graph.Dropout(graph.LayerNorm(x, param("a", cols), param("b", cols), 1e-5), share)
	y := graph.Add(graph.ReLU(x), graph.GELU(x))
	y = graph.AddLayerNorm(x, y, param("gamma", cols), param("beta", cols), 1e-5, share)
	z := graph.Dropout(graph.Tanh(graph.FirstToken(y)), share)
	z = graph.AddLayerNorm(z, graph.Scale(z, 0.5), param("gamma2", cols), param("beta2", cols), 1e-5, share)
	logits := graph.Linear(z, param("top", cols, testClasses), nil)
	if !classes {
		loss := graph.SquaredError(logits, g.Input("targets", tensor.Shape{testTexts, testClasses}))
		return g, graph.Options{Loss: loss, Logits: logits, Train: true}
	}
	loss := graph.SmoothedCrossEntropy(logits, g.Labels("labels", testTexts), 0.1)
	return g, graph.Options{Loss: loss, Logits: logits, Train: true}
}

// rowResults are those of one run.
type rowResults struct {
	loss             float64
	logits, gradient []float32
	variables        *graph.Variables
}

// runRows computes the network twice on an executor, with texts of another length in between.
func runRows(t *testing.T, ex graph.Executor, cols int, share float64, classes bool) rowResults {
	t.Helper()
	g, o := rowNetwork(cols, share, classes)
	p, err := graph.Compile(g, ex, o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	v := graph.NewVariables(p)
	s := random.Derive(3, uint64(cols))
	for i := range v.Weights {
		v.Weights[i] = s.Symmetric(uint64(i), 0.5)
	}
	if err := p.Attach(v); err != nil {
		t.Fatal(err)
	}
	gradient := v.NewGradient()
	p.SetGradients(gradient)
	if classes {
		p.Input("labels").SetInts([]int32{0, 1, 2, 3, 4, 0, 1, 2, 3})
	} else {
		clear(p.Input("targets").Floats())
	}
	for turn := range 3 {
		tokens, lengths, splits := testBatch(uint64(turn % 2))
		p.Input("texts").SetPairs(tokens, lengths, splits)
		p.SetDraws(graph.Draws{Seed: 9, Step: turn % 2, Samples: []int32{70, 71, 3, 4, 5, 6, 1 << 30, 0, 9}})
		p.Forward()
		p.Backward(nil)
	}
	return rowResults{p.Loss(), p.Logits(), gradient, v}
}

// testBatch draws texts: in the first batch, two sorted runs of tokens and more.
func testBatch(batch uint64) (tokens, lengths, splits []int32) {
	s := random.Derive(5, batch)
	for n := range testTexts {
		length := testMost - n
		if batch > 0 {
			length = 1 + 9*n
		}
		for i := range length {
			word := s.Intn(uint64(n*testMost+i), testWords)
			if word%4 < 2 {
				word %= 3
			}
			tokens = append(tokens, int32(word))
		}
		lengths, splits = append(lengths, int32(length)), append(splits, int32(length/2*(n%3/2)))
	}
	return tokens, lengths, splits
}

func TestRowsMatchTheProcessor(t *testing.T) {
	host, err := compute.Open(compute.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	for _, c := range []struct {
		cols    int
		share   float64
		classes bool
		math    gpu.Math
		most    float64 // error relative to the largest value
	}{
		{32, 0, true, gpu.Float32, 1e-5}, {128, 0.1, true, gpu.Float32, 1e-5},
		{36, 0.3, false, gpu.Float32, 1e-5}, {31, 0.2, true, gpu.Float32, 1e-5},
		{260, 0.1, true, gpu.Float32, 1e-5},
		{32, 0.1, true, gpu.BF16, 0.03},
		{33, 0.1, true, gpu.BF16, 0.03},
		{768, 0.1, true, gpu.Float32, 1e-5},
	} {
		t.Run(fmt.Sprintf("%d columns, dropout %v, %s", c.cols, c.share, c.math), func(t *testing.T) {
			e := open(t, gpu.Config{Plain: true, Math: c.math})
			want := runRows(t, graph.NewHost(host), c.cols, c.share, c.classes)
			got := runRows(t, e, c.cols, c.share, c.classes)
			if math.Abs(got.loss-want.loss) > c.most*math.Abs(want.loss) {
				t.Errorf("loss %v, want %v", got.loss, want.loss)
			}
			compareRows(t, "logits", got.logits, want.logits, c.most)
			for i, s := range want.variables.Segments {
				lo, hi := s.Offset, s.Offset+s.Len
				compareRows(t, "gradient of "+want.variables.Params[i].Name, got.gradient[lo:hi],
					want.gradient[lo:hi], c.most)
			}
		})
	}
}

// Sums of columns take one kernel for matrices of few rows, and two for others.
func TestColumnSums(t *testing.T) {
	for _, m := range []gpu.Math{gpu.Float32, gpu.BF16} {
		b := newBench(t, gpu.Config{Plain: true, Math: m})
		for _, s := range [][3]int{{5, 10, 5}, {4096, 24, 4090}, {3000, 768, 3000}, {70, 3072, 33},
			{2100, 7, 2100}, {300, 4240, 300}, {40000, 8, 39000}} {
			typ := b.mapType(s[0], s[1])
			typ.Ragged = s[2] < s[0]
			x, y := b.random(typ), b.empty(floats(s[1]))
			want := make([]term, s[1])
			for i, v := range x.data[:s[1]*s[2]] {
				want[i%s[1]].add(v, 1)
			}
			got := b.run(graph.ColumnSumsOp{}, []value{x}, []value{y}, s[2])[0]
			b.compare(fmt.Sprintf("sums of %v, %s", s, m), y, got, want, same)
		}
	}
}

// compareRows fails if values differ by more than a part of the largest.
func compareRows(t *testing.T, what string, got, want []float32, most float64) {
	t.Helper()
	largest, worst, place := 0.0, -1.0, 0
	for i, w := range want {
		largest = max(largest, math.Abs(float64(w)))
		if d := math.Abs(float64(got[i] - w)); d > worst || d != d {
			worst, place = d, i
		}
	}
	if !(worst <= most*largest) {
		t.Errorf("%s: element %d is %v, want %v (largest %v)", what, place, got[place], want[place], largest)
	}
}
