package optim_test

import (
	"encoding/json"
	"hash/crc32"
	"math"
	"os"
	"testing"

	"lockstep/compute"
	"lockstep/optim"
)

// given returns the tensor called name as testdata/golden.py draws it.
func given(name string, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		word := uint32(uint64(i)*2654435761 + uint64(crc32.ChecksumIEEE([]byte(name))))
		x[i] = float32(float64(word>>8)/(1<<24) - 0.5)
	}
	return x
}

// turned returns a matrix of rows and columns the other way round.
func turned(x []float32, rows, cols int) []float32 {
	y := make([]float32, len(x))
	for i, v := range x {
		y[i%cols*rows+i/cols] = v
	}
	return y
}

// The numbers of PyTorch, see testdata/golden.py.
func TestAgainstPyTorch(t *testing.T) {
	var golden struct {
		Muon []struct {
			Shape        [2]int
			Steps        int
			LR, Momentum float64
			Nesterov     bool
			Decay        float64 `json:"weight_decay"`
			Weight       []float64
		}
		Clip []struct {
			Shape      [2]int
			Most, Norm float64
			Gradient   []float64
		}
	}
	text, err := os.ReadFile("testdata/golden.json")
	if err == nil {
		err = json.Unmarshal(text, &golden)
	}
	if err != nil {
		t.Fatal(err)
	}
	cpu := open(t, compute.Best(), 1)
	for _, c := range golden.Muon {
		out, in := c.Shape[0], c.Shape[1]
		w := turned(given("w", out*in), out, in)
		o, err := optim.New(optim.Config{Name: "muon", LR: c.LR, Momentum: c.Momentum, Nesterov: c.Nesterov,
			WeightDecay: c.Decay}, cpu, w,
			[]optim.Param{{Name: "w", Len: len(w), Rows: in, Cols: out, Kind: optim.Matrix}})
		if err != nil {
			t.Fatal(err)
		}
		for step := range c.Steps {
			g := turned(given("g"+string(rune('1'+step)), len(w)), out, in)
			o.Step(0, len(g), g, c.LR, 1)
		}
		compareWithPyTorch(t, "muon", turned(w, in, out), c.Weight)
	}
	for _, c := range golden.Clip {
		g := given("g1", c.Shape[0]*c.Shape[1])
		scale := optim.NewClip(c.Most, cpu, len(g)).Scale(g, 1)
		for i := range g {
			g[i] *= scale
		}
		compareWithPyTorch(t, "clip", g, c.Gradient)
	}
	if len(golden.Muon) != 2 || len(golden.Clip) != 2 {
		t.Errorf("%d cases of muon and %d of clip, want 2 each", len(golden.Muon), len(golden.Clip))
	}
}

func compareWithPyTorch(t *testing.T, what string, got []float32, want []float64) {
	t.Helper()
	for i, w := range want {
		if math.Abs(float64(got[i])-w) > 2e-5 {
			t.Errorf("%s: element %d is %v, PyTorch has %v", what, i, got[i], w)
		}
	}
}
