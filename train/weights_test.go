package train_test

import (
	"math"
	"testing"

	"lockstep/compute"
	"lockstep/data"
	"lockstep/train"
)

// weighted returns c with weights of classes.
func weighted(c train.Config, of func(class int) float32) train.Config {
	weights := make([]float32, len(c.Train.Classes))
	for class := range weights {
		weights[class] = of(class)
	}
	c.Train = c.Train.WithClassWeights(weights)
	return c
}

// ofClass returns the samples of a class.
func ofClass(s *data.Set, class int32) *data.Set {
	var numbers []int32
	for i, label := range s.Labels {
		if label == class {
			numbers = append(numbers, int32(i))
		}
	}
	return s.Pick(numbers)
}

// Weights that are all equal change no bit: they are divided by their mean.
func TestEqualWeightsChangeNothing(t *testing.T) {
	c := example(t, "lenet", 100, 20)
	want := run(t, c, 1, 1, compute.Best())[0]
	got := run(t, weighted(c, func(int) float32 { return 2 }), 2, 1, compute.Best())[0]
	if got.ParameterSHA256 != want.ParameterSHA256 || got.LastLoss != want.LastLoss {
		t.Errorf("%.8s, loss %v, want %.8s, %v", got.ParameterSHA256, got.LastLoss, want.ParameterSHA256,
			want.LastLoss)
	}
}

// The loss of a step is the weighted mean over the global batch, sum(w*l) / sum(w), though shards have other
// classes each, and its bits and those of the weights do not depend on the number of workers.
func TestWeightedLossIsOfTheGlobalBatch(t *testing.T) {
	c := example(t, "lenet", 90, 20)
	c.Batch, c.Steps = 90, 2
	first := func(class int32) (loss, samples float64) {
		one := c
		one.Train, one.Steps = ofClass(c.Train, class), 1
		samples = float64(one.Train.Len())
		one.Batch = one.Train.Len()
		return run(t, one, 1, 1, compute.Best())[0].FirstLoss, samples
	}
	threes, numThrees := first(3)
	fives, numFives := first(5)
	want := (2*threes*numThrees + 0.5*fives*numFives) / (2*numThrees + 0.5*numFives)
	c = weighted(c, func(class int) float32 { return []float32{3: 2, 5: 0.5, 9: 0}[class] })
	one := run(t, c, 1, 1, compute.Best())[0]
	if math.Abs(one.FirstLoss-want) > 1e-5 {
		t.Errorf("loss %v of weighted samples, want %v", one.FirstLoss, want)
	}
	for workers := 2; workers <= 4; workers++ {
		for _, got := range run(t, c, workers, 1, compute.Best()) {
			if got.ParameterSHA256 != one.ParameterSHA256 || got.LastLoss != one.LastLoss {
				t.Errorf("%d workers: %.8s, loss %v, want %.8s, %v", workers, got.ParameterSHA256,
					got.LastLoss, one.ParameterSHA256, one.LastLoss)
			}
		}
	}
}
