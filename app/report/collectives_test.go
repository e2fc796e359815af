package report_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/app/analysis"
	"lockstep/app/record"
	"lockstep/app/report"
)

func collectives() []analysis.Collective {
	var all []analysis.Collective
	for _, link := range []string{"shm", "tcp"} {
		for i, bytes := range []int64{4 << 10, 1 << 20, 3 << 19} {
			median := record.Number(3.217e-6 * float64(bytes>>12))
			all = append(all, analysis.Collective{Operation: "all-reduce", Asked: "auto", Algorithm: "direct",
				Link: link, Codec: "fp32", Hosts: 1, Ranks: 2, Bytes: bytes, Repeats: 3, Predicted: 1e-6,
				Seconds: analysis.Quantiles{Median: median, P10: 3e-6, P90: 4e-3},
				Bus:     record.Number(i + 1), Sent: bytes, Formula: bytes})
		}
	}
	all[0].Doubt = "measured 3.2 times longer than predicted"
	return append(all, analysis.Collective{Operation: "barrier", Link: "tcp", Hosts: 2, Ranks: 3,
		Seconds: analysis.Quantiles{Median: 1e-4, P10: 1e-4, P90: 2e-4}})
}

// The page has both plots of an operation with sizes, one of a barrier, and every value in a table.
func TestCollectives(t *testing.T) {
	list, err := json.Marshal(collectives())
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	command := []string{"lockstep", "commbench", "--ranks", "2,<3>"}
	if err := report.WriteCollectives(folder, list, command); err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(filepath.Join(folder, report.ResultsFile))
	if err != nil || string(kept) != string(list) {
		t.Errorf("%v, results.json has other content", err)
	}
	text, err := os.ReadFile(filepath.Join(folder, report.HTMLFile))
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	for want, times := range map[string]int{"<figure>": 3, "<script": 0, "shm, 2 ranks, auto": -1,
		"<dt>caution</dt><dd>measured 3.2 times longer than predicted</dd>": 1,
		"tcp, 3 ranks, 2 hosts": -1, ">1536 KiB<": -1, ">4 KiB<": -1, ">824 µs<": -1, ">1.24 ms<": -1,
		">10 µs<": -1, "2,&lt;3&gt;": -1} {
		if n := strings.Count(page, want); n == 0 && times != 0 || times >= 0 && n != times {
			t.Errorf("%q is there %d times, want %d", want, n, times)
		}
	}
	for _, bad := range []string{"", "{}", `[{"bytes": "many"}]`} {
		if err := report.WriteCollectives(t.TempDir(), []byte(bad), nil); err == nil {
			t.Errorf("%q is no list of collectives", bad)
		}
	}
}
