package command

import (
	"bytes"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/finding"
	"lockstep/app/job"
	"lockstep/app/record"
	"lockstep/app/report"
)

// compared runs a benchmark beside PyTorch and returns its results. It skips without PyTorch.
func compared(t *testing.T, args ...string) *record.Results {
	t.Helper()
	if testing.Short() {
		t.Skip("PyTorch takes seconds to load")
	}
	out := filepath.Join(t.TempDir(), "b")
	c := tool(t, append([]string{"bench", "--quiet", "--strategies", "single,ddp", "--workers", "1,2",
		"--threads", "1", "--no-one-process", "--repeats", "1", "--limit-test", "0", "--augment", "none",
		"--peer", "pytorch", "--out", out}, args...)...)
	err := c.Run()
	said := c.Stderr.(*bytes.Buffer).String()
	if strings.Contains(said, "no Python with torch") && c.ProcessState.ExitCode() == job.ExitUsage {
		t.Skip(strings.TrimSpace(said))
	}
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	r, err := report.Read(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Peers {
		first, later := compare.PeerDistance(p)
		if !(first < compare.PeerFirstLoss && later < compare.PeerLoss) {
			t.Errorf("%s %s: losses %v, ours %v", p.Model, p.Format, p.Theirs, p.Ours)
		}
	}
	for _, f := range compare.Compare(r).Findings {
		if f.Severity == finding.Refused || f.Rule == "other batches" {
			t.Error(f)
		}
	}
	return r
}

// losses returns those of a row, by its name and options.
func losses(t *testing.T, r *record.Results, strategy, options string) []float64 {
	t.Helper()
	for _, row := range r.Rows {
		if row.Setting.Strategy == strategy && row.Setting.Options == options && len(row.Runs) > 0 {
			return row.Runs[0].Ranks[0].Steps.Loss
		}
	}
	t.Fatalf("no row %s %q has run", strategy, options)
	return nil
}

// PyTorch trains images as we do, from the same weights on the same samples: in one process and in several,
// over epochs whose last batch is smaller.
func TestPyTorchTrainsTheSame(t *testing.T) {
	r := compared(t, "--model", "resnet20", "--batch", "16", "--steps", "12", "--limit-train", "72")
	if len(r.Peers) != 2 || len(r.Rows) != 6 {
		t.Errorf("losses compared %d times, want once for each format; %d rows, want 6", len(r.Peers),
			len(r.Rows))
	}
	// Two workers average the gradients of the same batches, in either format, and so do ours.
	ours := losses(t, r, "ddp", "")
	for _, format := range []string{"pytorch+nchw", "pytorch+channels-last"} {
		for i, theirs := range losses(t, r, "ddp", format) {
			limit := compare.PeerLoss
			if i == 0 {
				limit = compare.PeerFirstLoss
			}
			if d := math.Abs(theirs-ours[i]) / ours[i]; !(d < limit) {
				t.Errorf("ddp, %s, step %d: loss %v, ours %v", format, i, theirs, ours[i])
			}
		}
	}
}

// PyTorch trains texts as we do.
func TestPyTorchTrainsTextsTheSame(t *testing.T) {
	r := compared(t, "--model", "bert-tiny", "--data", "synthetic", "--sequence", "16", "--batch", "8",
		"--steps", "2", "--limit-train", "64")
	if len(r.Peers) != 1 || len(r.Rows) != 4 {
		t.Errorf("losses compared %d times, want once; %d rows, want 4", len(r.Peers), len(r.Rows))
	}
}
