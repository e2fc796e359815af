package op

import (
	"fmt"
	"math"

	"lockstep/compute"
	"lockstep/graph"
	"lockstep/internal/elementary"
)

// Neg returns -x.
func Neg(x *graph.Node) *graph.Node { return graph.Scale(x, -1) }

// Exp returns e^x.
func Exp(x *graph.Node) *graph.Node { return one(unary{of: "exp"}, x) }

// Log returns the natural logarithm of x.
func Log(x *graph.Node) *graph.Node { return one(unary{of: "log"}, x) }

// Sqrt returns the square root of x.
func Sqrt(x *graph.Node) *graph.Node { return one(unary{of: "sqrt"}, x) }

// Erf returns the error function of x.
func Erf(x *graph.Node) *graph.Node { return one(unary{of: "erf"}, x) }

// Abs returns |x|; its slope at 0 is 0.
func Abs(x *graph.Node) *graph.Node { return one(unary{of: "abs"}, x) }

// Reciprocal returns 1/x.
func Reciprocal(x *graph.Node) *graph.Node { return one(unary{of: "reciprocal"}, x) }

// Pow returns x^p.
func Pow(x *graph.Node, p float64) *graph.Node { return one(unary{of: "pow", p: p}, x) }

// Sigmoid returns 1/(1+e^-x).
func Sigmoid(x *graph.Node) *graph.Node { return one(unary{of: "sigmoid"}, x) }

// SiLU returns x/(1+e^-x), also called Swish.
func SiLU(x *graph.Node) *graph.Node { return one(unary{of: "silu"}, x) }

// Softplus returns log(1+e^x).
func Softplus(x *graph.Node) *graph.Node { return one(unary{of: "softplus"}, x) }

// LeakyReLU returns x where it is above 0, else slope*x.
func LeakyReLU(x *graph.Node, slope float64) *graph.Node {
	return one(unary{of: "leaky-relu", p: slope}, x)
}

// ELU returns x where it is above 0, else scale*(e^x-1).
func ELU(x *graph.Node, scale float64) *graph.Node { return one(unary{of: "elu", p: scale}, x) }

// Clip returns x within lo and hi; ReLU6 is Clip(x, 0, 6). Its slope is 1 strictly between them, else 0.
func Clip(x *graph.Node, lo, hi float64) *graph.Node {
	return one(unary{of: "clip", p: lo, q: hi}, x)
}

// HardSigmoid returns slope*x + offset within 0 and 1; PyTorch's is HardSigmoid(x, 1./6, 0.5).
func HardSigmoid(x *graph.Node, slope, offset float64) *graph.Node {
	return one(unary{of: "hard-sigmoid", p: slope, q: offset}, x)
}

// HardSwish returns x times HardSigmoid(x, 1./6, 0.5).
func HardSwish(x *graph.Node) *graph.Node { return one(unary{of: "hard-swish"}, x) }

// unary is a function of each element, with up to two constants.
type unary struct {
	of   string
	p, q float64
}

// function is what a unary op computes, in float64.
type function struct {
	flops int64
	of    func(x, p, q float64) float64
	// slope is the derivative, from the result if isOfResult, else from x.
	slope      func(v, p, q float64) float64
	isOfResult bool
}

// functionOf returns the function of a name; ok is false if there is none.
func functionOf(name string) (f function, ok bool) {
	switch name {
	case "exp":
		return function{16, func(x, _, _ float64) float64 { return elementary.Exp(x) },
			func(y, _, _ float64) float64 { return y }, true}, true
	case "log":
		return function{16, func(x, _, _ float64) float64 { return elementary.Log(x) },
			func(x, _, _ float64) float64 { return 1 / x }, false}, true
	case "sqrt":
		return function{4, func(x, _, _ float64) float64 { return math.Sqrt(x) },
			func(y, _, _ float64) float64 { return 0.5 / y }, true}, true
	case "erf":
		return function{24, func(x, _, _ float64) float64 { return elementary.Erf(x) },
			func(x, _, _ float64) float64 { return 2 / math.SqrtPi * elementary.Exp(-x*x) }, false}, true
	case "abs":
		return function{1, func(x, _, _ float64) float64 { return math.Abs(x) }, sign, false}, true
	case "reciprocal":
		return function{4, func(x, _, _ float64) float64 { return 1 / x },
			func(y, _, _ float64) float64 { return -y * y }, true}, true
	case "pow":
		return function{32, func(x, p, _ float64) float64 { return elementary.Pow(x, p) },
			func(x, p, _ float64) float64 { return p * elementary.Pow(x, p-1) }, false}, true
	case "sigmoid":
		return function{18, func(x, _, _ float64) float64 { return sigmoid(x) },
			func(y, _, _ float64) float64 { return y * (1 - y) }, true}, true
	case "silu":
		return function{19, func(x, _, _ float64) float64 { return x * sigmoid(x) },
			func(x, _, _ float64) float64 { s := sigmoid(x); return s * (1 + float64(x*(1-s))) }, false}, true
	case "softplus":
		return function{32, func(x, _, _ float64) float64 {
			return math.Max(x,
				0) + elementary.Log1p(elementary.Exp(-math.Abs(x)))
		},
			func(x, _, _ float64) float64 { return sigmoid(x) }, false}, true
	}
	return bentFunctionOf(name)
}

// bentFunctionOf is functionOf for those that are made of pieces.
func bentFunctionOf(name string) (f function, ok bool) {
	switch name {
	case "leaky-relu":
		return function{2, func(x, p, _ float64) float64 { return either(x > 0, x, p*x) },
			func(x, p, _ float64) float64 { return either(x > 0, 1, p) }, false}, true
	case "elu":
		return function{18, func(x, p, _ float64) float64 { return either(x > 0, x, p*elementary.Expm1(x)) },
			func(x, p, _ float64) float64 { return either(x > 0, 1, p*elementary.Exp(x)) }, false}, true
	case "clip":
		return function{2, func(x, p, q float64) float64 { return math.Min(math.Max(x, p), q) },
			func(x, p, q float64) float64 { return either(x > p && x < q, 1, 0) }, false}, true
	case "hard-sigmoid":
		return function{4, func(x, p, q float64) float64 { return within(float64(p*x) + q) },
			func(x, p, q float64) float64 {
				y := float64(p*x) + q
				return either(y > 0 && y < 1, p, 0)
			}, false}, true
	case "hard-swish":
		return function{5, func(x, _, _ float64) float64 { return x * within(x/6+0.5) },
			func(x, _, _ float64) float64 {
				return either(x <= -3, 0, either(x >= 3, 1, x/3+0.5))
			}, false}, true
	}
	return function{}, false
}

func sigmoid(x float64) float64 { return 1 / (1 + elementary.Exp(-x)) }

func sign(x, _, _ float64) float64 { return either(x > 0, 1, either(x < 0, -1, 0)) }

func within(x float64) float64 { return math.Min(math.Max(x, 0), 1) }

func either(is bool, a, b float64) float64 {
	if is {
		return a
	}
	return b
}

// Name implements graph.Custom.
func (o unary) Name() string { return o.of }

// Infer implements graph.Custom.
func (o unary) Infer(in []graph.Type) ([]graph.Type, error) {
	if _, ok := functionOf(o.of); !ok {
		return nil, fmt.Errorf("no function %s", o.of)
	}
	return in[:1], floats(in)
}

// FLOPs implements graph.Custom.
func (o unary) FLOPs(_, out []graph.Type) int64 {
	f, _ := functionOf(o.of)
	return f.flops * elems(out)
}

// Kernel implements graph.Custom.
func (o unary) Kernel(cpu *compute.CPU, _, _ []graph.Type) graph.Kernel {
	f, _ := functionOf(o.of)
	t := &unaryTask{of: f.of, p: o.p, q: o.q}
	return graph.Kernel{Run: func(a *graph.Args) {
		t.x, t.y = a.In[0].F, a.Out[0].F
		cpu.Share(t, int(f.flops)*len(t.y))
	}}
}

// Gradient implements graph.Custom.
func (o unary) Gradient(in, out, dy []*graph.Node) []*graph.Node {
	of := in[0]
	if f, _ := functionOf(o.of); f.isOfResult {
		of = out[0]
	}
	return []*graph.Node{one(unaryBackward{o}, dy[0], of)}
}

// unaryBackward computes dy times the slope, which it has from x or from the result.
type unaryBackward struct{ of unary }

// Name implements graph.Custom.
func (o unaryBackward) Name() string { return o.of.of + "-backward" }

// Infer implements graph.Custom.
func (o unaryBackward) Infer(in []graph.Type) ([]graph.Type, error) { return in[:1], floats(in) }

// FLOPs implements graph.Custom.
func (o unaryBackward) FLOPs(in, out []graph.Type) int64 { return o.of.FLOPs(in, out) + elems(out) }

// Kernel implements graph.Custom.
func (o unaryBackward) Kernel(cpu *compute.CPU, _, _ []graph.Type) graph.Kernel {
	f, _ := functionOf(o.of.of)
	t := &unaryTask{of: f.slope, p: o.of.p, q: o.of.q}
	return graph.Kernel{Run: func(a *graph.Args) {
		t.dy, t.x, t.y = a.In[0].F, a.In[1].F, a.Out[0].F
		cpu.Share(t, int(f.flops)*len(t.y))
	}}
}

// Gradient implements graph.Custom. Nothing is differentiated twice.
func (o unaryBackward) Gradient(_, _, _ []*graph.Node) []*graph.Node { return []*graph.Node{nil, nil} }

// unaryTask computes y = of(x), times dy unless that is nil.
type unaryTask struct {
	of       func(x, p, q float64) float64
	p, q     float64
	dy, x, y []float32
}

// Do implements compute.Task.
func (t *unaryTask) Do(_, part, parts int) {
	lo, hi := compute.Span(len(t.y), part, parts)
	for i := lo; i < hi; i++ {
		v := t.of(float64(t.x[i]), t.p, t.q)
		if t.dy != nil {
			v *= float64(t.dy[i])
		}
		t.y[i] = float32(v)
	}
}
