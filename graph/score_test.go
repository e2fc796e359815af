package graph_test

import (
	"math"
	"testing"

	"lockstep/graph"
)

func TestScores(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for name, test := range map[string]struct {
		logits  []float32 // [N, 3]
		labels  []int32
		correct int
		loss    float64
	}{
		"two of three":    {[]float32{1, 2, 0, 3, 1, 1, 0, 0, 1}, []int32{1, 1, 2}, 2, 3.1985954},
		"first of equals": {[]float32{1, 1, 1, 1, 1, 1}, []int32{0, 1}, 1, 2 * math.Log(3)},
		"large":           {[]float32{-3e38, 3e38, 0}, []int32{0}, 0, 6e38},
		"NaN first":       {[]float32{nan, 1, 2}, []int32{0}, 0, math.NaN()},
		"NaN":             {[]float32{3, nan, 2}, []int32{0}, 0, math.NaN()},
		"infinite":        {[]float32{0, inf, 2}, []int32{1}, 1, math.NaN()},
		"below all":       {[]float32{0, -inf, 2}, []int32{2}, 1, math.NaN()},
	} {
		if got := graph.CountCorrect(test.logits, test.labels); got != test.correct {
			t.Errorf("%s: %d correct, want %d", name, got, test.correct)
		}
		got := graph.CrossEntropy(test.logits, test.labels)
		if same := math.IsNaN(got) && math.IsNaN(test.loss); !same &&
			!(math.Abs(got-test.loss) <= 1e-6*test.loss) {
			t.Errorf("%s: cross entropy %v, want %v", name, got, test.loss)
		}
	}
}
