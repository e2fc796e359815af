package op

import (
	"fmt"
	"math"

	"lockstep/compute"
	"lockstep/graph"
	"lockstep/internal/elementary"
)

// Softmax returns exp(x) / sum of exp(x) along the last axis.
func Softmax(x *graph.Node) *graph.Node { return one(softmax{}, x) }

// LogSoftmax returns the logarithm of Softmax.
func LogSoftmax(x *graph.Node) *graph.Node { return one(softmax{isLog: true}, x) }

type softmax struct{ isLog bool }

// Name implements graph.Custom.
func (o softmax) Name() string {
	if o.isLog {
		return "log-softmax"
	}
	return "softmax"
}

// Infer implements graph.Custom.
func (o softmax) Infer(in []graph.Type) ([]graph.Type, error) {
	if len(in[0].Shape) == 0 {
		return nil, fmt.Errorf("want at least one axis")
	}
	return in[:1], floats(in)
}

// FLOPs implements graph.Custom.
func (o softmax) FLOPs(_, out []graph.Type) int64 { return 20 * elems(out) }

// Kernel implements graph.Custom.
func (o softmax) Kernel(cpu *compute.CPU, in, _ []graph.Type) graph.Kernel {
	s := in[0].Shape
	t := &softmaxTask{isLog: o.isLog, cols: s[len(s)-1]}
	return graph.Kernel{Run: func(a *graph.Args) {
		t.x, t.y = a.In[0].F, a.Out[0].F
		cpu.Share(t, 20*len(t.y))
	}}
}

// Gradient implements graph.Custom.
func (o softmax) Gradient(_, out, dy []*graph.Node) []*graph.Node {
	return []*graph.Node{one(softmaxBackward{o}, dy[0], out[0])}
}

// softmaxBackward computes dx from dy and the result.
type softmaxBackward struct{ of softmax }

// Name implements graph.Custom.
func (o softmaxBackward) Name() string { return o.of.Name() + "-backward" }

// Infer implements graph.Custom.
func (o softmaxBackward) Infer(in []graph.Type) ([]graph.Type, error) { return in[:1], floats(in) }

// FLOPs implements graph.Custom.
func (o softmaxBackward) FLOPs(_, out []graph.Type) int64 { return 4 * elems(out) }

// Kernel implements graph.Custom.
func (o softmaxBackward) Kernel(cpu *compute.CPU, in, _ []graph.Type) graph.Kernel {
	s := in[0].Shape
	t := &softmaxTask{isLog: o.of.isLog, cols: s[len(s)-1], isBack: true}
	return graph.Kernel{Run: func(a *graph.Args) {
		t.dy, t.x, t.y = a.In[0].F, a.In[1].F, a.Out[0].F
		cpu.Share(t, 4*len(t.y))
	}}
}

// Gradient implements graph.Custom.
func (o softmaxBackward) Gradient(_, _, _ []*graph.Node) []*graph.Node {
	return make([]*graph.Node, 2)
}

// softmaxTask computes y from x or, as the gradient, from dy and what was the result.
type softmaxTask struct {
	isLog, isBack bool
	cols          int
	dy, x, y      []float32
}

// Do implements compute.Task, cut by rows.
func (t *softmaxTask) Do(_, part, parts int) {
	lo, hi := compute.Span(len(t.y)/t.cols, part, parts)
	for i := lo; i < hi; i++ {
		x, y := t.x[i*t.cols:(i+1)*t.cols], t.y[i*t.cols:(i+1)*t.cols]
		if t.isBack {
			t.back(y, t.dy[i*t.cols:(i+1)*t.cols], x)
		} else {
			t.forward(y, x)
		}
	}
}

func (t *softmaxTask) forward(y, x []float32) {
	top, sum := math.Inf(-1), 0.0
	for _, v := range x {
		top = math.Max(top, float64(v))
	}
	if math.IsInf(top, -1) {
		top = 0 // all are -Inf, as where everything is masked: NaN
	}
	for i, v := range x {
		e := elementary.Exp(float64(v) - top)
		sum += e
		y[i] = float32(e)
	}
	log := elementary.Log(sum)
	for i, v := range x {
		if t.isLog {
			y[i] = float32(float64(v) - top - log)
		} else {
			y[i] = float32(float64(y[i]) / sum)
		}
	}
}

func (t *softmaxTask) back(dx, dy, y []float32) {
	sum := 0.0
	for i, d := range dy {
		if t.isLog {
			sum += float64(d)
		} else {
			sum += float64(float64(d) * float64(y[i]))
		}
	}
	for i, d := range dy {
		if t.isLog {
			dx[i] = float32(float64(d) - float64(elementary.Exp(float64(y[i]))*sum))
		} else {
			dx[i] = float32(float64(y[i]) * (float64(d) - sum))
		}
	}
}
