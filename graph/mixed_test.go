package graph_test

import (
	"math"
	"testing"

	"lockstep/compute"
	"lockstep/graph"
	"lockstep/tensor"
)

// The loss and its derivative are those of a target of two classes, smoothed or not. The logits are a layer's
// weights, for samples that are the unit vectors.
func TestMixedCrossEntropy(t *testing.T) {
	const n, classes = 3, 4
	logits := []float32{0.3, -1, 2, 0.5, 4, 1, 0, -3, 0.1, 0.2, 0.3, 0.4}
	labels, others, shares := []int32{2, 0, 3}, []int32{1, 0, 0}, []float32{0.75, 0.5, 1}
	for _, smoothing := range []float64{0, 0.2} {
		g := graph.New()
		w := g.Parameter(graph.Param{Name: "w", Shape: tensor.Shape{n, classes}})
		y := graph.Linear(g.Input("units", tensor.Shape{n, n}), w, nil)
		loss := graph.MixedCrossEntropy(y, g.Labels("labels", n), g.Labels("others", n),
			g.Input("shares", tensor.Shape{n}), smoothing)
		p, v := start(t, g, compute.Best(), graph.Options{Loss: loss, Logits: y, Train: true})
		v.SetParam(0, logits)
		p.Input("units").SetFloats([]float32{1, 0, 0, 0, 1, 0, 0, 0, 1})
		p.Input("labels").SetInts(labels)
		p.Input("others").SetInts(others)
		p.Input("shares").SetFloats(shares)
		gradient, got := v.NewGradient(), make([]float32, n*classes)
		p.SetGradients(gradient)
		p.Forward()
		p.Backward(nil)
		v.Canonical(0, got, gradient)
		total := 0.0
		for i := range n {
			sum := 0.0
			for _, x := range logits[i*classes : (i+1)*classes] {
				sum += math.Exp(float64(x))
			}
			for k := range classes {
				target := smoothing / classes
				if int(labels[i]) == k {
					target += (1 - smoothing) * float64(shares[i])
				}
				if int(others[i]) == k {
					target += (1 - smoothing) * (1 - float64(shares[i]))
				}
				x := float64(logits[i*classes+k])
				total -= target * (x - math.Log(sum))
				if want := math.Exp(x)/sum - target; math.Abs(float64(got[i*classes+k])-want) > 1e-6 {
					t.Errorf("smoothing %v: derivative %d of sample %d is %v, want %v", smoothing, k, i,
						got[i*classes+k], want)
				}
			}
		}
		if math.Abs(float64(p.Loss())-total) > 1e-5 {
			t.Errorf("smoothing %v: loss %v, want %v", smoothing, p.Loss(), total)
		}
	}
	g := graph.New()
	graph.MixedCrossEntropy(g.Input("x", tensor.Shape{2, 2}), g.Labels("y", 2), g.Labels("z", 3),
		g.Input("s", tensor.Shape{2}), 0)
	if g.Err() == nil {
		t.Error("two labels and three others: no error")
	}
}
