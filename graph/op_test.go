package graph_test

import (
	"math"
	"testing"

	"lockstep/compute"
	"lockstep/graph"
	"lockstep/random"
	"lockstep/tensor"
)

// opCase is an op to be checked: y = build(inputs), [N, ...].
type opCase struct {
	name      string
	inputs    []tensor.Shape
	build     func(in []*graph.Node) *graph.Node
	reference func(in [][]float64) []float64
}

const (
	eps     = 1e-5
	classes = 3 // of the loss put on top of each op
)

func opCases() []opCase {
	cases := []opCase{
		{"relu", shapes("5 7"), relu, func(in [][]float64) []float64 { return referenceReLU(in[0]) }},
		{"add", shapes("4 6", "4 6"), add,
			func(in [][]float64) []float64 { return referenceAdd(in[0], in[1]) }},
		{"add to itself", shapes("4 6"),
			func(in []*graph.Node) *graph.Node { return graph.Add(in[0], in[0]) },
			func(in [][]float64) []float64 { return referenceAdd(in[0], in[0]) }},
		{"reshape", shapes("2 3 4"),
			func(in []*graph.Node) *graph.Node { return graph.Reshape(in[0], tensor.Shape{4, 6}) },
			func(in [][]float64) []float64 { return in[0] }},
		{"scale", shapes("5 7"),
			func(in []*graph.Node) *graph.Node { return graph.Scale(in[0], -0.375) },
			func(in [][]float64) []float64 { return referenceScale(in[0], -0.375) }},
		linearCase("linear", "3 7", "7 5", "5"),
		linearCase("linear without bias", "1 9", "9 17"),
		linearCase("linear of a map", "2 3 2 4", "3 2 4 5", "5"),
		linearCase("linear of a sequence", "2 3 4", "4 6", "6"),
		convCase("conv 3x3", 1, 1, "2 5 5 3", "3 3 3 4", "4"),
		convCase("conv 5x5 of one channel", 1, 0, "2 7 6 1", "5 5 1 6", "6"),
		convCase("conv 5x5 padded", 1, 2, "1 4 4 3", "5 5 3 5", "5"),
		convCase("conv 1x1", 1, 0, "3 4 4 5", "1 1 5 17"),
		convCase("conv stride 2", 2, 1, "2 7 7 4", "3 3 4 3", "3"),
		convCase("conv 2x2 map", 1, 1, "7 2 2 5", "3 3 5 8", "8"),
		convCase("conv 1x1 stride 2", 2, 0, "2 5 5 3", "1 1 3 8"),
		poolCase("max-pool", 2, 2, 0, "2 6 4 3"),
		poolCase("max-pool of an odd map", 2, 2, 0, "2 5 7 5"),
		poolCase("max-pool overlapping", 3, 2, 0, "1 7 7 2"),
		poolCase("max-pool padded", 3, 2, 1, "2 6 5 3"),
		subsampleCase("subsample", 2, 1, 2, "2 5 4 3"),
		subsampleCase("subsample without padding", 3, 0, 0, "1 6 7 2"),
		{"global-avg-pool", shapes("2 3 5 4"),
			func(in []*graph.Node) *graph.Node { return graph.GlobalAvgPool(in[0]) },
			func(in [][]float64) []float64 { return referenceGlobalAvgPool(in[0], dims("2 3 5 4")) }},
		batchNormCase("batch-norm", "3 4 4 5"),
		batchNormCase("batch-norm of rows", "6 17"),
	}
	for _, c := range cases {
		c.name += ", relu"
		build, reference := c.build, c.reference
		c.build = func(in []*graph.Node) *graph.Node { return graph.ReLU(build(in)) }
		c.reference = func(in [][]float64) []float64 { return referenceReLU(reference(in)) }
		cases = append(cases, c)
	}
	return append(cases, residualCase())
}

func relu(in []*graph.Node) *graph.Node { return graph.ReLU(in[0]) }

func add(in []*graph.Node) *graph.Node { return graph.Add(in[0], in[1]) }

func linearCase(name string, inputs ...string) opCase {
	s := shapes(inputs...)
	k := s[1][len(s[1])-1]
	return opCase{name, s,
		func(in []*graph.Node) *graph.Node { return graph.Linear(in[0], in[1], third(in)) },
		func(in [][]float64) []float64 {
			return referenceLinear(in[0], in[1], third(in), len(in[1])/k, k)
		}}
}

func convCase(name string, stride, pad int, inputs ...string) opCase {
	return opCase{name, shapes(inputs...),
		func(in []*graph.Node) *graph.Node { return graph.Conv(in[0], in[1], third(in), stride, pad) },
		func(in [][]float64) []float64 {
			return referenceConv(in[0], in[1], third(in), dims(inputs[0]), dims(inputs[1]), stride, pad)
		}}
}

func poolCase(name string, size, stride, pad int, input string) opCase {
	return opCase{name, shapes(input),
		func(in []*graph.Node) *graph.Node { return graph.MaxPool(in[0], size, stride, pad) },
		func(in [][]float64) []float64 {
			return referenceMaxPool(in[0], dims(input), size, stride, pad)
		}}
}

func subsampleCase(name string, stride, before, after int, input string) opCase {
	return opCase{name, shapes(input),
		func(in []*graph.Node) *graph.Node { return graph.Subsample(in[0], stride, before, after) },
		func(in [][]float64) []float64 {
			return referenceSubsample(in[0], dims(input), stride, before, after)
		}}
}

func batchNormCase(name, input string) opCase {
	x := shapes(input)[0]
	c := tensor.Shape{x[len(x)-1]}
	return opCase{name, []tensor.Shape{x, c, c},
		func(in []*graph.Node) *graph.Node { return batchNorm(in[0], in[1], in[2]) },
		func(in [][]float64) []float64 { return referenceBatchNorm(in[0], in[1], in[2], eps) }}
}

// batchNorm adds a batch norm with states of its own.
func batchNorm(x, gamma, beta *graph.Node) *graph.Node {
	g, s := x.Graph(), graph.State{Name: "mean", Shape: gamma.Shape(), Momentum: 0.1}
	mean := g.State(s)
	s.Name, s.Initial = "variance", 1
	return graph.BatchNorm(x, gamma, beta, mean, g.State(s), eps)
}

// residualCase is a block whose input is read twice: relu(x + conv(x)).
func residualCase() opCase {
	c := convCase("residual block", 1, 1, "2 4 4 3", "3 3 3 3", "3")
	build, reference := c.build, c.reference
	c.build = func(in []*graph.Node) *graph.Node {
		return graph.ReLU(graph.Add(in[0], build(in)))
	}
	c.reference = func(in [][]float64) []float64 {
		return referenceReLU(referenceAdd(in[0], reference(in)))
	}
	return c
}

// TestOpsAgainstFormulas compares each op's result with its formula in float64, and the gradients it
// gives with the formula's difference quotients, on every ISA.
//
// A linear layer of random weights and a cross entropy stand on top of the op, so that its result
// receives a gradient with no structure, and every input is a parameter.
func TestOpsAgainstFormulas(t *testing.T) {
	for _, c := range opCases() {
		t.Run(c.name, func(t *testing.T) {
			want := c.expect()
			for _, isa := range compute.Supported() {
				c.check(t, isa, want)
			}
		})
	}
}

// expectation is what the formulas say in float64.
type expectation struct {
	labels    []int32
	values    [][]float64 // of the inputs, then of the top layer
	result    []float64
	loss      float64
	gradients [][]float64
}

func (c opCase) expect() expectation {
	var e expectation
	for i, s := range c.inputs {
		e.values = append(e.values, draw(i, s.Elems()))
	}
	e.result = c.reference(e.values)
	n := c.samples()
	features := len(e.result) / n
	inputs, top := e.values, draw(len(c.inputs), features*classes)
	e.values = append(e.values, top)
	for i := range n {
		e.labels = append(e.labels, int32(i*i)%classes)
	}
	total := func() float64 {
		logits := referenceLinear(c.reference(inputs), top, nil, features, classes)
		return referenceCrossEntropy(logits, e.labels, classes)
	}
	e.loss = total()
	for _, values := range e.values {
		e.gradients = append(e.gradients, differences(values, total))
	}
	return e
}

// network builds the op with the loss on top.
func (c opCase) network() (*graph.Graph, graph.Options) {
	g := graph.New()
	var in []*graph.Node
	for i, s := range c.inputs {
		in = append(in, g.Parameter(graph.Param{Name: string(rune('a' + i)), Shape: s}))
	}
	flat := graph.Flatten(c.build(in))
	top := g.Parameter(graph.Param{Name: "top", Shape: tensor.Shape{flat.Shape()[1], classes}})
	labels := g.Labels("labels", flat.Shape()[0])
	loss := graph.SoftmaxCrossEntropy(graph.Linear(flat, top, nil), labels)
	return g, graph.Options{Loss: loss, Logits: flat, Train: true}
}

// samples returns the length of the result's first axis.
func (c opCase) samples() int {
	_, o := c.network()
	return o.Logits.Shape()[0]
}

// setLabels sets the labels of a program that reads some.
func setLabels(p *graph.Program, labels []int32) {
	for _, in := range p.Inputs() {
		in.SetInts(labels)
	}
}

func (c opCase) check(t *testing.T, isa compute.ISA, want expectation) {
	g, o := c.network()
	p, v := start(t, g, isa, o)
	for i, wide := range want.values {
		values := make([]float32, len(wide))
		for j, x := range wide {
			values[j] = float32(x)
		}
		v.SetParam(i, values)
	}
	grad := v.NewGradient()
	setLabels(p, want.labels)
	p.SetGradients(grad)
	p.Poison(float32(math.NaN()))
	p.Forward()
	p.Backward(nil)
	compare(t, isa, "result", p.Logits(), want.result)
	compare(t, isa, "loss", []float32{float32(p.Loss())}, []float64{want.loss})
	for i, param := range v.Params {
		got := make([]float32, v.Segments[i].Len)
		v.Canonical(i, got, grad)
		compare(t, isa, "gradient of "+param.Name, got, want.gradients[i])
	}
}

// draw returns n float32 numbers in [-1, 1).
func draw(stream, n int) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = float64(random.Stream(stream).Symmetric(uint64(i), 1))
	}
	return values
}

// differences returns the central difference quotients of f with respect to each of x.
func differences(x []float64, f func() float64) []float64 {
	const h = 1e-5
	d := make([]float64, len(x))
	for i, at := range x {
		x[i] = at + h
		up := f()
		x[i] = at - h
		d[i] = (up - f()) / (2 * h)
		x[i] = at
	}
	return d
}

// compare allows float32's rounding: 1e-5 of the largest value.
func compare(t *testing.T, isa compute.ISA, what string, got []float32, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%v: %s has %d values, want %d", isa, what, len(got), len(want))
	}
	largest := 0.0
	for _, w := range want {
		largest = max(largest, math.Abs(w))
	}
	for i, w := range want {
		if diff := math.Abs(float64(got[i]) - w); !(diff <= 1e-5*largest+1e-8) {
			t.Fatalf("%v: %s[%d] = %g, want %g (largest %g)", isa, what, i, got[i], w, largest)
		}
	}
}
