package record_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"lockstep/app/record"
)

// strange returns results with values that JSON changes or that are hard to tell from nothing.
func strange() *record.Results {
	zero := 0.0
	return &record.Results{Version: "a\xff\x00\u202e<b>", Started: time.Date(2026, 1, 2, 3, 4, 5, 678901234,
		time.FixedZone("", 3600)), Rounds: 1, Command: []string{"", "x"},
		Rows: []record.Row{{Setting: record.Setting{Workers: 1, Threads: 1, Batch: 2, Shards: 1, LR: 1e-300},
			Runs: []record.Run{{Config: json.RawMessage(`{"b": [1, null, true], "a": 1.50}`),
				Outcome: record.Outcome{TestAccuracy: &zero, Samples: 2, Steps: 1},
				Ranks: []record.Rank{{Hidden: &zero, Steps: record.Steps{Epoch: []int{0}, Samples: []int{2},
					Loss: record.Numbers{math.Inf(1)}, OwnLoss: record.Numbers{math.NaN()},
					Seconds: record.Numbers{0.1}, Phases: map[string]record.Numbers{"b": {0}, "a": {0.1}},
					Shards: []int{}}}}}}}}}
}

// A seal is that of what a file holds, whatever way it went and however the file is written, and the same in
// later versions.
func TestSealsSurviveFiles(t *testing.T) {
	var b bytes.Buffer
	if err := record.Encode(&b, strange()); err != nil {
		t.Fatal(err)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, b.Bytes(), " ", "\t"); err != nil {
		t.Fatal(err)
	}
	r, err := record.Decode(&indented)
	if err != nil {
		t.Fatal(err)
	}
	if broken := r.Broken(); len(broken) > 0 || !r.IsSealed() {
		t.Errorf("%v, sealed %v", broken, r.IsSealed())
	}
	const run, all = "2e16b49c7ddca62517d55e90ba0f0a6ed476c2b0b07130505963864dfc5ce037",
		"61d36f7ed41de3d549322f4614e5e84c8b53b25eda840074c15a828b18c86ef2"
	if got := r.Rows[0].Runs[0].Seal; got != run {
		t.Errorf("seal of the run %s, want %s", got, run)
	}
	if r.Seal != all {
		t.Errorf("seal of the results %s, want %s", r.Seal, all)
	}
	r.Rows[0].Runs[0].Samples = 4
	if err := record.Encode(&b, r); err != nil {
		t.Fatal(err)
	}
	if broken := strings.Join(r.Broken(), ""); !strings.Contains(broken, "Row 1 ( 1×1), round 1: its seal") {
		t.Errorf("a run keeps its first seal: %s", broken)
	}
}

// Results in memory, and those of older versions, have no seal and are not broken.
func TestResultsWithoutSeals(t *testing.T) {
	if r := strange(); len(r.Broken()) > 0 || r.IsSealed() {
		t.Errorf("%v", r.Broken())
	}
}
