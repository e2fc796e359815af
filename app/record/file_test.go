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

// A seal is that of what a file holds, however it is indented; what is changed in it contradicts it.
func TestSealOfResults(t *testing.T) {
	zero := 0.0
	strange := &record.Results{Version: "a\xff\x00\u202e<b>", Started: time.Unix(1, 678901234), Rounds: 1,
		Rows: []record.Row{{Setting: record.Setting{Workers: 1, Threads: 1, Batch: 2, Shards: 1, LR: 1e-300},
			Runs: []record.Run{{Config: json.RawMessage(`{"b": [1, null, true], "a": 1.50}`),
				Outcome: record.Outcome{TestAccuracy: &zero, Samples: 2, Steps: 1},
				Ranks: []record.Rank{{Steps: record.Steps{Epoch: []int{0}, Samples: []int{2},
					Loss: record.Numbers{math.Inf(1)}, OwnLoss: record.Numbers{math.NaN()},
					Seconds: record.Numbers{0.1}}}}}}}}}
	var text, indented bytes.Buffer
	if err := record.Encode(&text, strange); err != nil {
		t.Fatal(err)
	}
	if err := json.Indent(&indented, text.Bytes(), " ", "\t"); err != nil {
		t.Fatal(err)
	}
	seal := `,"file_sha256":"`
	for name, c := range map[string]struct {
		text      string
		isChanged bool
	}{
		"as written":       {text.String(), false},
		"indented":         {indented.String(), false},
		"another figure":   {strings.Replace(text.String(), `"samples":2`, `"samples":4`, 1), true},
		"a further member": {strings.Replace(text.String(), "{", `{"remark":1,`, 1), true},
		"another seal":     {strings.Replace(text.String(), seal, seal+"0", 1), false}, // which is none
		"of older version": {strings.Replace(text.String(), seal, `,"seal":"`, 1), false},
	} {
		r, err := record.Decode(strings.NewReader(c.text))
		if err != nil || r.IsChanged != c.isChanged {
			t.Errorf("%s: %v, changed %v", name, err, r.IsChanged)
		}
	}
}

// A summary contradicts another seal, and steps that are not those of its hash.
func TestSealOfASummary(t *testing.T) {
	text, err := record.EncodeSummary(&record.Summary{Model: "lenet", StepsSHA256: "ab"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ model, steps, want string }{
		{"lenet", "ab", ""},
		{"lenet", "", ""},
		{"vgg11", "ab", "summary.json has a seal that is not that of what it holds"},
		{"lenet", "cd", "steps.jsonl has the SHA-256 cd…, and had ab…"},
	} {
		now := strings.Replace(string(text), "lenet", c.model, 1)
		s, err := record.DecodeSummary(strings.NewReader(now))
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(s.Contradicts(c.steps), " ")
		if !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s, %s: %q, want %q", c.model, c.steps, got, c.want)
		}
	}
}
