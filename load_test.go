package lockstep_test

import (
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep"
	"lockstep/app/setting"
	"lockstep/checkpoint"
	"lockstep/graph"
	"lockstep/nn"
)

// What Train saves, Load reads: the same labels as the evaluation's, by name, normalised as in training.
func TestLoadWhatTrainSaved(t *testing.T) {
	training, test := glyphs(t)
	own := func(x *graph.Node, classes int) *graph.Node {
		x = nn.Sequential{nn.Conv{Out: 8, Size: 3, Pad: 1}, nn.BatchNorm{}, nn.ReLU{},
			nn.MaxPool{Size: 4}}.Apply("stem", x)
		return nn.Linear{Out: classes, IsHead: true}.Apply("head", x)
	}
	result, err := lockstep.Train(t.Context(), lockstep.Config{Model: own, Train: training, Test: test,
		Epochs: 3, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "own.safetensors")
	if err := result.Save(path); err != nil {
		t.Fatal(err)
	}
	p, err := lockstep.LoadAs(path, lockstep.LoadConfig{Model: "own", Batch: 7}, lockstep.Model("own", own))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var inputs []lockstep.Input
	for i := range test.Len() {
		inputs = append(inputs, lockstep.Input{Pixels: test.Pixels[i*32*32*3:][:32*32*3]})
	}
	logits, err := p.Predict(t.Context(), inputs, nil)
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for i := range inputs {
		if p.Rank(logits[i*10:][:10], 1, nil)[0].Label == test.Classes[test.Labels[i]] {
			right++
		}
	}
	if got := float64(right) / float64(test.Len()); math.Abs(got-result.TestAccuracy) > 1e-12 {
		t.Errorf("accuracy %v, the evaluation's was %v", got, result.TestAccuracy)
	}
}

// An ONNX file is a network in use by itself: its logits are those of onnxruntime, which the file beside it
// holds behind six images; see results/onnx/golden.py.
func TestLoadONNX(t *testing.T) {
	p, err := lockstep.Load("onnx/testdata/lenet-old.onnx")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	data, err := os.ReadFile("onnx/testdata/lenet-old.f32")
	if err != nil {
		t.Fatal(err)
	}
	values := make([]float32, len(data)/4)
	for i := range values {
		values[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	const samples, pixels = 6, 16 * 16
	var inputs []lockstep.Input
	for i := range samples {
		inputs = append(inputs, lockstep.Input{Values: values[i*pixels:][:pixels]})
	}
	logits, err := p.Predict(t.Context(), inputs, nil)
	if err != nil || len(logits) != samples*len(p.Classes()) {
		t.Fatalf("%d logits, %v", len(logits), err)
	}
	for i, y := range logits {
		if want := values[samples*pixels:][i]; math.Abs(float64(y-want)) > 1e-5 {
			t.Errorf("logit %d is %v, want %v", i, y, want)
		}
	}
}

// A run that starts from weights, and ends with the best by validation samples, has the same bits for any
// number of workers.
func TestTrainFromWeightsWithPatience(t *testing.T) {
	training, test := glyphs(t)
	c := lockstep.Config{Name: "lenet", Train: training, Test: test, Validation: test, Threads: 1, Shards: 4,
		Batch: 32}
	first, err := lockstep.Train(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	c.Weights = filepath.Join(t.TempDir(), "first.safetensors")
	if err := first.Save(c.Weights); err != nil {
		t.Fatal(err)
	}
	c.Epochs, c.EvalEvery, c.Patience, c.RestoreBest, c.Clip, c.EMA = 20, 1, 1, true, 1, 0.5
	var hash string
	for workers := 1; workers <= 2; workers++ {
		c.Workers = workers
		r, err := lockstep.Train(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if hash == "" {
			hash = r.ParameterSHA256
		}
		if r.ParameterSHA256 != hash || hash == first.ParameterSHA256 || len(r.Losses) >= 100 {
			t.Errorf("%d workers: %.8s after %d steps, want %.8s", workers, r.ParameterSHA256, len(r.Losses),
				hash)
		}
	}
}

func TestLoadErrors(t *testing.T) {
	dir := t.TempDir()
	_, err := lockstep.Load(dir)
	if err == nil || !strings.Contains(err.Error(), "is no folder of a run") {
		t.Errorf("error %v of an empty folder", err)
	}
	_, err = lockstep.LoadAs(filepath.Join(dir, "none.safetensors"), lockstep.LoadConfig{Model: "lenet"})
	if missing := (*checkpoint.ReadError)(nil); !errors.As(err, &missing) {
		t.Errorf("error %v of a file that is not there", err)
	}
	_, err = lockstep.LoadAs(dir, lockstep.LoadConfig{}, lockstep.Model("lenet", nil))
	if err == nil || !strings.Contains(err.Error(), "lenet") {
		t.Errorf("error %v of a name that is taken", err)
	}
}

// The stem of resnet50 is what Adjust says, and without it that of the weights, as on the command line.
func TestTrainHasTheStemOfItsWeights(t *testing.T) {
	training, _ := glyphs(t)
	c := lockstep.Config{Name: "resnet50", Train: training.Limit(1), Steps: 1, Batch: 1,
		Adjust: func(s *setting.Config) { s.Stem = "imagenet" }}
	first, err := lockstep.Train(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	c.Weights, c.Adjust = filepath.Join(t.TempDir(), "first.safetensors"), nil
	if err := first.Save(c.Weights); err != nil {
		t.Fatal(err)
	}
	r, err := checkpoint.Open(c.Weights)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if filters, _ := r.Weight("conv1.weight", nil); len(filters.Shape) != 4 || filters.Shape[2] != 7 {
		t.Errorf("filters of the stem imagenet %v, want 7x7", filters.Shape)
	}
	if _, err := lockstep.Train(t.Context(), c); err != nil {
		t.Error(err)
	}
}
