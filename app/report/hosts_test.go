package report

import (
	"strings"
	"testing"

	"lockstep/app/record"
)

// The part of several hosts tells who they are, how they reach each other and what was found.
func TestHostsPart(t *testing.T) {
	if p := hostsPart(nil); len(present(p)) != 0 {
		t.Errorf("%+v for one host", p)
	}
	facts := func(label, address string) record.HostFacts {
		return record.HostFacts{Host: record.Host{CPU: "Example 9000", OS: "linux", UsableCores: 4},
			Label: label, Slots: 2, Address: address, Why: "its only address"}
	}
	h := &record.Hosts{Hosts: []record.HostFacts{facts("a", "10.0.0.1"), facts("b", "10.0.0.2")},
		Findings: []record.Finding{{Level: "warning", Topic: "clock", Host: "b", Text: "an hour <late>"}}}
	var lines []string
	for _, p := range hostsPart(h).Pairs {
		lines = append(lines, p.Name+": "+p.Value)
	}
	got := strings.Join(lines, "\n")
	for _, want := range []string{
		"0 a: 2 slots · Example 9000 · 4 cores · ", "reached at 10.0.0.1 (its only address)\n",
		"warning: b: an hour <late>",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
