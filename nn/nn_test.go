package nn_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"lockstep/compute"
	"lockstep/graph"
	"lockstep/nn"
	"lockstep/op"
	"lockstep/tensor"
)

// variables applies a layer to an input of the given shape and returns freshly drawn variables.
func variables(t testing.TB, l nn.Layer, input ...int) *graph.Variables {
	t.Helper()
	g := graph.New()
	y := l.Apply("net", g.Input("x", input))
	return compile(t, graph.Flatten(y))
}

func compile(t testing.TB, logits *graph.Node) *graph.Variables {
	t.Helper()
	cpu, err := compute.Open(compute.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cpu.Close)
	p, err := graph.Compile(logits.Graph(), graph.NewHost(cpu), graph.Options{Logits: logits})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	v := graph.NewVariables(p)
	v.Initialize(7)
	return v
}

// Names and shapes are those of PyTorch's state_dict for the same layers.
func TestNames(t *testing.T) {
	v := variables(t, nn.Sequential{
		nn.Conv{Out: 4, Size: 3, Pad: 1}, nn.BatchNorm{}, nn.ReLU{}, nn.MaxPool{Size: 2},
		nn.Conv{Out: 5, Size: 1, NoBias: true}, nn.Linear{Out: 6}, nn.ReLU{}, nn.Linear{Out: 2, NoBias: true},
	}, 2, 8, 6, 3)
	var got []string
	for _, p := range v.Params {
		got = append(got, fmt.Sprint(p.Name, p.Shape))
	}
	for _, s := range v.States {
		got = append(got, fmt.Sprint(s.Name, s.Shape))
	}
	want := []string{
		"net.0.weight[4, 3, 3, 3]", "net.0.bias[4]", "net.1.weight[4]", "net.1.bias[4]",
		"net.4.weight[5, 4, 1, 1]", "net.5.weight[6, 60]", "net.5.bias[6]", "net.7.weight[2, 6]",
		"net.1.running_mean[4]", "net.1.running_var[4]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// So are those of layers on texts, whose names are those of Hugging Face's BERT, and of the layers made of
// package op.
func TestNamesOfFurtherLayers(t *testing.T) {
	names := func(v *graph.Variables) (got []string) {
		for _, p := range v.Params {
			got = append(got, fmt.Sprint(p.Name, p.Shape))
		}
		return got
	}
	g := graph.New()
	x := nn.Sequential{nn.Embedding{Words: 9, Positions: 5, Kinds: 2, Out: 32}, nn.LayerNorm{},
		nn.Dropout{Share: 0.1}, nn.Attention{Heads: 2, Causal: true}, nn.GELU{}, nn.FirstToken{},
		nn.Tanh{}}.Apply("net", g.Texts("x", 3, 5))
	want := []string{"net.0.word_embeddings.weight[9, 32]", "net.0.position_embeddings.weight[5, 32]",
		"net.0.token_type_embeddings.weight[2, 32]", "net.1.weight[32]", "net.1.bias[32]",
		"net.3.query.weight[32, 32]", "net.3.query.bias[32]", "net.3.key.weight[32, 32]",
		"net.3.key.bias[32]", "net.3.value.weight[32, 32]", "net.3.value.bias[32]"}
	if got := names(compile(t, x)); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	excite := nn.Sequential{nn.GlobalAvgPool{}, nn.Linear{Out: 8}, nn.Sigmoid{}}
	v := variables(t, nn.Sequential{nn.Conv{Out: 8, Size: 3, Pad: 2, Dilation: 2, Groups: 4, NoBias: true},
		nn.GroupNorm{Groups: 2}, nn.SiLU{}, nn.Scale{Of: excite}, nn.AvgPool{Size: 2},
		nn.ConvTranspose{Out: 6, Size: 2, Stride: 2}, nn.Residual{Of: nn.Conv{Out: 6, Size: 1}},
		nn.Func(op.HardSwish), nn.Flatten{}}, 2, 8, 6, 4)
	want = []string{"net.0.weight[8, 1, 3, 3]", "net.1.weight[8]", "net.1.bias[8]", "net.3.1.weight[8, 8]",
		"net.3.1.bias[8]", "net.5.weight[8, 6, 2, 2]", "net.5.bias[6]", "net.6.weight[6, 6, 1, 1]",
		"net.6.bias[6]"}
	if got := names(v); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Flatten puts a map into PyTorch's order, channels outermost.
func TestFlattenIsPyTorchs(t *testing.T) {
	g := graph.New()
	y := nn.Flatten{}.Apply("", g.Input("x", tensor.Shape{1, 1, 2, 3}))
	cpu, err := compute.Open(compute.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer cpu.Close()
	p, err := graph.Compile(g, graph.NewHost(cpu), graph.Options{Logits: y})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	p.Input("x").SetFloats([]float32{0, 1, 2, 10, 11, 12})
	if p.Forward(); !slices.Equal(p.Logits(), []float32{0, 10, 1, 11, 2, 12}) {
		t.Errorf("got %v", p.Logits())
	}
}

// Weights and biases are uniform in +-1/sqrt(fan-in), whose variance is a third of its square.
func TestDefaultInitialisation(t *testing.T) {
	for _, c := range []struct {
		layer nn.Layer
		input []int
		fanIn int
	}{
		{nn.Conv{Out: 64, Size: 3}, []int{1, 8, 8, 16}, 16 * 9},
		{nn.Linear{Out: 80}, []int{1, 4, 4, 8}, 128},
		{nn.Linear{Out: 80}, []int{3, 50}, 50},
	} {
		v := variables(t, c.layer, c.input...)
		bound := 1 / math.Sqrt(float64(c.fanIn))
		for i, p := range v.Params {
			values := make([]float32, v.Segments[i].Len)
			v.Param(i, values)
			mean, square := 0.0, 0.0
			for _, x := range values {
				if math.Abs(float64(x)) > bound {
					t.Fatalf("%T %s: %v lies outside %v", c.layer, p.Name, x, bound)
				}
				mean += float64(x) / float64(len(values))
				square += float64(x) * float64(x) / float64(len(values))
			}
			sigma := bound / math.Sqrt(3*float64(len(values)))
			if math.Abs(mean) > 4*sigma || math.Abs(square-bound*bound/3) > 4*bound*sigma {
				t.Errorf("%T %s: mean %v, mean square %v, bound %v", c.layer, p.Name, mean, square, bound)
			}
		}
	}
	v := variables(t, nn.BatchNorm{}, 4, 3)
	for i, want := range []float32{1, 0} {
		values := make([]float32, 3)
		if v.Param(i, values); values[0] != want || values[2] != want {
			t.Errorf("batch norm: %s starts at %v", v.Params[i].Name, values)
		}
	}
	if v.StateOf(0)[1] != 0 || v.StateOf(1)[1] != 1 || v.States[0].Momentum != 0.1 {
		t.Errorf("batch norm: states %+v start at %v", v.States, v.State)
	}
}

// A linear layer on a map reads it in PyTorch's order, channels outermost.
func TestLinearFlattensAsPyTorch(t *testing.T) {
	g := graph.New()
	x := g.Input("x", tensor.Shape{1, 2, 2, 3})
	v := compile(t, nn.Linear{Out: 1, NoBias: true}.Apply("fc", x))
	canonical := make([]float32, 12)
	for i := range canonical {
		canonical[i] = float32(i)
	}
	v.SetParam(0, canonical)
	for h := range 2 {
		for w := range 2 {
			for c := range 3 {
				if got, want := v.Weights[(h*2+w)*3+c], float32((c*2+h)*2+w); got != want {
					t.Errorf("pixel %d, %d channel %d meets weight %v, want %v", h, w, c, got, want)
				}
			}
		}
	}
}

// Mistakes are reported by Compile with the op and the shapes; nothing panics before.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		layer nn.Layer
		want  string
	}{
		{nn.Conv{Out: 4, Size: 9},
			"graph: conv (x [2, 8, 8, 3], net.weight [9, 9, 3, 4], net.bias [4]): filter 9x9"},
		{nn.Sequential{nn.Linear{Out: 4}, nn.Conv{Out: 2, Size: 1}, nn.BatchNorm{}, nn.GlobalAvgPool{}},
			"graph: conv (linear [2, 4]"},
		{nn.MaxPool{Size: 20}, "max-pool (x [2, 8, 8, 3]): window 20"},
		{nn.Conv{Size: 3}, "net.weight: shape [0, 3, 3, 3] has no elements"},
	} {
		g := graph.New()
		c.layer.Apply("net", g.Input("x", tensor.Shape{2, 8, 8, 3}))
		if g.Err() == nil || !strings.Contains(g.Err().Error(), c.want) {
			t.Errorf("%+v: got %v, want %q in it", c.layer, g.Err(), c.want)
		}
	}
}

func ExampleSequential() {
	net := nn.Sequential{
		nn.Conv{Out: 8, Size: 3, Pad: 1},
		nn.BatchNorm{},
		nn.ReLU{},
		nn.GlobalAvgPool{},
		nn.Linear{Out: 10, IsHead: true},
	}
	g := graph.New()
	logits := net.Apply("net", g.Input("images", tensor.Shape{16, 32, 32, 3}))
	fmt.Println(logits.Shape(), g.Err())
	// Output: [16, 10] <nil>
}

// The first filters pass their input on, the others are drawn.
func TestIdentityInitialisation(t *testing.T) {
	const in, out = 4, 6
	v := variables(t, nn.Conv{Out: out, Size: 3, NoBias: true, Init: nn.ByIdentity(in, 3)}, 1, 5, 5, in)
	w := make([]float32, out*in*9)
	v.Param(0, w)
	drawn := 0
	for i, x := range w {
		filter, channel, tap := i/(9*in), i/9%in, i%9
		switch {
		case filter >= in:
			if math.Abs(float64(x)) > 1./6 {
				t.Errorf("filter %d: %v lies outside 1/6", filter, x)
			}
			if x != 0 {
				drawn++
			}
		case (channel == filter && tap == 4) != (x == 1) || x != 0 && x != 1:
			t.Errorf("filter %d, channel %d, tap %d: %v", filter, channel, tap, x)
		}
	}
	if drawn < 70 {
		t.Errorf("%d of 72 weights drawn", drawn)
	}
}
