package model_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"lockstep/compute"
	"lockstep/data"
	"lockstep/graph"
	"lockstep/model"
	"lockstep/tensor"
)

// weightsFile is a safetensors file as far as this test needs it: float32 tensors by name.
type weightsFile struct {
	header map[string]struct {
		Shape   tensor.Shape
		Offsets [2]int `json:"data_offsets"`
	}
	bytes []byte
}

func readWeights(t *testing.T, path string) weightsFile {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := binary.LittleEndian.Uint64(text)
	f := weightsFile{bytes: text[8+n:]}
	if err := json.Unmarshal(text[8:8+n], &f.header); err != nil {
		t.Fatal(err)
	}
	delete(f.header, "__metadata__")
	return f
}

// take returns a tensor of the given shape and removes it.
func (f weightsFile) take(t *testing.T, name string, shape tensor.Shape) []float32 {
	t.Helper()
	entry, ok := f.header[name]
	if !ok || !entry.Shape.Equal(shape) {
		t.Fatalf("%s has shape %v in the file (there: %v), want %v", name, entry.Shape, ok, shape)
	}
	delete(f.header, name)
	values := make([]float32, shape.Elems())
	for i := range values {
		values[i] = math.Float32frombits(
			binary.LittleEndian.Uint32(f.bytes[entry.Offsets[0]+4*i:]))
	}
	return values
}

// Trained weights of the usual implementation fit by name and shape, none is left over, and they
// recognise as many as in PyTorch: of the first 1,000 test images of CIFAR-10, resnet20 915 and
// resnet56 926.
func TestTrainedWeights(t *testing.T) {
	dir := os.Getenv("LOCKSTEP_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "data")
	}
	for name, c := range map[string]struct {
		file string
		want int
	}{
		"resnet20": {"resnet20-12fca82f.safetensors", 915},
		"resnet56": {"resnet56-4bfd9763.safetensors", 926},
	} {
		path := filepath.Join(dir, "cifar10-resnet", c.file)
		if _, err := os.Stat(path); err != nil {
			t.Skipf("no trained weights: %v; LOCKSTEP_DATA names another folder", err)
		}
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name == "resnet56" {
				t.Skip("the same layers as resnet20, three times as many")
			}
			if got := recognised(t, name, readWeights(t, path), dir, 1000); got != c.want {
				t.Errorf("%d of 1,000 images are recognised, want %d", got, c.want)
			}
		})
	}
}

// recognised returns how many of the first n test images a network with weights f classifies
// correctly.
func recognised(t *testing.T, name string, f weightsFile, dir string, n int) int {
	_, test, err := data.Load(context.Background(), "cifar10",
		data.Options{Dir: dir, Offline: true})
	if err != nil {
		t.Skip(err)
	}
	test.Mean, test.Std = []float32{0.485, 0.456, 0.406}, []float32{0.229, 0.224, 0.225}
	net, err := model.Named(name, len(test.Classes), test.Shape)
	if err != nil {
		t.Fatal(err)
	}
	const batch = 100
	p := compile(t, net, batch, compute.Best(), false)
	v := graph.NewVariables(p)
	for i, param := range v.Params {
		v.SetParam(i, f.take(t, param.Name, param.Shape))
	}
	for i, s := range v.States {
		copy(v.StateOf(i), f.take(t, s.Name, s.Shape))
	}
	if len(f.header) > 0 {
		t.Errorf("%d tensors have no place in the network: %v", len(f.header), f.header)
	}
	if err := p.Attach(v); err != nil {
		t.Fatal(err)
	}
	images, labels := p.Input("images").Floats(), p.Input("labels").Ints()
	correct, sh := 0, data.Shard{}
	for at := 0; at < n; at += batch {
		if err := test.Take(&sh, at, at+batch); err != nil {
			t.Fatal(err)
		}
		copy(images, sh.Images)
		copy(labels, sh.Labels)
		p.Forward()
		correct += graph.CountCorrect(p.Logits(), labels)
	}
	return correct
}
