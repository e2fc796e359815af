package gradsync_test

import (
	"testing"

	"lockstep/gradsync"
)

// Only wires whose vectors are as long as the gradients are for servers.
func TestFeedbackOfServableWires(t *testing.T) {
	pieces := [][]float32{{3, -1, 2, 0.5}}
	buckets := []gradsync.Bucket{{Lo: 0, Hi: 4}}
	for _, w := range gradsync.Wires() {
		f, err := gradsync.NewFeedback(w, pieces, buckets)
		if want := !w.IsAuto() && (w.String() == "top-k" || !w.HasResiduals()); (err == nil) != want {
			t.Errorf("%s: error %v, want it accepted: %t", w, err, want)
		}
		if err != nil || w.String() != "top-k" {
			continue
		}
		f.Compress(0)
		if pieces[0][0] != 3 || pieces[0][1] != 0 || f.State().Residuals[0][1] != -1 {
			t.Errorf("top-k sends %v and keeps %v", pieces[0], f.State().Residuals[0])
		}
	}
}
