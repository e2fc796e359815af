package onnx_test

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/compute"
	"lockstep/graph"
	"lockstep/onnx"
	"lockstep/tensor"
)

// longest is how many tokens the texts of testdata/texts have at most.
const longest = 8

// written is a network for texts of testdata/texts with the tokens of six texts, the logits of onnxruntime,
// and those after one step of SGD in PyTorch. See results/onnx/golden.py.
type written struct {
	name            string
	model           *onnx.Model
	tokens, lengths []int32
	logits, next    []float32
}

func writtenTexts(t testing.TB) (all []written) {
	t.Helper()
	for _, path := range []string{"testdata/texts/bert-old.onnx", "testdata/texts/bert-new.onnx"} {
		m, err := onnx.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(strings.TrimSuffix(path, ".onnx") + ".f32")
		if err != nil {
			t.Fatal(err)
		}
		values := make([]float32, len(data)/4)
		for i := range values {
			values[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		}
		w := written{name: filepath.Base(path), model: m}
		for n, length := range values[samples*longest:][:samples] {
			w.lengths = append(w.lengths, int32(length))
			for _, token := range values[n*longest:][:int(length)] {
				w.tokens = append(w.tokens, int32(token))
			}
		}
		rest := values[samples*(longest+1):]
		w.logits, w.next = rest[:samples*classes], rest[samples*classes:]
		all = append(all, w)
	}
	return all
}

// program compiles the network for training or for inference of texts of up to most tokens.
func (w written) program(t testing.TB, m *onnx.Model, most int, trains bool) *graph.Program {
	t.Helper()
	g := graph.New()
	logits, err := m.Build(g.Texts("texts", samples, most), onnx.Options{})
	if err != nil {
		t.Fatalf("%s: %v", w.name, err)
	}
	cpu, err := compute.Open(compute.Config{ISA: compute.Best(), Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cpu.Close)
	o := graph.Options{Logits: logits, Train: trains}
	if trains {
		o.Loss = graph.SoftmaxCrossEntropy(logits, g.Labels("labels", samples))
	}
	p, err := graph.Compile(g, graph.NewHost(cpu), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	p.Input("texts").SetTexts(w.tokens, w.lengths)
	return p
}

// Logits of texts are those of onnxruntime, whatever they are padded to, and also from a file that is written
// again.
func TestLogitsOfTextsAreThoseOfONNXRuntime(t *testing.T) {
	for _, w := range writtenTexts(t) {
		if n := w.model.NumWords(); n != 21 || !w.model.ReadsTexts() {
			t.Errorf("%s: %d words", w.name, n)
		}
		for _, most := range []int{longest, longest + 3} {
			p := w.program(t, w.model, most, false)
			v := start(t, p)
			p.Forward()
			if d := distance(p.Logits(), w.logits); !(d <= 1e-5) {
				t.Errorf("%s: logits differ by %.2g of the largest: got %v, want %v", w.name, d, p.Logits(),
					w.logits)
			}
			again, err := w.model.With(graph.New().Texts("texts", 1, most), onnx.Options{}, v)
			if err != nil {
				t.Fatal(err)
			}
			q := w.program(t, again, most, false)
			if u := start(t, q); u.SHA256() != v.SHA256() {
				t.Errorf("%s: written again it has other weights", w.name)
			}
			if q.Forward(); !slices.Equal(q.Logits(), p.Logits()) {
				t.Errorf("%s: written again: got %v, want %v", w.name, q.Logits(), p.Logits())
			}
		}
	}
}

// After a step of SGD with the gradients of the mean loss, logits of texts are PyTorch's.
func TestAStepOfTextsIsPyTorchs(t *testing.T) {
	const rate = 0.1
	for _, w := range writtenTexts(t) {
		p := w.program(t, w.model, longest, true)
		v := start(t, p)
		p.Input("labels").SetInts([]int32{0, 1, 2, 3, 4, 0})
		grad := v.NewGradient()
		p.SetGradients(grad)
		p.Forward()
		p.Backward(nil)
		for i, d := range grad {
			v.Weights[i] -= rate / samples * d
		}
		after := w.program(t, w.model, longest, false)
		if err := after.Attach(v); err != nil {
			t.Fatal(err)
		}
		after.Forward()
		if d := distance(after.Logits(), w.next); !(d <= 1e-4) {
			t.Errorf("%s: logits after a step differ by %.2g: got %v, want %v", w.name, d, after.Logits(),
				w.next)
		}
	}
}

// A file that knows one kind of token takes both parts of a text for that.
func TestPartsOfAFileWithOneKind(t *testing.T) {
	for _, w := range writtenTexts(t) {
		row := 0 // features of the table of kinds
		for _, n := range w.model.Nodes {
			if n.Op != "Gather" || !strings.Contains(n.In[1], "type") {
				continue
			}
			for i, kinds := range w.model.Tensors {
				if kinds.Name == n.In[0] {
					row = kinds.Shape[1]
					w.model.Tensors[i].Shape = tensor.Shape{1, row}
					w.model.Tensors[i].Floats = kinds.Floats[:row]
				}
			}
		}
		if row == 0 {
			t.Fatalf("%s: no table of kinds", w.name)
		}
		p := w.program(t, w.model, longest, false)
		start(t, p)
		p.Forward()
		whole := slices.Clone(p.Logits())
		splits := make([]int32, samples)
		for i, n := range w.lengths {
			splits[i] = n / 2
		}
		p.Input("texts").SetPairs(w.tokens, w.lengths, splits)
		if p.Forward(); !slices.Equal(p.Logits(), whole) {
			t.Errorf("%s: in two parts %v, in one %v", w.name, p.Logits(), whole)
		}
	}
}
