package train_test

import (
	"fmt"
	"slices"
	"testing"

	"lockstep/compute"
	"lockstep/data"
	"lockstep/graph"
	"lockstep/optim"
	"lockstep/trace"
)

// A network that whitens is prepared by the first training images, the same on any number of workers,
// and frozen filters stay as they were prepared. The preparation is training time.
func TestPreparedNetworkEndsWithOneHash(t *testing.T) {
	c := example(t, "airbench", 40, 10)
	c.Batch, c.Steps, c.Plan = 20, 3, cut(t, 2, 1)
	c.Optimizer.LR = 0.01
	c.Optimizer.Groups = []optim.Group{{Match: "whiten.weight"}}
	c.Augment = data.Augmentation{Pad: 2, Reflect: true, Flip: true, Alternate: true}
	l := alone(t, c)
	v := l.Variables()
	at := slices.IndexFunc(v.Params, func(p graph.Param) bool { return p.Name == "whiten.weight" })
	filters := make([]float32, v.Segments[at].Len)
	v.Param(at, filters)
	if snapshot := l.Snapshot(); snapshot.Trained <= 0 {
		t.Error("the preparation took no time")
	}
	want := run(t, c, 1, 1, compute.Best())[0]
	if all := want.Time - want.Phases[trace.Evaluation]; want.Trained != all {
		t.Errorf("trained for %v of %v", want.Trained, all)
	}
	for rank, o := range run(t, c, 2, 2, compute.Best()) {
		compareOutcomes(t, fmt.Sprintf("rank %d of 2", rank), o, want)
	}

	if _, err := l.Run(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	after := make([]float32, len(filters))
	if v.Param(at, after); !slices.Equal(after, filters) {
		t.Error("frozen filters have changed")
	}
	c.Network.Prepare = nil
	if other := run(t, c, 1, 1, compute.Best())[0]; other.ParameterSHA256 == want.ParameterSHA256 {
		t.Error("the preparation changes nothing")
	}
}
