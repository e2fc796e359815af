package bench_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/app/bench"
	"lockstep/app/record"
)

// What results tell of the GPUs of ranks must be what the summary of the run tells.
func TestGPUsOfASummary(t *testing.T) {
	watched := func(forward float64) *record.RankGPU {
		return &record.RankGPU{Time: &record.GPUTime{Steps: 2, Seconds: 0.2, Forward: forward}}
	}
	for _, test := range []struct {
		name       string
		kept, told *record.RankGPU
		isOther    bool
	}{
		{"none", nil, nil, false},
		{"the same", watched(0.1), watched(0.1), false},
		{"another time", watched(0.1), watched(0.05), true},
		{"added to results", nil, watched(0.1), true},
		{"missing in results", watched(0.1), nil, true},
	} {
		ranks := []record.RankStat{{Rank: 0}, {Rank: 1, GPU: test.kept}}
		text, err := json.Marshal(record.Summary{Ranks: ranks})
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "summary.json")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		run := &record.Run{Ranks: []record.Rank{{Rank: 0}, {Rank: 1, GPU: test.told}}}
		if got := bench.OtherSummary(path, run); strings.HasPrefix(got, "its gpu_of_rank") != test.isOther ||
			!test.isOther && got != "" {
			t.Errorf("%s: %q", test.name, got)
		}
	}
}
