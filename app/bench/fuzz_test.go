package bench_test

import (
	"bytes"
	"testing"

	"lockstep/app/bench"
)

// FuzzSteps reads the step log that a run has left.
func FuzzSteps(f *testing.F) {
	f.Add([]byte(`{"rank":0,"step":0,"loss":1,"own_loss":null,"seconds":1,"phases":{"data":1}}` + "\n" +
		`{"rank":1,"step":0}` + "\n" + `{"rank":0,"step":1,"phases":{"forward":1}}` + "\n" +
		`{"rank":1,"step":1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		ranks, err := bench.ReadSteps(bytes.NewReader(text), 2, false)
		if err != nil {
			return
		}
		for _, r := range ranks {
			n := len(r.Steps.Seconds)
			for phase, values := range r.Steps.Phases {
				if len(values) != n {
					t.Fatalf("phase %s has %d values, want %d", phase, len(values), n)
				}
			}
			if n == 0 || len(r.Steps.Loss) != n || len(r.Steps.Epoch) != n {
				t.Fatalf("columns of different lengths: %+v", r.Steps)
			}
		}
	})
}
