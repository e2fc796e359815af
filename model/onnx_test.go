package model_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/compute"
	"lockstep/graph"
	"lockstep/model"
	"lockstep/onnx"
	"lockstep/tensor"
)

// fileCase is a network with a small input.
type fileCase struct {
	name    string
	classes int
	input   tensor.Shape
}

func fileCases() []fileCase {
	return []fileCase{
		{"lenet", 5, tensor.Shape{16, 16, 1}}, {"mlp", 3, tensor.Shape{1, 1, 9}},
		{"mlp", 3, tensor.Shape{6, 5, 2}}, {"vgg11", 4, tensor.Shape{32, 32, 3}},
		{"resnet20", 4, tensor.Shape{8, 8, 3}}, {"resnet50", 4, tensor.Shape{8, 8, 3}},
		{"airbench", 4, tensor.Shape{32, 32, 3}}, {"bert-tiny", 3, tensor.Shape{12}},
	}
}

// compiled returns a program for inference of n samples, and its variables from the network's initial values.
func compiled(t *testing.T, net model.Network, n int) (*graph.Program, *graph.Variables) {
	t.Helper()
	cpu, err := compute.Open(compute.Config{ISA: compute.Best(), Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cpu.Close)
	g := graph.New()
	p, err := graph.Compile(g, graph.NewHost(cpu), graph.Options{Logits: net.Build(net.Samples(g, n))})
	if err != nil {
		t.Fatalf("%s: %v", net.Name, err)
	}
	t.Cleanup(p.Close)
	v := graph.NewVariables(p)
	v.Initialize(7)
	return p, v
}

// outputs returns the logits of two samples.
func outputs(t *testing.T, net model.Network, p *graph.Program, v *graph.Variables) []float32 {
	t.Helper()
	if err := p.Attach(v); err != nil {
		t.Fatal(err)
	}
	if net.ReadsTexts() {
		p.Input(model.Texts).SetPairs([]int32{2, 9, 4, 3, 2, 8, 7, 3, 6, 5, 3}, []int32{4, 7}, []int32{0, 4})
	} else {
		x := make([]float32, 2*net.Input.Elems())
		for i := range x {
			x[i] = float32(math.Sin(float64(i * i)))
		}
		p.Input(model.Images).SetFloats(x)
	}
	p.Forward()
	return slices.Clone(p.Logits())
}

// writeONNX writes a network with trained running statistics.
func writeONNX(t *testing.T, net model.Network, v *graph.Variables, change func(*onnx.Model)) string {
	t.Helper()
	m, err := net.ONNX(v)
	if err != nil {
		t.Fatalf("%s: %v", net.Name, err)
	}
	change(m)
	path := filepath.Join(t.TempDir(), "net.onnx")
	if err := os.WriteFile(path, m.Encode(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A network that is written as ONNX comes back with the same bits: as itself if the file says what it is, and
// as what the file's nodes say if it does not. Only texts without padding have no nodes.
func TestNetworksComeBackFromONNX(t *testing.T) {
	for _, c := range fileCases() {
		net, err := model.Named(c.name, c.classes, c.input)
		if err != nil {
			t.Fatal(err)
		}
		if net.ReadsTexts() {
			net = net.WithWords(12)
		}
		p, v := compiled(t, net, 2)
		for i := range v.State {
			v.State[i] = 0.5 + float32(i%7)/8
		}
		want, hash := outputs(t, net, p, v), v.SHA256()
		for _, isNamed := range []bool{true, false} {
			path := writeONNX(t, net, v, func(m *onnx.Model) {
				if !isNamed {
					m.Metadata = nil
				}
			})
			back, err := model.Named(path, c.classes, c.input)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			if reads := (model.Catalog{}).ReadsTexts(path); reads != net.ReadsTexts() {
				t.Errorf("%s: reads texts: %v", c.name, reads)
			}
			q, w := compiled(t, back, 2)
			got := outputs(t, back, q, w)
			if isPadded := !isNamed && net.ReadsTexts(); isPadded {
				for i, y := range want {
					if d := math.Abs(float64(y - got[i])); !(d < 1e-5) {
						t.Errorf("%s, by its nodes: logits %v, want %v", c.name, got, want)
						break
					}
				}
				continue
			}
			if w.SHA256() != hash || !slices.Equal(got, want) {
				t.Errorf("%s, named %v: logits %v, want %v", c.name, isNamed, got, want)
			}
			again, err := back.ONNX(w)
			first, _ := net.ONNX(v)
			if err != nil || isNamed && !slices.Equal(again.Encode(), first.Encode()) {
				t.Errorf("%s, named %v: written again it differs, %v", c.name, isNamed, err)
			}
		}
	}
}

// A file whose nodes somebody has changed is taken for what its nodes say.
func TestAChangedFileIsNoLongerTheNetwork(t *testing.T) {
	net, err := model.Named("lenet", 5, tensor.Shape{16, 16, 1})
	if err != nil {
		t.Fatal(err)
	}
	p, v := compiled(t, net, 2)
	want := outputs(t, net, p, v)
	path := writeONNX(t, net, v, func(m *onnx.Model) {
		i := slices.IndexFunc(m.Nodes, func(n onnx.Node) bool { return n.Op == "Relu" })
		m.Nodes[i].Op = "Tanh"
	})
	back, err := model.Named(path, 5, net.Input)
	if err != nil {
		t.Fatal(err)
	}
	q, w := compiled(t, back, 2)
	if got := outputs(t, back, q, w); slices.Equal(got, want) {
		t.Errorf("got the logits of the network before the change")
	}
}

// A file that is not there is said to be not there, once.
// A file that reads texts of one length pads shorter ones to that, and says it where they are longer. One
// that says no size of its images reads those of the catalog's.
func TestAFileOfOneLengthOrOfAnySize(t *testing.T) {
	tensorOf := func(name string, shape ...int) onnx.Tensor {
		return onnx.Tensor{Name: name, Shape: shape, Floats: make([]float32, tensor.Shape(shape).Elems())}
	}
	node := func(kind, out string, in ...string) onnx.Node {
		return onnx.Node{Op: kind, In: in, Out: []string{out}}
	}
	mean := node("ReduceMean", "m", "p")
	mean.Attributes = []onnx.Attribute{{Name: "axes", Kind: onnx.KindInts, Ints: []int64{1}},
		{Name: "keepdims", Kind: onnx.KindInt}}
	texts := &onnx.Model{Opset: 13, Inputs: []onnx.Value{{Name: "ids", Axes: []int{0, 0}}},
		Outputs: []onnx.Value{{Name: "y", IsFloat: true, Axes: []int{0, 3}}},
		Nodes: []onnx.Node{node("Gather", "e", "words", "ids"), node("Add", "p", "e", "places"), mean,
			node("MatMul", "y", "m", "w")},
		Tensors: []onnx.Tensor{tensorOf("words", 20, 4), tensorOf("places", 1, 10, 4), tensorOf("w", 4, 3)}}
	images := &onnx.Model{Opset: 13,
		Inputs:  []onnx.Value{{Name: "x", IsFloat: true, Axes: []int{0, 3, 0, 0}}},
		Outputs: []onnx.Value{{Name: "y", IsFloat: true, Axes: []int{0, 2}}},
		Nodes: []onnx.Node{node("GlobalAveragePool", "a", "x"), node("Flatten", "f", "a"),
			node("MatMul", "y", "f", "w")},
		Tensors: []onnx.Tensor{tensorOf("w", 3, 2)}}
	path := filepath.Join(t.TempDir(), "net.onnx")
	for _, c := range []struct {
		of    *onnx.Model
		given tensor.Shape
		want  string
	}{
		{texts, nil, "[10]"}, {texts, tensor.Shape{7}, "[10]"}, {texts, tensor.Shape{10}, "[10]"},
		{texts, tensor.Shape{11}, "say --sequence 10"}, {images, nil, "[24, 24, 3]"},
		{images, tensor.Shape{8, 9, 3}, "[8, 9, 3]"},
	} {
		if err := os.WriteFile(path, c.of.Encode(), 0o600); err != nil {
			t.Fatal(err)
		}
		n, err := model.Catalog{}.WithSide(24).Named(path, 0, c.given)
		if got := fmt.Sprint(n.Input, err); !strings.Contains(got, c.want) {
			t.Errorf("given %v: %s, want %s", c.given, got, c.want)
		}
	}
}

func TestAFileThatIsNotThere(t *testing.T) {
	_, err := model.Named("absent.onnx", 5, nil)
	if err == nil || err.Error() != "onnx: open absent.onnx: no such file or directory" {
		t.Errorf("got %v", err)
	}
}
