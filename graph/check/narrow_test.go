package check_test

import (
	"fmt"
	"testing"

	"lockstep/graph"
	"lockstep/model"
	"lockstep/tensor"
)

// typist is an executor that keeps maps as bfloat16. It notes what each op is prepared for, and computes
// nothing.
type typist struct{ uses []graph.Application }

func (*typist) InPlace() bool   { return false }
func (*typist) KeepsBF16() bool { return true }
func (*typist) Allocate(int) (graph.Memory, error) {
	return graph.Memory{Handle: new(int)}, nil
}
func (t *typist) Prepare(a graph.Application) (graph.Kernel, error) {
	t.uses = append(t.uses, a)
	return graph.Kernel{Run: func(*graph.Args) {}}, nil
}
func (*typist) Upload(_, _ *graph.Buffer)   {}
func (*typist) Download(_, _ *graph.Buffer) {}

// All maps of one op have the same type; the factors of products are bfloat16; statistics, parameters, their
// gradients and what is read from outside are float32. Images are converted once.
func TestMapsAreKeptAsBF16(t *testing.T) {
	for name, input := range map[string]tensor.Shape{
		"lenet": {32, 32, 3}, "resnet20": {8, 8, 3}, "resnet50": {32, 32, 3}, "vgg11": {32, 32, 3},
		"airbench": {32, 32, 3}, "bert-tiny": {6},
	} {
		ex := &typist{}
		net, err := model.Named(name, classes, input)
		if err != nil {
			t.Fatal(err)
		}
		g := graph.New()
		logits := net.Build(net.Samples(g, samples))
		loss := graph.SoftmaxCrossEntropy(logits, g.Labels("labels", samples))
		p, err := graph.Compile(g, ex, graph.Options{Loss: loss, Logits: logits, Train: true})
		if err != nil {
			t.Fatal(err)
		}
		p.Close()
		conversions := 0
		for _, a := range ex.uses {
			if _, ok := a.Op.(graph.ConvertOp); ok {
				conversions++
				continue
			}
			if why := mixed(a); why != "" {
				t.Errorf("%s: %s of %s %v -> %v: %s", name, a.Name, a.Layer, a.In, a.Out, why)
			}
		}
		if len(input) == 3 && conversions > 6 {
			t.Errorf("%s: %d values are converted", name, conversions)
		}
	}
}

// A filter that two convolutions share, or that is computed, and its gradients stay float32: ops on them do
// not mix types.
func TestWeightsAreNoMaps(t *testing.T) {
	for name, build := range map[string]func(x, w *graph.Node) *graph.Node{
		"shared": func(x, w *graph.Node) *graph.Node {
			return graph.Conv(graph.Conv(x, w, nil, 1, 1), w, nil, 1, 1)
		},
		"computed": func(x, w *graph.Node) *graph.Node {
			return graph.Conv(x, graph.Add(w, w), nil, 1, 1)
		},
		"of samples": func(x, w *graph.Node) *graph.Node {
			return graph.Conv(x, graph.Reshape(x, tensor.Shape{3, 3, 4, 4}), nil, 1, 1)
		},
	} {
		ex, g := &typist{}, graph.New()
		w := g.Parameter(graph.Param{Name: "conv.weight", Shape: tensor.Shape{3, 3, 4, 4}})
		x := g.Input("images", tensor.Shape{1, 6, 6, 4})
		y := graph.Conv(graph.ReLU(build(x, w)), w, nil, 1, 1)
		loss := graph.SoftmaxCrossEntropy(graph.GlobalAvgPool(y), g.Labels("labels", 1))
		p, err := graph.Compile(g, ex, graph.Options{Loss: loss, Train: true})
		if err != nil {
			t.Fatal(err)
		}
		p.Close()
		for _, a := range ex.uses {
			switch a.Op.(type) {
			case graph.AddOp:
				if a.In[0].DType != a.In[1].DType || a.Out[0].DType != a.In[0].DType {
					t.Errorf("%s: add of %v and %v to %v", name, a.In[0], a.In[1], a.Out[0])
				}
			case graph.ConvOp, graph.ConvBackwardDataOp:
				if a.In[1].DType != tensor.Float32 {
					t.Errorf("%s: %s by a filter %v", name, a.Name, a.In[1])
				}
			}
		}
	}
}

// mixed says what is wrong with the types of an application.
func mixed(a graph.Application) string {
	last := a.Out[len(a.Out)-1]
	switch a.Op.(type) {
	case graph.AttentionOp, graph.LayerNormOp:
		if last.DType != tensor.Float32 {
			return "a statistic is not float32"
		}
	case graph.LinearOp, graph.ConvOp, graph.ConvStatisticsOp, graph.ConvBackwardDataOp,
		graph.ConvBackwardWeightsOp:
		if a.In[0].DType != tensor.BFloat16 {
			return "a factor is not bfloat16"
		}
	}
	for i, v := range append(a.In, a.Out...) {
		isMap := v.DType != tensor.Int32 && (len(v.Shape) == 4 || v.Ragged)
		if v.DType == tensor.BFloat16 && !isMap && i > 1 {
			return fmt.Sprintf("value %d is bfloat16", i)
		}
	}
	return ""
}
