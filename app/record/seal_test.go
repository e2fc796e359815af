package record_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
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
	if broken := r.Broken(); len(broken) > 0 || r.Seal == "" {
		t.Errorf("%v, seal %q", broken, r.Seal)
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
	if r := strange(); len(r.Broken()) > 0 || r.Seal != "" {
		t.Errorf("%v", r.Broken())
	}
}

// fill gives every field below v a value of its own.
func fill(t *testing.T, v reflect.Value, next *int) {
	*next++
	switch {
	case v.Kind() == reflect.Struct && v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Unix(int64(*next), 5)))
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("json") != "-" {
				fill(t, v.Field(i), next)
			}
		}
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), next)
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(t, v.Index(0), next)
		fill(t, v.Index(1), next)
	case v.Kind() == reflect.String:
		v.SetString(fmt.Sprint("text\xff", *next))
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.CanInt():
		v.SetInt(int64(*next))
	case v.CanUint():
		v.SetUint(uint64(*next))
	case v.CanFloat():
		v.SetFloat(1 / float64(*next))
	default:
		t.Fatalf("a field of type %s", v.Type())
	}
}

// The seal of a summary covers every field, and is the same after it went through a file.
func TestSealsOfSummaries(t *testing.T) {
	var s record.Summary
	number := 0
	fill(t, reflect.ValueOf(&s).Elem(), &number)
	s.Evaluations[1].Loss, s.Growth[0].Noise = record.Number(math.NaN()), record.Number(math.Inf(1))
	s.TakeSeal()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var read record.Summary
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	if got := read.Broken(); got != "" {
		t.Errorf("as it was written, it %s", got)
	}
	for _, c := range []struct {
		change func(*record.Summary)
		want   string
	}{
		{func(s *record.Summary) { *s.TestAccuracy += 0.01 }, "has a seal that is not that"},
		{func(s *record.Summary) { s.Evaluations[0].Accuracy = 1 }, "has a seal that is not that"},
		{func(s *record.Summary) { s.Ranks[1].Buckets[1].Hidden.Seconds = 0 }, "has a seal that is not that"},
		{func(s *record.Summary) { s.Cautions = nil }, "has a seal that is not that"},
		{func(s *record.Summary) { s.StepsSHA256 = "" }, "has a seal that is not that"},
		{func(s *record.Summary) { s.Seal = "" }, "no seal: its seal was removed"},
		{func(s *record.Summary) { s.Seal, s.StepsSHA256 = "", "" }, ""}, // as of an older version
	} {
		var now record.Summary
		if err := json.Unmarshal(text, &now); err != nil {
			t.Fatal(err)
		}
		c.change(&now)
		if got := now.Broken(); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
