//go:build cuda && linux && amd64

package gpu_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lockstep/graph"
	"lockstep/graph/gpu"
	"lockstep/random"
	"lockstep/tensor"
)

// opCase is a network around an op. Its inputs are parameters, which the op's gradients so reach; build
// returns [N, ...], which a linear layer and a loss follow.
type opCase struct {
	name   string
	inputs string // shapes, such as "2 5 5 3, 3"
	build  func(in []*graph.Node) *graph.Node
}

func parse(shapes string) []tensor.Shape {
	var all []tensor.Shape
	for text := range strings.SplitSeq(shapes, ",") {
		var s tensor.Shape
		for axis := range strings.FieldsSeq(text) {
			n, err := strconv.Atoi(axis)
			if err != nil {
				panic(err)
			}
			s = append(s, n)
		}
		all = append(all, s)
	}
	return all
}

const eps = 1e-5

// batchNorm adds a batch norm with states of its own, for the inputs x, gamma and beta.
func batchNorm(in ...*graph.Node) *graph.Node {
	g := in[0].Graph()
	s := graph.State{Name: fmt.Sprintf("mean of %p", in[1]), Shape: in[1].Shape(), Momentum: 0.1}
	mean := g.State(s)
	s.Name, s.Initial = fmt.Sprintf("variance of %p", in[1]), 1
	return graph.BatchNorm(in[0], in[1], in[2], mean, g.State(s), eps)
}

// mapShapes are maps of odd and even sizes.
var mapShapes = []string{"2 5 5 3", "1 4 4 8", "3 7 6 1", "2 8 8 16", "2 3 3 20", "5 9 9 12", "1 1 1 4",
	"2 16 16 64", "3 2 2 130", "5 17 17 12", "2 40 41 6"}

// opCases are the ops in several shapes, alone and next to those that they are fused with.
func opCases() []opCase {
	var all []opCase
	add := func(name, inputs string, build func(in []*graph.Node) *graph.Node) {
		all = append(all, opCase{name, inputs, build})
	}
	for _, s := range append(mapShapes, "3 7", "5 64", "1 1", "4 1030") {
		c := s[strings.LastIndex(s, " ")+1:]
		add("relu", s, func(in []*graph.Node) *graph.Node { return graph.ReLU(in[0]) })
		add("tanh", s, func(in []*graph.Node) *graph.Node { return graph.Tanh(in[0]) })
		add("gelu", s, func(in []*graph.Node) *graph.Node { return graph.GELU(in[0]) })
		add("scale", s, func(in []*graph.Node) *graph.Node { return graph.Scale(in[0], -0.375) })
		add("add", s+","+s, func(in []*graph.Node) *graph.Node { return graph.Add(in[0], in[1]) })
		add("twice", s, func(in []*graph.Node) *graph.Node { return graph.Add(in[0], in[0]) })
		add("batch-norm", s+","+c+","+c, func(in []*graph.Node) *graph.Node { return batchNorm(in...) })
		add("batch-norm, relu", s+","+c+","+c, func(in []*graph.Node) *graph.Node {
			return graph.ReLU(batchNorm(in...))
		})
		add("batch-norm, add, relu", s+","+c+","+c+","+s, func(in []*graph.Node) *graph.Node {
			return graph.ReLU(graph.Add(batchNorm(in[:3]...), in[3]))
		})
	}
	for _, s := range mapShapes {
		add("global-avg-pool", s, func(in []*graph.Node) *graph.Node { return graph.GlobalAvgPool(in[0]) })
	}
	for _, s := range []string{"2 2", "3 9 32", "2 5 7", "3 6 9"} {
		add("dropout", s, func(in []*graph.Node) *graph.Node { return graph.Dropout(in[0], 0.4) })
	}
	return slices.Concat(all, poolCases(), linearCases(), convCases(), residualCases())
}

func poolCases() []opCase {
	var all []opCase
	for _, p := range []struct{ size, stride, pad int }{{2, 2, 0}, {3, 2, 0}, {3, 2, 1}, {3, 3, 1},
		{3, 1, 1}} {
		pool := func(x *graph.Node) *graph.Node { return graph.MaxPool(x, p.size, p.stride, p.pad) }
		for _, s := range []string{"2 6 4 3", "2 5 7 5", "1 7 7 8", "3 8 8 16", "2 3 3 12", "2 9 9 66",
			"6 29 31 12"} {
			c := s[strings.LastIndex(s, " ")+1:]
			name := fmt.Sprintf("max-pool %v", p)
			all = append(all,
				opCase{name, s, func(in []*graph.Node) *graph.Node { return pool(in[0]) }},
				opCase{name + " of relu", s, func(in []*graph.Node) *graph.Node {
					return pool(graph.ReLU(in[0]))
				}},
				opCase{name + ", relu", s, func(in []*graph.Node) *graph.Node {
					return graph.ReLU(pool(in[0]))
				}},
				opCase{name + " of batch-norm, relu", s + "," + c + "," + c,
					func(in []*graph.Node) *graph.Node { return pool(graph.ReLU(batchNorm(in...))) }})
		}
	}
	for _, o := range []struct{ stride, before, after int }{{2, 1, 2}, {3, 0, 0}, {2, 8, 8}, {1, 0, 3}} {
		for _, s := range []string{"2 5 4 3", "1 6 7 2", "2 8 8 16", "3 7 7 4"} {
			all = append(all, opCase{fmt.Sprintf("subsample %v", o), s, func(in []*graph.Node) *graph.Node {
				return graph.Subsample(in[0], o.stride, o.before, o.after)
			}})
		}
	}
	return all
}

// third returns the third of in, nil if there is none.
func third(in []*graph.Node) *graph.Node {
	if len(in) < 3 {
		return nil
	}
	return in[2]
}

func linearCases() []opCase {
	var all []opCase
	linear := func(in []*graph.Node) *graph.Node {
		return graph.Linear(in[0], in[1], third(in))
	}
	for _, s := range []string{"3 7, 7 5, 5", "1 9, 9 17", "2 3 2 4, 3 2 4 5, 5", "2 3 4, 4 6, 6",
		"64 33, 33 70, 70", "5 128, 128 64, 64", "100 64, 64 96"} {
		all = append(all, opCase{"linear", s, linear},
			opCase{"linear, relu", s, func(in []*graph.Node) *graph.Node { return graph.ReLU(linear(in)) }},
			opCase{"linear, gelu", s, func(in []*graph.Node) *graph.Node { return graph.GELU(linear(in)) }})
	}
	return all
}

func convCases() []opCase {
	var all []opCase
	for _, c := range []struct {
		inputs      string
		stride, pad int
	}{{"2 5 5 3, 3 3 3 4", 1, 1}, {"2 7 6 1, 5 5 1 6", 1, 0}, {"1 4 4 3, 5 5 3 5", 1, 2},
		{"3 4 4 5, 1 1 5 17", 1, 0}, {"2 7 7 4, 3 3 4 3", 2, 1}, {"7 2 2 5, 3 3 5 8", 1, 1},
		{"2 5 5 3, 1 1 3 8", 2, 0}, {"2 8 8 16, 3 3 16 16", 1, 1}, {"2 8 8 16, 3 3 16 32", 2, 1},
		{"1 9 9 64, 1 1 64 24", 1, 0}, {"2 16 16 3, 7 7 3 8", 2, 3}, {"2 6 6 8, 2 2 8 8", 1, 0},
		{"3 20 21 8, 3 3 8 8", 1, 1}} {
		k := c.inputs[strings.LastIndex(c.inputs, " ")+1:]
		conv := func(in []*graph.Node) *graph.Node {
			return graph.Conv(in[0], in[1], third(in), c.stride, c.pad)
		}
		normed := func(in []*graph.Node) *graph.Node {
			return graph.ReLU(batchNorm(conv(in[:2]), in[2], in[3]))
		}
		name := fmt.Sprintf("conv stride %d pad %d", c.stride, c.pad)
		all = append(all, opCase{name, c.inputs, conv}, opCase{name, c.inputs + "," + k, conv},
			opCase{name + ", relu", c.inputs + "," + k, func(in []*graph.Node) *graph.Node {
				return graph.ReLU(conv(in))
			}},
			opCase{name + ", batch-norm, relu", c.inputs + "," + k + "," + k, normed},
			opCase{name + ", twice", c.inputs + "," + k + "," + k + ", 3 3 " + k + " 7, 7, 7",
				func(in []*graph.Node) *graph.Node {
					y := graph.Conv(normed(in[:4]), in[4], nil, 1, 1)
					return graph.ReLU(batchNorm(y, in[5], in[6]))
				}})
	}
	return all
}

func residualCases() []opCase {
	var all []opCase
	for _, s := range []string{"2 4 4 3, 3 3 3 3, 3, 3, 3 3 3 3, 3, 3",
		"3 8 8 16, 3 3 16 16, 16, 16, 3 3 16 16, 16, 16", "3 20 21 8, 3 3 8 8, 8, 8, 3 3 8 8, 8, 8"} {
		block := func(in []*graph.Node) *graph.Node {
			y := graph.ReLU(batchNorm(graph.Conv(in[0], in[1], nil, 1, 1), in[2], in[3]))
			return graph.ReLU(graph.Add(batchNorm(graph.Conv(y, in[4], nil, 1, 1), in[5], in[6]), in[0]))
		}
		all = append(all, opCase{"residual block", s, block},
			opCase{"residual block of relu", s, func(in []*graph.Node) *graph.Node {
				return block(append([]*graph.Node{graph.ReLU(in[0])}, in[1:]...))
			}})
	}
	return all
}

// network returns the op with layers behind it and the loss.
func (c opCase) network(lossOf func(logits *graph.Node, n int) *graph.Node) (*graph.Graph, graph.Options) {
	g := graph.New()
	var in []*graph.Node
	shapes := parse(c.inputs)
	for i, s := range shapes {
		p := graph.Param{Name: string(rune('a' + i)), Shape: s, Init: graph.Normal{Deviation: 0.5}}
		if !s.Equal(shapes[0]) {
			in = append(in, g.Parameter(p))
			continue
		}
		// Weights are never bfloat16, nor what is made of them alone.
		p.Shape = tensor.Shape{1, s.Elems()}
		x := graph.Reshape(g.Parameter(p), s)
		in = append(in, graph.Add(x, g.Input("input "+p.Name, s)))
	}
	flat := graph.Flatten(c.build(in))
	top := g.Parameter(graph.Param{Name: "top", Shape: tensor.Shape{flat.Shape()[1], classes},
		Init: graph.Normal{Deviation: 0.5}})
	logits := graph.Linear(flat, top, nil)
	return g, graph.Options{Loss: lossOf(logits, flat.Shape()[0]), Logits: logits, Train: true}
}

// run computes the forward and the backward pass once.
func run(t *testing.T, g *graph.Graph, o graph.Options, ex graph.Executor, set func(p *graph.Program)) {
	t.Helper()
	p, err := graph.Compile(g, ex, o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	v := graph.NewVariables(p)
	v.Initialize(3)
	if err := p.Attach(v); err != nil {
		t.Fatal(err)
	}
	p.SetGradients(v.NewGradient())
	set(p)
	numbers := make([]int32, p.Samples())
	for i := range numbers {
		numbers[i] = int32(7*i + 2)
	}
	p.SetDraws(graph.Draws{Seed: 4, Step: 5, Samples: numbers})
	p.Forward()
	p.Loss()
	p.Backward(nil)
}

// setLabels sets the labels of a program that has some, and the targets of one that has those. Other inputs
// are 0.
func setLabels(p *graph.Program) {
	for _, in := range p.Inputs() {
		for i := range in.Ints() {
			in.Ints()[i] = int32(i*i) % classes
		}
		values := in.Floats()
		for i := 0; i < len(values) && in.Name() == "target"; i++ {
			values[i] = random.Stream(9).Symmetric(uint64(i), 1)
		}
	}
}

func entropy(logits *graph.Node, n int) *graph.Node {
	return graph.SoftmaxCrossEntropy(logits, logits.Graph().Labels("labels", n))
}

// lossCases are losses on logits [N, classes].
var lossCases = map[string]func(logits *graph.Node, n int) *graph.Node{
	"cross entropy": entropy,
	"smoothed": func(logits *graph.Node, n int) *graph.Node {
		return graph.SmoothedCrossEntropy(logits, logits.Graph().Labels("labels", n), 0.1)
	},
	"scaled": func(logits *graph.Node, n int) *graph.Node { return graph.Scale(entropy(logits, n), 0.7) },
	"squared error": func(logits *graph.Node, n int) *graph.Node {
		return graph.SquaredError(logits, logits.Graph().Input("target", tensor.Shape{n, classes}))
	},
}

// Every op computes what the host does from the same operands: in networks around one op, with several
// shapes, and in whole networks. No op is left out.
func TestOps(t *testing.T) {
	seen := map[string]bool{}
	for _, math := range []gpu.Math{gpu.Float32, gpu.BF16} {
		ex := newTwin(t, gpu.Config{Plain: true, Math: math})
		ex.seen = seen
		each := func(name string, f func(t *testing.T)) {
			t.Run(name+" "+string(math), func(t *testing.T) {
				ex.t = t
				f(t)
			})
		}
		for _, c := range opCases() {
			each(c.name+" "+c.inputs, func(t *testing.T) {
				g, o := c.network(entropy)
				run(t, g, o, ex, setLabels)
			})
		}
		for name, loss := range lossCases {
			for _, n := range []int{1, 3, 300} {
				each(fmt.Sprintf("%s of %d", name, n), func(t *testing.T) {
					c := opCase{name, fmt.Sprintf("%d 5", n),
						func(in []*graph.Node) *graph.Node { return in[0] }}
					g, o := c.network(loss)
					run(t, g, o, ex, setLabels)
				})
			}
		}
		for _, c := range textCases {
			each(c.name(), func(t *testing.T) { c.run(t, ex) })
		}
		for i, n := range networks {
			if testing.Short() && i >= 2 && math == gpu.Float32 {
				break // the larger ones take long without a GPU; TestNetworks has them whole
			}
			each(n.name, func(t *testing.T) { n.train(t, ex) })
		}
	}
	for _, op := range hostOps(t) {
		if !seen[op] {
			t.Errorf("no case has a graph.%s", op)
		}
	}
}

// textCase is a network over texts, with layers of cols features.
type textCase struct {
	cols, heads int
	share       float64 // that dropout takes
	lengths     []int32
}

var textCases = []textCase{
	{cols: 32, heads: 2, lengths: []int32{5, 1, 3}},
	{cols: 48, heads: 3, share: 0.3, lengths: []int32{1}},
	{cols: 64, heads: 1, share: 0.1, lengths: []int32{20, 2, 17, 33}},
	{cols: 96, heads: 3, share: 0.2, lengths: []int32{40, 39, 1, 1, 6}},
	{cols: 80, heads: 1, lengths: []int32{3, 70}},
	{cols: 256, heads: 2, share: 0.1, lengths: []int32{66, 80}},
}

func (c textCase) name() string {
	return fmt.Sprintf("texts of %v with %d features for %d heads", c.lengths, c.cols, c.heads)
}

// network has every op on texts.
func (c textCase) network() (*graph.Graph, graph.Options) {
	const words, most = 11, 80
	g := graph.New()
	param := func(name string, axes ...int) *graph.Node {
		return g.Parameter(graph.Param{Name: name, Shape: axes, Init: graph.Normal{Deviation: 0.3}})
	}
	tokens := g.Texts("texts", len(c.lengths), most)
	x := graph.Embedding(tokens, param("words", words, c.cols), param("positions", most, c.cols),
		param("kinds", 2, c.cols))
	x = graph.Dropout(x, c.share)
	q := graph.GELU(graph.Linear(x, param("query", c.cols, c.cols), param("bias", c.cols)))
	k := graph.Linear(x, param("key", c.cols, c.cols), nil)
	v := graph.ReLU(graph.LayerNorm(x, param("a", c.cols), param("b", c.cols), 1e-3))
	y := graph.Attention(q, k, v, c.heads, c.share)
	y = graph.AddLayerNorm(x, y, param("gamma", c.cols), param("beta", c.cols), 1e-3, c.share)
	y = graph.AddLayerNorm(y, graph.Add(x, v), param("c", c.cols), param("d", c.cols), 1e-12, 0)
	y = graph.Dropout(graph.Tanh(graph.FirstToken(y)), c.share)
	logits := graph.Linear(y, param("top", c.cols, classes), param("last", classes))
	return g, graph.Options{Loss: entropy(logits, len(c.lengths)), Logits: logits, Train: true}
}

func (c textCase) run(t *testing.T, ex graph.Executor) {
	g, o := c.network()
	run(t, g, o, ex, func(p *graph.Program) {
		var tokens, splits []int32
		for n, length := range c.lengths {
			splits = append(splits, int32(n%2)*length/2)
			for range length {
				tokens = append(tokens, int32(random.Stream(2).Intn(uint64(len(tokens)), 11)))
			}
		}
		p.Input("texts").SetPairs(tokens, c.lengths, splits)
		for i := range p.Input("labels").Ints() {
			p.Input("labels").Ints()[i] = int32(i) % classes
		}
	})
}
