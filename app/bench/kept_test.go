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
		got, err := bench.OtherSummary(path, run)
		isOther := strings.HasPrefix(got, "its ranks[1].gpu")
		if isOther != test.isOther || !test.isOther && got != "" || err != nil {
			t.Errorf("%s: %q, %v", test.name, got, err)
		}
	}
}

// Where a summary differs from results, the field is named as in the file, with both values.
func TestOtherSummary(t *testing.T) {
	var evaluation record.Evaluation
	for _, test := range []struct {
		name, kept string // the summary
		run        record.Run
		want       string
	}{
		{"equal", `{"bytes_sent":5}`, record.Run{Outcome: record.Outcome{BytesSent: 5}}, ""},
		{"a figure", `{"bytes_sent":5}`, record.Run{}, "its bytes_sent is 5, and 0 by the results"},
		{"beyond a float64", `{"samples":9007199254740993}`,
			record.Run{Outcome: record.Outcome{Samples: 9007199254740992}},
			"its samples is 9007199254740993, and 9007199254740992 by the results"},
		{"not told", `{}`, record.Run{Outcome: record.Outcome{GPU: "H100"}},
			`its gpu is not told, and "H100" by the results`},
		{"fewer", `{"evaluations":[{"loss":0}]}`,
			record.Run{Evaluations: []record.Evaluation{evaluation, evaluation}},
			"its evaluations is a list of 1, and one of 2 by the results"},
		{"another type", `{"samples":"five"}`, record.Run{}, "it cannot be read"},
		{"empty", ``, record.Run{}, "it cannot be read"},
	} {
		path := filepath.Join(t.TempDir(), "summary.json")
		if err := os.WriteFile(path, []byte(test.kept), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := bench.OtherSummary(path, &test.run)
		if !strings.Contains(got, test.want) || test.want == "" && got != "" || err != nil {
			t.Errorf("%s: %q, %v; want %q", test.name, got, err, test.want)
		}
	}
	if got, err := bench.OtherSummary(t.TempDir(), &record.Run{}); got != "" || err == nil {
		t.Errorf("a folder: %q, %v", got, err)
	}
}
