package command

import (
	"path/filepath"
	"testing"

	"lockstep/app/analysis"
	"lockstep/app/peer"
	"lockstep/app/report"
	"lockstep/cluster"
)

// PyTorch trains as we do, from the same weights on the same samples: in one process and in several.
func TestPyTorchTrainsTheSame(t *testing.T) {
	if testing.Short() {
		t.Skip("PyTorch takes seconds to start")
	}
	if _, err := peer.Find(t.Context(), cluster.ProcessEnvironment()); err != nil {
		t.Skip(err)
	}
	out := filepath.Join(t.TempDir(), "b")
	c := tool(t, "bench", "--quiet", "--model", "resnet20", "--strategies", "single,ddp", "--workers",
		"1,2", "--threads",
		"1", "--no-one-process", "--batch", "16", "--steps", "4", "--limit-train", "128", "--limit-test", "0",
		"--repeats", "1", "--peer", "pytorch", "--out", out)
	if err := c.Run(); err != nil {
		t.Fatalf("%v: %v", err, c.Stderr)
	}
	r, err := report.Read(out)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Peers) != 2 || len(r.Rows) != 6 {
		t.Errorf("losses compared %d times, want once for each format; %d rows, want 6", len(r.Peers),
			len(r.Rows))
	}
	for _, p := range r.Peers {
		first, later := analysis.PeerDistance(p)
		if !(first < analysis.PeerFirstLoss && later < analysis.PeerLoss) {
			t.Errorf("%s: losses %v, ours %v", p.Format, p.Theirs, p.Ours)
		}
	}
	for _, n := range analysis.Compare(r).Notes {
		if n.Topic == "another program" && n.Kind == analysis.Refused || n.Topic == "contradiction" {
			t.Error(n.Text)
		}
	}
	// Two workers average the gradients of the same batches, in either format.
	nchw, last := r.Rows[4].Runs[0].Ranks[0].Steps.Loss, r.Rows[5].Runs[0].Ranks[1].Steps.Loss
	for i := range nchw {
		if d := nchw[i] - last[i]; !(d < 0.02 && d > -0.02) {
			t.Errorf("step %d: losses %v and %v of two formats", i, nchw[i], last[i])
		}
	}
}
