package optim_test

import (
	"slices"
	"testing"

	"lockstep/compute"
	"lockstep/optim"
	"lockstep/random"
)

// Every rule goes on with the same bits from its state, its weights and the number of steps, and
// says at least what its state takes.
func TestStateIsAllThatIsKept(t *testing.T) {
	const n, steps, more = 1000, 5, 3
	params := []optim.Param{
		{Name: "a", Len: 600, Rows: 20, Cols: 30, Kind: optim.Matrix},
		{Name: "b", Offset: 600, Len: 400, Rows: 1, Cols: 400},
	}
	for _, name := range optim.Names() {
		c := optim.Config{Name: name, LR: 0.1, Momentum: 0.9, WeightDecay: 0.01}
		start := func(weights []float32) optim.Optimizer {
			o, err := optim.New(c, open(t, compute.Best(), 1), weights, params)
			if err != nil {
				t.Fatal(err)
			}
			return o
		}
		step := func(o optim.Optimizer, number int) {
			g := make([]float32, n)
			for i := range g {
				g[i] = random.Stream(number).Symmetric(uint64(i), 1)
			}
			o.Step(0, n, g, c.LR, 0.5)
		}
		weights := make([]float32, n)
		whole := start(weights)
		for i := range steps {
			step(whole, i)
		}
		resumedWeights := slices.Clone(weights)
		resumed := start(resumedWeights)
		bytes := int64(0)
		for i, v := range whole.State() {
			into := resumed.State()[i]
			if into.Name != v.Name || len(v.Data) != n {
				t.Errorf("%s: vector %d is %s of %d, then %s", name, i, v.Name, len(v.Data), into.Name)
			}
			copy(into.Data, v.Data)
			bytes += 4 * int64(len(v.Data))
		}
		if bytes > whole.Bytes() {
			t.Errorf("%s: state of %d bytes, says %d", name, bytes, whole.Bytes())
		}
		resumed.Resume(steps)
		for i := range more {
			step(whole, steps+i)
			step(resumed, steps+i)
		}
		if !slices.Equal(weights, resumedWeights) {
			t.Errorf("%s: other weights after going on", name)
		}
	}
}
