//go:build trust

package command

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/app/evidence/compare"
	"lockstep/app/report"
)

// These tests measure. They want a machine with nothing else to do for up to half an hour each: `make trust`.

// trusted are the batches of the pairs: each is a comparison of its own.
func trusted() string {
	var all []string
	for i := range 20 {
		all = append(all, fmt.Sprint(16+4*i))
	}
	return strings.Join(all, ",")
}

// measure runs 20 comparisons of one worker with itself or with others.
func measure(t *testing.T, more ...string) *compare.Comparison {
	t.Helper()
	out := filepath.Join(t.TempDir(), "b")
	c := tool(t, append([]string{"bench", "--quiet", "--workers", "1", "--threads", "1", "--no-one-process",
		"--batch",
		trusted(), "--steps", "500", "--limit-train", "6400", "--limit-test", "0", "--repeats", "10",
		"--out", out},
		more...)...)
	if err := c.Run(); err != nil {
		t.Fatalf("%v: %v", err, c.Stderr)
	}
	r, err := report.Read(out)
	if err != nil {
		t.Fatal(err)
	}
	found := compare.Compare(r)
	if len(found.Groups) != 20 {
		t.Fatalf("%d groups, want 20", len(found.Groups))
	}
	return found
}

// TestTrustEqualRows runs 20 pairs of rows that are the same: at most one may be called different.
func TestTrustEqualRows(t *testing.T) {
	apart := 0
	for _, g := range measure(t, "--strategies", "single", "--copies", "2").Groups {
		if len(g.Pairs()) != 1 {
			t.Fatalf("%d pairs in a group, want one: the machine was busy", len(g.Pairs()))
		}
		if p := g.Pairs()[0]; p.IsDecided() {
			apart++
			t.Logf("batch %d: %v", g.Batch, p.Ratio)
		}
	}
	if apart > 1 {
		t.Errorf("%d of 20 equal pairs are called different, want at most 1", apart)
	}
}

// TestTrustPlantedDifference runs 20 pairs of which one row is 5 % slower. Where the interval is narrow
// enough to show that, it must be found in nine of ten; elsewhere the row must be called undecided.
func TestTrustPlantedDifference(t *testing.T) {
	const share = 0.05
	t.Setenv(plantedShare, fmt.Sprint(share))
	found, wide := 0, 0
	for _, g := range measure(t, "--strategies", "single,single:slow-worker=0:1",
		"--precision", "1.4%", "--budget", "22m").Groups {
		if len(g.Pairs()) != 1 {
			t.Fatalf("%d pairs in a group, want one: the machine was busy", len(g.Pairs()))
		}
		p := g.Pairs()[0]
		isWide := p.Interval.Hi-p.Interval.Lo > 2*share
		switch {
		case p.IsDecided() && p.Ratio.Median < 1:
			found++
		case p.IsDecided():
			t.Errorf("batch %d: the slower row is called faster: %v", g.Batch, p.Ratio)
		case isWide:
			wide++
		}
		t.Logf("batch %d: %.3f (%.3f to %.3f)", g.Batch, p.Ratio.Median, p.Ratio.Interval.Lo,
			p.Ratio.Interval.Hi)
	}
	if wide > 10 {
		t.Skipf("%d of 20 intervals are too wide for 5 %%: this machine is too noisy to tell", wide)
	}
	if found < 18-wide {
		t.Errorf("%d of 20 planted differences found, %d intervals too wide; want 18 of those that are "+
			"narrow",
			found, wide)
	}
}
