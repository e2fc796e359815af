package report_test

import (
	"fmt"
	"strings"
	"testing"

	"lockstep/app/evidence/compare"
	"lockstep/app/record"
	"lockstep/app/report"
)

// looseRun returns a run of two workers, of which each tells its own loss and samples: in every step, or one
// step each in turn. Its file has the lines of rank 1 first.
func looseRun(t *testing.T, strategy string, isInTurn bool) *compare.Training {
	t.Helper()
	async := ""
	if isInTurn {
		async = `"async":{},`
	}
	var steps strings.Builder
	for _, rank := range []int{1, 0} {
		for step := range 4 {
			if !isInTurn || step%2 == rank {
				fmt.Fprintf(&steps, `{"rank":%d,"step":%d,"loss":%d,"own_loss":%[3]d,"samples":32,`+
					`"seconds":0.01}`+"\n", rank, step, 2*rank+step)
			}
		}
	}
	run, err := readTraining(strings.NewReader(fmt.Sprintf(`{%s"strategy":%q,"workers":2,"batch":32,`+
		`"ranks":[{},{}],"steps":4,"samples":%d,"samples_per_second":6250,"step_ms":{"median":10}}`, async,
		strategy, steps.Len())), strings.NewReader(steps.String()))
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// Of workers that each tell their own losses and samples, a report shows those of all.
func TestLossOfAllWorkers(t *testing.T) {
	averages, async := looseRun(t, "local-sgd", false), looseRun(t, "ps-async", true)
	if got, want := fmt.Sprint(averages.Joint), "{[1 2 3 4] [1 2 3 4] [0.01 0.02 0.03 0.04] "+
		"[64 128 192 256]}"; got != want {
		t.Errorf("local-sgd: %v, want %v", got, want)
	}
	if got, want := fmt.Sprint(async.Joint), "{[1 2 3 4] [0 3 2 5] [0.01 0.01 0.02 0.02] "+
		"[32 64 96 128]}"; got != want {
		t.Errorf("ps-async: %v, want %v", got, want)
	}
	page := overlayPage(t, []string{"one", "two"}, averages, async)
	for _, want := range []string{"<td>4<small>at 256</small></td>", "<td>5<small>at 128</small></td>",
		"These did other work than A one: B two"} {
		if !strings.Contains(page, want) {
			t.Errorf("the overlay lacks %q", want)
		}
	}
	averages.Averages = &record.Averages{Rounds: 2, Every: 2, Parts: 1, LR: 1}
	folder := t.TempDir()
	if err := report.Run(averages).Write(folder); err != nil {
		t.Fatal(err)
	}
	text := read(t, folder, report.MarkdownFile)
	if !strings.Contains(text, "averages: 2 averages of the weights, 2 steps apart at most, in 1 part; "+
		"outer learning rate 1, momentum 0\n") {
		t.Errorf("the report does not tell the averages: %s", text)
	}
	if !strings.Contains(text, "| 1  rank 1 | 2 (at 1) | 3 (at 2) | 4 (at 3) | 5 (at 4) |") ||
		!strings.Contains(text, "Training: the workers' own losses") {
		t.Errorf("the report has the loss of rank 0: %s", text)
	}
}
