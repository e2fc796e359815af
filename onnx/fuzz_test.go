package onnx_test

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/graph"
	"lockstep/onnx"
	"lockstep/tensor"
)

// Whatever the bytes are, reading them ends with a model or an error, and so does building its graph, and
// what is written again can be read again.
func FuzzDecode(f *testing.F) {
	for _, o := range goldens(f) {
		f.Add(o.model.Encode())
	}
	for _, w := range writtenTexts(f) {
		f.Add(w.model.Encode())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := onnx.Decode(data)
		if err != nil {
			return
		}
		in := m.Input()
		if len(in) != 3 || in.Elems() > 1<<16 || in.Elems() < 1 {
			in = tensor.Shape{8, 8, 3}
		}
		g := graph.New()
		x := g.Input("x", append(tensor.Shape{2}, in...))
		if m.ReadsTexts() {
			g = graph.New()
			x = g.Texts("x", 2, longest)
		}
		logits, err := m.Build(x, onnx.Options{})
		if (err == nil) != (g.Err() == nil) || err == nil && len(logits.Shape()) != 2 {
			t.Errorf("logits %v, error %v, the graph's %v", logits, err, g.Err())
		}
		if _, err := onnx.Decode(m.Encode()); err != nil {
			t.Errorf("written again: %v", err)
		}
	})
}

// Whatever the bytes are, looking for what a file reads ends, and says what reading all of it says.
func FuzzFileReadsTexts(f *testing.F) {
	for _, o := range goldens(f) {
		f.Add(o.model.Encode())
	}
	for _, w := range writtenTexts(f) {
		f.Add(w.model.Encode())
	}
	path := filepath.Join(f.TempDir(), "net.onnx")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		readsTexts, err := onnx.FileReadsTexts(path)
		m, bad := onnx.Decode(data)
		if bad == nil && (err != nil || len(m.Tensors) == 0 && readsTexts != m.ReadsTexts()) {
			t.Errorf("got %v, %v; want %v", readsTexts, err, m.ReadsTexts())
		}
	})
}

// What is wrong with a file, or not supported, is said with the node and the op.
func TestErrors(t *testing.T) {
	m, err := onnx.Open("testdata/lenet-old.onnx")
	if err != nil {
		t.Fatal(err)
	}
	whole := m.Encode()
	for _, n := range []int{0, 1, 100, len(whole) - 1} {
		_, err := onnx.Decode(whole[:n])
		if bad := (*onnx.FormatError)(nil); !errors.As(err, &bad) {
			t.Errorf("the first %d bytes: got %v", n, err)
		}
	}
	for want, change := range map[string]func(m *onnx.Model){
		"node /conv2/Conv, NonZero: this operator is not supported": func(m *onnx.Model) {
			m.Nodes[4].Op = "NonZero"
		},
		"com.acme.Conv: operators of this domain": func(m *onnx.Model) { m.Nodes[4].Domain = "com.acme" },
		"auto_pad=SAME_UPPER": func(m *onnx.Model) {
			m.Nodes[4].Attributes = append(m.Nodes[4].Attributes,
				onnx.Attribute{Name: "auto_pad", Kind: onnx.KindText, Text: "SAME_UPPER"})
		},
		"reads samples [8, 8, 1], given are [16, 16, 1]": func(m *onnx.Model) {
			m.Inputs[0].Axes = []int{0, 1, 8, 8}
		},
	} {
		changed, err := onnx.Decode(whole)
		if err != nil {
			t.Fatal(err)
		}
		change(changed)
		g := graph.New()
		_, err = changed.Build(g.Input("x", tensor.Shape{2, 16, 16, 1}), onnx.Options{})
		if bad := (*onnx.UnsupportedError)(nil); !errors.As(err, &bad) || !strings.Contains(err.Error(),
			want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
}

// Weights in another file are read, but only from the folder of the model.
func TestWeightsBesideTheFile(t *testing.T) {
	folder := t.TempDir()
	for where, isFine := range map[string]bool{"w.bin": true, "../w.bin": false, "/etc/hostname": false} {
		path := filepath.Join(folder, "net.onnx")
		// A tensor of one float, at byte 4 of another file, that a node reads.
		sub := func(tag byte, message string) string {
			return string(binary.AppendUvarint([]byte{tag<<3 | 2}, uint64(len(message)))) + message
		}
		entry := func(key, value string) string { return sub(13, sub(1, key)+sub(2, value)) }
		weights := "\x08\x01\x10\x01" + sub(8, "w") + entry("location", where) + entry("offset", "4") +
			entry("length", "4") + "\x70\x01"
		graph := sub(1, sub(1, "x")+sub(1, "w")+sub(2, "y")+sub(4, "Mul")) + sub(5, weights) +
			sub(11, sub(1, "x")) + sub(12, sub(1, "y"))
		file := sub(7, graph) + sub(8, "\x10\x11")
		for name, data := range map[string]string{path: file, filepath.Join(folder,
			"w.bin"): "....\x00\x00\x20\x40"} {
			if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		m, err := onnx.Open(path)
		if (err == nil) != isFine {
			t.Errorf("%s: got %v", where, err)
		}
		if isFine && err == nil && m.Tensor("w").Floats[0] != 2.5 {
			t.Errorf("%s: got %v", where, m.Tensor("w"))
		}
	}
}
