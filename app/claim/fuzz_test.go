package claim_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"lockstep/app/analysis"
	"lockstep/app/claim"
	"lockstep/app/record"
)

// Any bytes are read or refused with one line, and what is printed of them is plain text.
func FuzzCheck(f *testing.F) {
	for _, c := range cases() {
		f.Add([]byte(c.text), "")
	}
	originals, err := filepath.Glob(filepath.Join("..", "original", "text", "*.md"))
	if err != nil || len(originals) != 5 {
		f.Fatal(originals, err)
	}
	for _, path := range originals {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, "report.md")
	}
	results := record.Results{Rounds: 1, Complete: true, Rows: []record.Row{{
		Setting: record.Setting{Model: "m", Strategy: "ddp", Workers: 1, Threads: 1, Batch: 2, Shards: 1},
		Runs: []record.Run{{Outcome: record.Outcome{Steps: 1, Samples: 2, Seconds: 1},
			EpochSeconds: record.Numbers{1},
			Directory:    "runs/01-01-m-ddp-w1t1", Config: []byte(`{"model":"m"}`),
			Ranks: []record.Rank{{Steps: record.Steps{Epoch: []int{0}, Samples: []int{2},
				Loss:    record.Numbers{1},
				OwnLoss: record.Numbers{1}, Seconds: record.Numbers{1},
				Phases: map[string]record.Numbers{"forward": {1}}}}}}}}}}
	var own bytes.Buffer
	if err := record.Encode(&own, &results); err != nil {
		f.Fatal(err)
	}
	f.Add(own.Bytes(), "results.json")
	f.Add([]byte("strategy,step s\na,1\n# §0 is 5% slower than §1. §0 has an efficiency of 9%.\n"), "x.csv")
	f.Add([]byte("a,b\n\x1b[31m,1e308\n"), "x.csv")
	f.Add([]byte(`{"schema":3,"rounds":1,"rows":[{"setting":{}}]}`), "results.json")
	f.Add([]byte(`{"tables":[[[1,2],[3]],{"rows":[{"a":{"b":[]}}]}],"claims":[1,{}]}`), "x.json")
	f.Fuzz(func(t *testing.T, text []byte, name string) {
		d, err := claim.Read(bytes.NewReader(text), name)
		if err != nil {
			if strings.Contains(analysis.Plain(err.Error()), "\n") {
				t.Errorf("an error of two lines: %q", err)
			}
			return
		}
		var b bytes.Buffer
		if err := claim.Write(&b, claim.Check(d)); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			line = strings.TrimSuffix(line, "\n")
			isControl := func(r rune) bool { return r < ' ' || r == 0x7f }
			if !utf8.ValidString(line) || strings.ContainsFunc(line, isControl) {
				t.Errorf("the terminal gets %q", line)
			}
		}
	})
}
