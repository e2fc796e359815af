package report

import (
	"strings"
	"testing"
	"time"

	"lockstep/app/record"
)

// The part of several hosts tells who they are, how they reach each other and what was found.
func TestHostsPart(t *testing.T) {
	if p := hostsPart(nil); len(present(p)) != 0 {
		t.Errorf("%+v for one host", p)
	}
	facts := func(label, address string) record.HostFacts {
		return record.HostFacts{Host: record.Host{CPU: "Example 9000", OS: "linux", UsableCores: 4,
			ISA: []string{"plain", "avx2"}}, Label: label, Slots: 2, Address: address,
			Why: "its only address"}
	}
	h := &record.Hosts{Started: time.Unix(0, 0), Seconds: 1.5,
		Hosts: []record.HostFacts{facts("a", "10.0.0.1"), facts("b", "10.0.0.2")},
		Routes: []record.Route{{From: 0, To: 1, IsChosen: true, Latency: 2e-4, Rate: 1.25e8},
			{From: 1, To: 0, IsChosen: true, Latency: 3e-4, Rate: 1e8}, {From: 1, To: 0, Latency: 9,
				Rate: 1}},
		Findings: []record.Finding{{Level: "warning", Topic: "clock", Host: "b", Text: "an hour <late>"}}}
	h.Hosts[1].ClockOffset = -3600
	var lines []string
	for _, p := range hostsPart(h).Pairs {
		lines = append(lines, p.Name+": "+p.Value)
	}
	got := strings.Join(lines, "\n")
	for _, want := range []string{
		"0 a: 2 slots · Example 9000 · 4 cores · avx2 · ", "reached at 10.0.0.1 (its only address)\n",
		"clock 1h0m0s behind\n",
		"between them: round trips of 0.200 to 0.300 ms; one stream carries 800 Mbit/s (b to a) to 1000 " +
			"Mbit/s (a to b)",
		"warning: b: an hour <late>", "examined: 1970-01-01 00:00:00 UTC, in 1.5 s",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
