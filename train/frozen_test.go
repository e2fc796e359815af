package train_test

import (
	"fmt"
	"slices"
	"testing"

	"lockstep/compute"
	"lockstep/optim"
	"lockstep/train"
)

// Omitting the gradients of frozen parameters changes no bit: a run that clips at a norm that is
// never reached computes all gradients and has the same result, for several workers and when
// resumed on either side of a freeze.
func TestFrozenParametersChangeNoOther(t *testing.T) {
	skipShort(t)
	c := example(t, "resnet20", 40, 10)
	c.Batch, c.Steps = 12, 6
	c.Optimizer.Groups = []optim.Group{
		{Match: "bn1.*"}, {Match: "conv1.*", Rate: 1, Steps: 2}, {Match: "layer1.*", Rate: 1, Steps: 4},
	}
	c.Clip = 1e30
	kept := &album{after: []int{1, 2, 3, 4}}
	c.Checkpointer = kept
	want := run(t, c, 1, 1, compute.Best())[0]
	c.Checkpointer, c.Clip = nil, 0
	for _, workers := range []int{1, 2, 4} {
		for rank, got := range exchangeRun(t, c, workers, 1, "ddp", "") {
			compareOutcomes(t, fmt.Sprintf("rank %d of %d", rank, workers), got, want)
		}
	}
	for i, m := range kept.snapshots {
		if m.Step == c.Steps {
			continue
		}
		l := alone(t, c)
		kept.restore(t, l, i)
		got, err := l.Run(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got.ParameterSHA256 != want.ParameterSHA256 {
			t.Errorf("resumed after step %d: parameters %s, want %s", m.Step, got.ParameterSHA256,
				want.ParameterSHA256)
		}
	}
}

// Frozen parameters have no gradient after their last step.
func TestFrozenParametersHaveNoGradient(t *testing.T) {
	c := example(t, "lenet", 60, 10)
	c.Optimizer.Groups = []optim.Group{{Match: "fc2.bias", Rate: 1, Steps: 3}}
	for steps, isFrozen := range map[int]bool{3: false, 4: true} {
		c.Steps = steps
		l := alone(t, c)
		if _, err := l.Run(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		gradient := gradientOf(l, "fc2.bias")
		isAny := slices.ContainsFunc(gradient, func(x float32) bool { return x != 0 })
		if isAny == isFrozen {
			t.Errorf("after %d steps: gradient %v, frozen %v", steps, gradient, isFrozen)
		}
	}
}

// gradientOf returns the gradient of a parameter that a single worker has summed.
func gradientOf(l *train.Loop, name string) []float32 {
	v := l.Variables()
	for i, p := range v.Params {
		if s := v.Segments[i]; p.Name == name {
			return l.Pieces()[0][s.Offset:][:s.Len]
		}
	}
	return nil
}
