package report_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lockstep/app/evidence/compare"
	"lockstep/app/record"
	"lockstep/app/report"
)

func collectives() []compare.Collective {
	var all []compare.Collective
	for _, link := range []string{"shm", "tcp"} {
		for i, bytes := range []int64{4 << 10, 1 << 20, 3 << 19} {
			median := record.Number(3.217e-6 * float64(bytes>>12))
			all = append(all, compare.Collective{Operation: "all-reduce", Asked: "auto", Algorithm: "direct",
				Link: link, Codec: "fp32", Hosts: 1, Ranks: 2, Bytes: bytes, Repeats: 3, Predicted: 1e-6,
				Seconds: compare.Quantiles{Median: median, P10: 3e-6, P90: 4e-3},
				Bus:     record.Number(i + 1), Sent: bytes, Formula: bytes})
		}
	}
	return append(all, compare.Collective{Operation: "barrier", Link: "tcp", Hosts: 2, Ranks: 3,
		Seconds: compare.Quantiles{Median: 1e-4, P10: 1e-4, P90: 2e-4}})
}

// The page has both plots of an operation with sizes, one of a barrier, and every value in a table.
func TestCollectives(t *testing.T) {
	list, err := json.Marshal(collectives())
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	command := []string{"lockstep", "commbench", "--ranks", "2,<3>"}
	measured := report.Measured{Command: command, Started: time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC),
		Host: record.Machine{CPU: "Example 9000", Cores: 2}, Collectives: list}
	if err := report.WriteCollectives(folder, measured); err != nil {
		t.Fatal(err)
	}
	var kept report.Measured
	text, err := os.ReadFile(filepath.Join(folder, report.ResultsFile))
	if err == nil {
		err = json.Unmarshal(text, &kept)
	}
	if all, wrong := compare.DecodeCollectives(bytes.NewReader(kept.Collectives)); err != nil ||
		wrong != nil ||
		kept.Kind != compare.CollectivesKind || len(all) != len(collectives()) {
		t.Errorf("%v, %v: results.json has other content", err, wrong)
	}
	text, err = os.ReadFile(filepath.Join(folder, report.HTMLFile))
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	for _, count := range []struct {
		times int // -1: at least once
		texts []string
	}{
		{0, []string{"<script"}},
		{1, []string{"22 November 2026, 10:00 UTC · Example 9000 · 2 cores"}},
		{3, []string{"<figure id"}},
		{-1, []string{"shm, 2 ranks, auto", "tcp, 3 ranks, 2 hosts",
			">1536 KiB<", ">4 KiB<", ">824 µs<", ">1.24 ms<", ">10 µs<", "2,&lt;3&gt;"}},
	} {
		for _, want := range count.texts {
			n := strings.Count(page, want)
			if n == 0 && count.times != 0 || count.times >= 0 && n != count.times {
				t.Errorf("%q is there %d times, want %d", want, n, count.times)
			}
		}
	}
	for _, bad := range []string{"", "{}", `[{"bytes": "many"}]`} {
		if err := report.WriteCollectives(t.TempDir(),
			report.Measured{Collectives: []byte(bad)}); err == nil {
			t.Errorf("%q is no list of collectives", bad)
		}
	}
}

// Of several hosts the page tells what was found about them, and its command is one for hosts.
func TestCollectivesOfHosts(t *testing.T) {
	list, err := json.Marshal(collectives())
	if err != nil {
		t.Fatal(err)
	}
	m := report.Measured{Command: []string{"lockstep", "commbench", "--ranks", "2"}, Collectives: list,
		Hosts: &record.Hosts{Hosts: []record.HostFacts{{Label: "a", Slots: 2}, {Label: "me@b", Slots: 1}}}}
	folder := t.TempDir()
	if err := report.WriteCollectives(folder, m); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(folder, report.MarkdownFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"### Hosts\n\n- 0 a: 2 slots",
		"lockstep launch --hosts a:2,me@b:1 -- commbench --ranks 2\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if got := report.ReadCollectives(folder); got == nil || len(got.Hosts.Hosts) != 2 {
		t.Errorf("%+v was read, want both hosts", got)
	}
	m.Hosts.Routes = []record.Route{{From: 0, To: 2, IsChosen: true, Latency: 1}}
	if _, err := report.Collectives(m); err == nil {
		t.Error("a route to a host that is not there was taken")
	}
}
