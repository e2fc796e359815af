package op_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"lockstep/compute"
	"lockstep/graph"
	"lockstep/internal/alloctest"
	"lockstep/op"
	"lockstep/random"
	"lockstep/tensor"
)

// opCase is an op to be checked. Its formula, in float64, tells element i of the result.
type opCase struct {
	name    string
	inputs  []tensor.Shape
	build   func(in []*graph.Node) *graph.Node
	formula func(in [][]float64, i int) float64
	low, by float64 // inputs are drawn from low to low+by; by 0 means from -1 to 1
}

func shapes(of ...[]int) (s []tensor.Shape) {
	for _, axes := range of {
		s = append(s, axes)
	}
	return s
}

// function is a case of a function of each element.
func function(name string, of func(*graph.Node) *graph.Node, f func(x float64) float64, low,
	by float64) opCase {
	return opCase{name, shapes([]int{3, 5}), func(in []*graph.Node) *graph.Node { return of(in[0]) },
		func(in [][]float64, i int) float64 { return f(in[0][i]) }, low, by}
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func clip(x, lo, hi float64) float64 { return min(max(x, lo), hi) }

func functions() []opCase {
	return []opCase{
		function("neg", op.Neg, func(x float64) float64 { return -x }, 0, 0),
		function("exp", op.Exp, math.Exp, 0, 0),
		function("log", op.Log, math.Log, 0.5, 2),
		function("sqrt", op.Sqrt, math.Sqrt, 0.5, 2),
		function("erf", op.Erf, math.Erf, 0, 0),
		function("abs", op.Abs, math.Abs, 0, 0),
		function("reciprocal", op.Reciprocal, func(x float64) float64 { return 1 / x }, 0.5, 2),
		function("pow", func(x *graph.Node) *graph.Node { return op.Pow(x, 3) },
			func(x float64) float64 { return x * x * x }, 0, 0),
		function("sigmoid", op.Sigmoid, sigmoid, -2, 4),
		function("silu", op.SiLU, func(x float64) float64 { return x * sigmoid(x) }, -2, 4),
		function("softplus", op.Softplus, func(x float64) float64 { return math.Log1p(math.Exp(x)) }, -2, 4),
		function("leaky-relu", func(x *graph.Node) *graph.Node { return op.LeakyReLU(x, 0.1) },
			func(x float64) float64 { return max(x, 0.1*x) }, 0, 0),
		function("elu", func(x *graph.Node) *graph.Node { return op.ELU(x, 0.5) },
			func(x float64) float64 { return max(x, 0.5*math.Expm1(min(x, 0))) }, 0, 0),
		function("clip", func(x *graph.Node) *graph.Node { return op.Clip(x, 0, 6) },
			func(x float64) float64 { return clip(x, 0, 6) }, -8, 16),
		function("hard-sigmoid", func(x *graph.Node) *graph.Node { return op.HardSigmoid(x, 1./6, 0.5) },
			func(x float64) float64 { return clip(x/6+0.5, 0, 1) }, -4.7, 10),
		function("hard-swish", op.HardSwish,
			func(x float64) float64 { return x * clip(x/6+0.5, 0, 1) }, -5, 10),
	}
}

// pair is a case of an op on two values, of which at says where the elements of one result stand.
func pair(name string, of func(a, b *graph.Node) *graph.Node, a, b []int, f func(a, b float64) float64,
	at func(i int) (int, int)) opCase {
	return opCase{name, shapes(a, b), func(in []*graph.Node) *graph.Node { return of(in[0], in[1]) },
		func(in [][]float64, i int) float64 { j, k := at(i); return f(in[0][j], in[1][k]) }, 0.5, 2}
}

func pairs() []opCase {
	same := func(i int) (int, int) { return i, i }
	plus := func(a, b float64) float64 { return a + b }
	minus := func(a, b float64) float64 { return a - b }
	times := func(a, b float64) float64 { return a * b }
	over := func(a, b float64) float64 { return a / b }
	return []opCase{
		pair("add a row", op.Add, []int{2, 3, 4}, []int{4}, plus, func(i int) (int, int) { return i, i % 4 }),
		pair("sub", op.Sub, []int{3, 4}, []int{3, 4}, minus, same),
		pair("sub from a scalar", op.Sub, []int{1}, []int{3, 4}, minus, func(i int) (int, int) {
			return 0,
				i
		}),
		pair("mul", op.Mul, []int{3, 4}, []int{3, 4}, times, same),
		pair("mul by channels", op.Mul, []int{2, 3, 2, 4}, []int{2, 1, 1, 4}, times,
			func(i int) (int, int) { return i, i/24*4 + i%4 }),
		pair("mul outer", op.Mul, []int{3, 1}, []int{1, 4}, times, func(i int) (int, int) {
			return i / 4,
				i % 4
		}),
		pair("where greater", func(a, b *graph.Node) *graph.Node {
			return op.Where(op.Greater(a, b), op.Mul(a, a), op.Neg(b))
		}, []int{3, 4}, []int{4}, func(a, b float64) float64 {
			if a > b {
				return a * a
			}
			return -b
		}, func(i int) (int, int) { return i, i % 4 }),
		pair("where less or equal", func(a, b *graph.Node) *graph.Node {
			return op.Where(op.Add(op.Less(a, b), op.Equal(a, b)), op.Log(a), b)
		}, []int{3, 4}, []int{3, 4}, func(a, b float64) float64 {
			if a <= b {
				return math.Log(a)
			}
			return b
		}, same),
		pair("div", op.Div, []int{3, 4}, []int{3, 4}, over, same),
		pair("div by a column", op.Div, []int{3, 4}, []int{3, 1}, over,
			func(i int) (int, int) { return i, i / 4 }),
	}
}

// single is a case of an op on one value.
func single(name string, of func(x *graph.Node) *graph.Node, x []int,
	f func(x []float64, i int) float64) opCase {
	return opCase{name, shapes(x), func(in []*graph.Node) *graph.Node { return of(in[0]) },
		func(in [][]float64, i int) float64 { return f(in[0], i) }, 0, 0}
}

func sumOver(n int, f func(k int) float64) (sum float64) {
	for k := range n {
		sum += f(k)
	}
	return sum
}

func movesAndSums() []opCase {
	return []opCase{
		single("sum of rows", func(x *graph.Node) *graph.Node { return op.Sum(x, false, -1) }, []int{2, 3, 4},
			func(x []float64, i int) float64 { return sumOver(4, func(k int) float64 { return x[i*4+k] }) }),
		single("sum in the middle", func(x *graph.Node) *graph.Node { return op.Sum(x, true, 1) }, []int{2,
			3, 4},
			func(x []float64, i int) float64 {
				return sumOver(3, func(k int) float64 { return x[i/4*12+k*4+i%4] })
			}),
		single("mean of maps", func(x *graph.Node) *graph.Node { return op.Mean(x, false, 1, 2) },
			[]int{2, 3, 2, 4}, func(x []float64, i int) float64 {
				return sumOver(6, func(k int) float64 { return x[i/4*24+k*4+i%4] / 6 })
			}),
		single("max", func(x *graph.Node) *graph.Node { return op.Max(x, false, 1) }, []int{2, 3, 2},
			func(x []float64, i int) float64 { j := i/2*6 + i%2; return max(x[j], x[j+2], x[j+4]) }),
		single("expand", func(x *graph.Node) *graph.Node { return op.Expand(x, tensor.Shape{2, 3, 4}) },
			[]int{3, 1}, func(x []float64, i int) float64 { return x[i/4%3] }),
		single("transpose", func(x *graph.Node) *graph.Node { return op.Transpose(x, 0, 2, 1) }, []int{2, 3,
			4},
			func(x []float64, i int) float64 { return x[i/12*12+i%3*4+i/3%4] }),
		single("slice", func(x *graph.Node) *graph.Node {
			return op.Slice(x, op.Range{}, op.Range{4, 2,
				-3})
		},
			[]int{2, 5}, func(x []float64, i int) float64 { return x[i/2*5+4-i%2*3] }),
		single("pad", func(x *graph.Node) *graph.Node { return op.Pad(x, []int{0, 1}, []int{0, 2}, 0.25) },
			[]int{2, 3}, func(x []float64, i int) float64 {
				if k := i % 6; k >= 1 && k < 4 {
					return x[i/6*3+k-1]
				}
				return 0.25
			}),
		{"concat", shapes([]int{2, 3}, []int{2, 1}), func(in []*graph.Node) *graph.Node {
			return op.Concat(1, in[0], in[1], in[0])
		}, func(in [][]float64, i int) float64 {
			if k := i % 7; k != 3 {
				return in[0][i/7*3+k-k/4*4]
			}
			return in[1][i/7]
		}, 0, 0},
		single("take", func(x *graph.Node) *graph.Node { return op.Take(x, 1, 2, 0, 2) }, []int{2, 3, 2},
			func(x []float64, i int) float64 { return x[i/6*6+[]int{2, 0, 2}[i/2%3]*2+i%2] }),
		single("gather", func(x *graph.Node) *graph.Node {
			return op.Gather(x, op.Constant(x.Graph(), tensor.Shape{2, 2}, 1, 2, 1, 0))
		}, []int{3, 4}, func(x []float64, i int) float64 { return x[[]int{1, 2, 1, 0}[i/4]*4+i%4] }),
		single("softmax", op.Softmax, []int{2, 5}, func(x []float64, i int) float64 {
			return math.Exp(x[i]) / sumOver(5, func(k int) float64 { return math.Exp(x[i/5*5+k]) })
		}),
		single("log-softmax", op.LogSoftmax, []int{2, 5}, func(x []float64, i int) float64 {
			return x[i] - math.Log(sumOver(5, func(k int) float64 { return math.Exp(x[i/5*5+k]) }))
		}),
	}
}

func products() []opCase {
	matmul := func(m, k, n int, ofA, ofB func(batch int) int) func(in [][]float64, i int) float64 {
		return func(in [][]float64, i int) float64 {
			batch, row, col := i/(m*n), i/n%m, i%n
			return sumOver(k, func(c int) float64 {
				return in[0][(ofA(batch)*m+row)*k+c] * in[1][(ofB(batch)*k+c)*n+col]
			})
		}
	}
	own := func(b int) int { return b }
	two := func(of func(a, b *graph.Node) *graph.Node) func(in []*graph.Node) *graph.Node {
		return func(in []*graph.Node) *graph.Node { return of(in[0], in[1]) }
	}
	return []opCase{
		{"matmul", shapes([]int{2, 2, 3, 5}, []int{2, 2, 5, 4}), two(op.MatMul), matmul(3, 5, 4, own, own),
			0, 0},
		{"matmul broadcast", shapes([]int{2, 1, 3, 5}, []int{2, 5, 4}), two(op.MatMul),
			matmul(3, 5, 4, func(b int) int { return b / 2 }, func(b int) int { return b % 2 }), 0, 0},
		{"matmul by a matrix", shapes([]int{2, 3, 5}, []int{5, 4}), two(op.MatMul),
			matmul(3, 5, 4, own, func(int) int { return 0 }), 0, 0},
		convCase("conv in groups", []int{2, 5, 4, 4}, []int{3, 3, 2, 6}, op.Window{Groups: 2, Pad: [4]int{1,
			1, 1, 1}}),
		convCase("depthwise", []int{2, 5, 4, 3}, []int{3, 3, 1, 3},
			op.Window{Groups: 3, Pad: [4]int{1, 1, 1, 1}, Stride: [2]int{2, 2}}),
		convCase("depthwise, two filters", []int{1, 4, 4, 3}, []int{2, 2, 1, 6}, op.Window{Groups: 3}),
		convCase("conv with gaps", []int{1, 6, 6, 2}, []int{3, 3, 2, 3}, op.Window{Dilation: [2]int{2, 1}}),
		convCase("conv padded on one side", []int{1, 4, 5, 2}, []int{2, 3, 2, 3},
			op.Window{Stride: [2]int{1, 2}, Pad: [4]int{0, 1, 1, 0}}),
		{"conv-transpose", shapes([]int{2, 3, 3, 4}, []int{3, 3, 2, 4}), func(in []*graph.Node) *graph.Node {
			return op.ConvTranspose(in[0], in[1], nil, 2, 1, 1)
		}, func(in [][]float64, i int) float64 {
			c, w, h, n := i%2, i/2%6, i/12%6, i/72
			return sumOver(9*9*4, func(j int) float64 {
				k, s, r, q, p := j%4, j/4%3, j/12%3, j/36%3, j/108
				if p*2+r-1 != h || q*2+s-1 != w {
					return 0
				}
				return in[0][((n*3+p)*3+q)*4+k] * in[1][((r*3+s)*2+c)*4+k]
			})
		}, 0, 0},
		single("avg-pool", func(x *graph.Node) *graph.Node {
			return op.AvgPool(x, [2]int{3, 3}, op.Window{Stride: [2]int{2, 2}, Pad: [4]int{1, 1, 1, 1}}, true)
		}, []int{1, 4, 4, 2}, func(x []float64, i int) float64 {
			c, q, p := i%2, i/2%2, i/4
			return sumOver(9, func(k int) float64 {
				h, w := p*2+k/3-1, q*2+k%3-1
				if h < 0 || w < 0 {
					return 0
				}
				return x[(h*4+w)*2+c] / 9
			})
		}),
		{"group-norm", shapes([]int{2, 2, 3, 4}, []int{4}, []int{4}), func(in []*graph.Node) *graph.Node {
			return op.GroupNorm(in[0], in[1], in[2], 2, 1e-5)
		}, func(in [][]float64, i int) float64 {
			n, g, c := i/24, i%4/2, i%4
			at := func(k int) float64 { return in[0][n*24+k/2*4+g*2+k%2] }
			mean := sumOver(12, at) / 12
			variance := sumOver(12, func(k int) float64 { return (at(k) - mean) * (at(k) - mean) / 12 })
			return (in[0][i]-mean)/math.Sqrt(variance+1e-5)*in[1][c] + in[2][c]
		}, 0, 0},
	}
}

// convCase is a convolution by Window, x [N, H, W, C] with w [R, S, C/Groups, K].
func convCase(name string, x, w []int, o op.Window) opCase {
	build := func(in []*graph.Node) *graph.Node { return op.Conv(in[0], in[1], nil, o) }
	groups, stride, gap := max(o.Groups, 1), [2]int{max(o.Stride[0], 1), max(o.Stride[1], 1)},
		[2]int{max(o.Dilation[0], 1), max(o.Dilation[1], 1)}
	side := func(i int) int { return (x[1+i]+o.Pad[i]+o.Pad[i+2]-(w[i]-1)*gap[i]-1)/stride[i] + 1 }
	oh, ow, k := side(0), side(1), w[3]
	return opCase{name, shapes(x, w), build, func(in [][]float64, i int) float64 {
		out, q, p, n := i%k, i/k%ow, i/k/ow%oh, i/k/ow/oh
		return sumOver(w[0]*w[1]*w[2], func(j int) float64 {
			c, s, r := j%w[2], j/w[2]%w[1], j/w[2]/w[1]
			h, v := p*stride[0]+r*gap[0]-o.Pad[0], q*stride[1]+s*gap[1]-o.Pad[1]
			if h < 0 || v < 0 || h >= x[1] || v >= x[2] {
				return 0
			}
			channel := out/(k/groups)*w[2] + c
			return in[0][((n*x[1]+h)*x[2]+v)*x[3]+channel] * in[1][j*k+out]
		})
	}, 0, 0}
}

func cases() (all []opCase) {
	for _, some := range [][]opCase{functions(), pairs(), movesAndSums(), products()} {
		all = append(all, some...)
	}
	return all
}

const classes = 3

// network puts a linear layer of random weights and a cross entropy on top, so that the op's result
// receives a gradient without structure; every input is a parameter.
func (c opCase) network() (*graph.Graph, graph.Options) {
	g := graph.New()
	var in []*graph.Node
	for i, s := range c.inputs {
		in = append(in, g.Parameter(graph.Param{Name: string(rune('a' + i)), Shape: s}))
	}
	y := c.build(in)
	flat := graph.Reshape(y, tensor.Shape{1, y.Shape().Elems()})
	top := g.Parameter(graph.Param{Name: "top", Shape: tensor.Shape{y.Shape().Elems(), classes}})
	loss := graph.SoftmaxCrossEntropy(graph.Linear(flat, top, nil), g.Labels("labels", 1))
	return g, graph.Options{Loss: loss, Logits: flat, Train: true}
}

// program compiles the network for so many threads and draws its values.
func (c opCase) program(t testing.TB, isa compute.ISA, threads int) (*graph.Program, *graph.Variables) {
	t.Helper()
	cpu, err := compute.Open(compute.Config{ISA: isa, Threads: threads})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cpu.Close)
	g, o := c.network()
	p, err := graph.Compile(g, graph.NewHost(cpu), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	v := graph.NewVariables(p)
	low, by := c.low, c.by
	if by == 0 {
		low, by = -1, 2
	}
	for i, s := range v.Segments {
		for j := range s.Len {
			v.Weights[s.Offset+j] = float32(low + by*(float64(random.Stream(i+1).Symmetric(uint64(j),
				0.5))+0.5))
		}
	}
	if err := p.Attach(v); err != nil {
		t.Fatal(err)
	}
	p.Inputs()[0].SetInts([]int32{1})
	return p, v
}

// Each op's result is its formula's, and its gradients are the difference quotients of the loss.
func TestOpsAgainstFormulas(t *testing.T) {
	for _, c := range cases() {
		t.Run(c.name, func(t *testing.T) {
			for _, isa := range compute.Supported() {
				p, v := c.program(t, isa, 2)
				p.Forward()
				c.checkResult(t, p, v)
				grad := v.NewGradient()
				p.SetGradients(grad)
				p.Backward(nil)
				c.checkGradients(t, p, v, grad)
			}
		})
	}
}

func (c opCase) checkResult(t *testing.T, p *graph.Program, v *graph.Variables) {
	t.Helper()
	var in [][]float64
	for _, s := range v.Segments {
		var wide []float64
		for _, x := range v.Weights[s.Offset : s.Offset+s.Len] {
			wide = append(wide, float64(x))
		}
		in = append(in, wide)
	}
	for i, got := range p.Logits() {
		if want := c.formula(in, i); !(math.Abs(float64(got)-want) <= 2e-5*(1+math.Abs(want))) {
			t.Fatalf("result[%d] = %v, want %v", i, got, want)
		}
	}
}

func (c opCase) checkGradients(t *testing.T, p *graph.Program, v *graph.Variables, grad []float32) {
	t.Helper()
	largest := 0.0
	for _, d := range grad {
		largest = max(largest, math.Abs(float64(d)))
	}
	const h = 1. / 128
	for i, s := range v.Segments[:len(c.inputs)] {
		for j := range s.Len {
			x := &v.Weights[s.Offset+j]
			at := *x
			*x = at + h
			p.Forward()
			up := p.Loss()
			*x = at - h
			p.Forward()
			want := (up - p.Loss()) / (2 * h)
			*x = at
			if got := float64(grad[s.Offset+j]); !(math.Abs(got-want) <= 4e-3*largest+1e-4) {
				t.Fatalf("gradient of %s[%d] = %v, want %v (largest %v)", v.Params[i].Name, j, got, want,
					largest)
			}
		}
	}
}

// Threads change no bit, and a step allocates nothing.
func TestBitsAndAllocations(t *testing.T) {
	for _, c := range cases() {
		var grads [2][]float32
		for i, threads := range []int{1, 3} {
			p, v := c.program(t, compute.Plain, threads)
			grads[i] = v.NewGradient()
			p.SetGradients(grads[i])
			step := func() { p.Forward(); p.Backward(nil) }
			step()
			if n := alloctest.Least(3, step); n > 0 {
				t.Errorf("%s: a step allocates %d times", c.name, n)
			}
		}
		for i, x := range grads[0] {
			if math.Float32bits(x) != math.Float32bits(grads[1][i]) {
				t.Errorf("%s: gradient %d is %v with one thread, %v with three", c.name, i, x, grads[1][i])
				break
			}
		}
	}
}

// What does not fit is an error that names the op and the shapes.
// Programs of one network report gradients in one order, whatever their number of samples is: one sample
// needs no sum where several do.
func TestOrderOfGradientsOfAnyBatch(t *testing.T) {
	cpu, err := compute.Open(compute.Config{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer cpu.Close()
	build := func(n int) *graph.Program {
		g := graph.New()
		param := func(name string, shape ...int) *graph.Node {
			return g.Parameter(graph.Param{Name: name, Shape: shape, Init: graph.Uniform{Bound: 1}})
		}
		y := graph.Linear(g.Input("x", tensor.Shape{n, 2}), param("first", 2, 2), nil)
		y = op.Add(y, param("added", 1, 2))
		y = graph.Linear(graph.ReLU(y), param("last", 2, 2), nil)
		o := graph.Options{Logits: y, Train: true, Loss: graph.SoftmaxCrossEntropy(y, g.Labels("labels", n))}
		p, err := graph.Compile(g, graph.NewHost(cpu), o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Close)
		return p
	}
	several := build(2)
	v := graph.NewVariables(several)
	v.Initialize(1)
	for _, p := range []*graph.Program{several, build(1), build(3)} {
		if err := p.Attach(v); err != nil {
			t.Fatal(err)
		}
		p.SetGradients(v.NewGradient())
		p.Input("x").SetFloats(make([]float32, 2*p.Samples()))
		p.Input("labels").SetInts(make([]int32, p.Samples()))
		p.Forward()
		var order []int
		p.Backward(func(param int) { order = append(order, param) })
		if !slices.Equal(order, several.Order()) || !slices.Equal(order, p.Order()) {
			t.Errorf("%d samples: %v, want %v", p.Samples(), order, several.Order())
		}
	}
}

// A number that is no row's takes no row and gives none a gradient.
func TestGatherBeyondTheTable(t *testing.T) {
	for _, numbers := range [][]float32{{0, 5}, {-1, 1}, {float32(math.NaN()), 1}, {-0.5, 1}} {
		g := graph.New()
		x := g.Input("x", tensor.Shape{1, 2})
		table := g.Parameter(graph.Param{Name: "t", Shape: tensor.Shape{2, 1},
			Init: graph.Given([]float32{7, 8})})
		y := graph.Reshape(op.Gather(table, x), tensor.Shape{1, 2})
		cpu, err := compute.Open(compute.Config{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer cpu.Close()
		o := graph.Options{Logits: y, Train: true, Loss: graph.SoftmaxCrossEntropy(y, g.Labels("labels", 1))}
		p, err := graph.Compile(g, graph.NewHost(cpu), o)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		v := graph.NewVariables(p)
		v.Initialize(1)
		if err := p.Attach(v); err != nil {
			t.Fatal(err)
		}
		p.SetGradients(v.NewGradient())
		p.Input("x").SetFloats(numbers)
		p.Input("labels").SetInts([]int32{0})
		p.Forward()
		p.Backward(nil)
		for i, n := range numbers {
			if got := p.Logits()[i]; got != 7+n && (got == got || n == 0 || n == 1) {
				t.Errorf("numbers %v: %v", numbers, p.Logits())
			}
		}
	}
}

func TestErrors(t *testing.T) {
	for want, build := range map[string]func(x *graph.Node) *graph.Node{
		"mul (x [2, 3], reshape [6]): [2, 3] and [6]": func(x *graph.Node) *graph.Node {
			return op.Mul(x, graph.Reshape(x, tensor.Shape{6}))
		},
		"pad (x [2, 3])": func(x *graph.Node) *graph.Node { return op.Pad(x, []int{1}, []int{1}, 0) },
		"slice (x [2, 3]): 4 elements": func(x *graph.Node) *graph.Node {
			return op.Slice(x, op.Range{}, op.Range{0, 4, 1})
		},
		"transpose (x [2, 3]): axes [0 0]":  func(x *graph.Node) *graph.Node { return op.Transpose(x, 0, 0) },
		"reduce-sum (x [2, 3]): axis 2":     func(x *graph.Node) *graph.Node { return op.Sum(x, false, 2) },
		"gather (x [2, 3]): number 5":       func(x *graph.Node) *graph.Node { return op.Take(x, 0, 5) },
		"concat (x [2, 3], x [2, 3]): axis": func(x *graph.Node) *graph.Node { return op.Concat(7, x, x) },
		"group-norm (x [2, 3]): want a map": func(x *graph.Node) *graph.Node {
			return op.GroupNorm(x, x, x,
				2, 0)
		},
	} {
		g := graph.New()
		build(g.Input("x", tensor.Shape{2, 3}))
		if err := g.Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
}

func ExampleMul() {
	g := graph.New()
	x := g.Input("x", tensor.Shape{16, 32, 32, 8})
	// Squeeze and excitation: each channel is scaled by what the means of all say (Hu et al. 2018).
	gates := op.Sigmoid(op.Mean(x, true, 1, 2))
	fmt.Println(op.Mul(x, gates).Shape(), g.Err())
	// Output: [16, 32, 32, 8] <nil>
}
