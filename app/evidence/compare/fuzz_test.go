package compare_test

import (
	"bytes"
	"testing"

	"lockstep/app/evidence/compare"
)

func FuzzTraining(f *testing.F) {
	f.Add([]byte(`{"workers":1,"steps":2,"test_accuracy":0.5}`), []byte(`{"rank":0,"step":0,"loss":2.5,`+
		`"seconds":0.1}`+"\n"+`{"rank":0,"step":1,"loss":null}`))
	f.Add([]byte(`{"workers":2,"steps":-1}`), []byte(`{"rank":4095}`))
	f.Fuzz(func(t *testing.T, summary, steps []byte) {
		r, err := compare.ReadTraining(bytes.NewReader(summary), bytes.NewReader(steps))
		if err != nil {
			return
		}
		for _, w := range r.Watched {
			if n := len(w.Step); len(w.Loss) != n || len(w.Seconds) != n || len(w.Received) != n {
				t.Fatalf("columns of different lengths: %+v", w)
			}
		}
	})
}
