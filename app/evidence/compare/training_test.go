package compare_test

import (
	"fmt"
	"strings"
	"testing"

	"lockstep/app/evidence/compare"
)

// A summary with text behind its end is not read: nobody says which of the two is meant.
func TestSummaryIsOneValue(t *testing.T) {
	const summary = `{"workers": 2, "steps": 3}`
	if _, err := compare.ReadTraining(strings.NewReader(summary+"\n"), strings.NewReader("")); err != nil {
		t.Error(err)
	}
	for _, more := range []string{summary, "]", "x"} {
		_, err := compare.ReadTraining(strings.NewReader(summary+more), strings.NewReader(""))
		if err == nil || !strings.Contains(err.Error(), "after top-level value") {
			t.Errorf("with %q behind its end: error %v", more, err)
		}
	}
}

// Workers that share the steps have a stretch each: what one waited for cores is told without lines of the
// others, and of a resumed run for its last part, as its phases are. Runtime threads that waited beside
// computing cost nothing, which its processor time tells.
func TestCoreWaitsOfWorkersInTurn(t *testing.T) {
	const summary = `{"workers": 2, "threads": 1, "steps": 8, "strategy": "ps-async", "async": {},
		"resumed": {"steps": 4}, "ranks": [{"phases": {"forward": 0.16}}, {"phases": {"forward": 0.16}}]}`
	var steps strings.Builder
	for i := range 8 {
		fmt.Fprintf(&steps, `{"rank": %d, "step": %d, "seconds": 0.08, "delayed_seconds": 0.06, `+
			`"usage_seconds": 0.08, "cpu_seconds": 0.06, "phases": {"forward": 0.08}}`+"\n", i%2, i)
	}
	run, err := compare.ReadTraining(strings.NewReader(summary), strings.NewReader(steps.String()))
	if err != nil {
		t.Fatal(err)
	}
	for rank := range 2 {
		near(t, "forward", run.Spent(rank)["forward"], 0.12, 1e-12)
		near(t, "cores", run.Spent(rank)[compare.CoreWait], 0.04, 1e-12)
	}
}

// What a run's report says of a rank's phases is what the rank told, with waits for cores taken out of them.
func TestCoreWaitsOfARun(t *testing.T) {
	const summary = `{"workers": 2, "threads": 1, "steps": 4, "strategy": "all-reduce", "ranks": [
		{"phases": {"forward": 0.16, "sync_exposed": 0.164}},
		{"phases": {"forward": 0.32, "sync_exposed": 0.004}}]}`
	var steps strings.Builder
	for i := range 4 {
		for rank, forward := range []float64{0.04, 0.08} {
			fmt.Fprintf(&steps, `{"rank": %d, "step": %d, "seconds": 0.081, "delayed_seconds": %g, "phases":
				{"forward": %g, "sync_exposed": %g}}`, rank, i, 0.0405*float64(rank), forward, 0.081-forward)
			steps.WriteString("\n")
		}
	}
	text := strings.ReplaceAll(steps.String(), "\n\t\t\t\t", "")
	run, err := compare.ReadTraining(strings.NewReader(summary), strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for rank := range 2 {
		got := run.Spent(rank)
		near(t, "forward", got["forward"], 0.16, 1e-3)
		near(t, "exchange", got["sync_exposed"], 0.004, 3e-3)
		near(t, "cores", got[compare.CoreWait], 0.16, 3e-3)
		near(t, "all", got["forward"]+got["sync_exposed"]+got[compare.CoreWait], 0.324, 1e-9)
	}
}
