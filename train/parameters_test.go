package train_test

import (
	"strings"
	"testing"

	"lockstep/compute"
	"lockstep/graph"
	"lockstep/model"
	"lockstep/nn"
	"lockstep/optim"
	"lockstep/tensor"
	"lockstep/train"
)

// A layer's word counts, not the layout or the place of its parameters: plain is a linear layer that is
// stored as it is written, [in, out], and the skip layer comes behind the head.
func TestRolesAreThoseThatLayersDeclare(t *testing.T) {
	c := example(t, "lenet", 12, 1)
	cpu, err := compute.Open(compute.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cpu.Close)
	c.CPU = cpu
	c.Optimizer.Name = "muon"
	role := graph.RoleMatrix
	c.Network.Prepare, c.Network.Build = nil, func(x *graph.Node) *graph.Node {
		g := x.Graph()
		x = nn.Linear{Out: 192}.Apply("fc", x)
		plain := graph.Param{Name: "plain.weight", Shape: tensor.Shape{192, 32}, Role: role,
			Init: graph.Uniform{Bound: 0.1}}
		y := graph.ReLU(graph.Linear(x, g.Parameter(plain), nil))
		y = nn.Linear{Out: 10, IsHead: true}.Apply("head", y)
		return graph.Add(y, nn.Linear{Out: 10}.Apply("skip", x))
	}
	want := map[string]optim.Param{
		"plain.weight": {Rows: 192, Cols: 32, Kind: optim.Matrix},
		"head.weight":  {Rows: 32, Cols: 10, Kind: optim.Head},
		"head.bias":    {Rows: 1, Cols: 10, Kind: optim.Bias},
		"skip.weight":  {Rows: 192, Cols: 10, Kind: optim.Matrix},
	}
	for _, p := range alone(t, c).Parameters() {
		w, ok := want[p.Name]
		if ok && (p.Rows != w.Rows || p.Cols != w.Cols || p.Kind != w.Kind) {
			t.Errorf("%s is %+v, want %+v", p.Name, p, w)
		}
		delete(want, p.Name)
	}
	if len(want) > 0 {
		t.Errorf("no parameters %v", want)
	}
	role = graph.RoleUndeclared
	_, err = train.New(c)
	if err == nil || !strings.Contains(err.Error(), "plain.weight [192, 32] has no role") {
		t.Errorf("without a role: %v", err)
	}
}

// Every built-in model has one head, tables where it looks words up, and no matrix among its vectors.
func TestRolesOfBuiltInModels(t *testing.T) {
	for _, name := range model.Names() {
		if name == "bert-base" || name == "bert-medium" || name == "bert-small" {
			continue // larger, but built as the small ones
		}
		shape := tensor.Shape{32, 32, 3}
		if (model.Catalog{}).ReadsTexts(name) {
			shape = tensor.Shape{8}
		}
		network, err := model.Named(name, 7, shape)
		if err != nil {
			t.Fatal(err)
		}
		g := graph.New()
		network.Build(network.Samples(g, 1))
		heads := 0
		for _, p := range g.Params() {
			want := graph.RoleMatrix
			switch {
			case len(p.Shape) == 1:
				want = graph.RoleBias
			case strings.Contains(p.Name, "_embeddings."):
				want = graph.RoleTable
			case p.Shape[0] == 7:
				want = graph.RoleHead
				heads++
			}
			if p.Role != want {
				t.Errorf("%s: %s %v has role %d, want %d", name, p.Name, p.Shape, p.Role, want)
			}
		}
		if heads != 1 {
			t.Errorf("%s has %d heads", name, heads)
		}
	}
}
