package report_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"lockstep/app/record"
	"lockstep/app/report"
)

func collectives() []record.Collective {
	var all []record.Collective
	for _, link := range []string{"shm", "tcp"} {
		for i, bytes := range []int{4 << 10, 1 << 20, 3 << 19} {
			median := 3.217e-6 * float64(bytes>>12)
			all = append(all, record.Collective{Operation: "all-reduce", Asked: "auto", Algorithm: "direct",
				Link: link, Codec: "fp32", Hosts: 1, Ranks: 2, Bytes: bytes, Repeats: 3, Predicted: 1e-6,
				Seconds: record.Quantiles{Median: median, P10: 3e-6, P90: 4e-3},
				Bus:     float64(i + 1), Sent: int64(bytes), Formula: int64(bytes),
				Samples: record.Numbers{3e-6, median, 4e-3}})
		}
	}
	return append(all, record.Collective{Operation: "barrier", Link: "tcp", Hosts: 2, Ranks: 3,
		Seconds: record.Quantiles{Median: 1e-4, P10: 1e-4, P90: 2e-4}, Samples: record.Numbers{1e-4, 2e-4}})
}

// The page has both plots of an operation with sizes, one of a barrier, and every value in a table.
func TestCollectives(t *testing.T) {
	folder := t.TempDir()
	command := []string{"lockstep", "commbench", "--ranks", "2,<3>"}
	measured := report.Measured{Command: command, Started: time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC),
		Host: record.Machine{CPU: "Example 9000", Cores: 2}, Collectives: collectives()}
	if err := report.WriteCollectives(folder, measured); err != nil {
		t.Fatal(err)
	}
	kept := report.ReadCollectives(folder)
	if kept == nil || !reflect.DeepEqual(kept.Collectives, collectives()) {
		t.Errorf("results.json has other content: %+v", kept)
	}
	text, err := os.ReadFile(filepath.Join(folder, report.HTMLFile))
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
}

// Of several hosts the page tells what was found about them, and its command is one for hosts.
func TestCollectivesOfHosts(t *testing.T) {
	m := report.Measured{Command: []string{"lockstep", "commbench", "--ranks", "2"},
		Collectives: collectives(),
		Hosts: &record.Hosts{Hosts: []record.HostFacts{{Label: "a", Slots: 2},
			{Label: "me@b", Slots: 1}}}}
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
