package analysis_test

import (
	"slices"
	"strings"
	"testing"

	"lockstep/app/analysis"
	"lockstep/app/record"
)

func TestAsyncTexts(t *testing.T) {
	a := &record.Async{Bound: 8, Backup: 1, DividesRate: true, Updates: 4, Dropped: 2,
		Staleness: []int{1, 2, 1}, ByWorker: []int{3, 1, 0}}
	lost := []record.LostWorker{{Rank: 2, Cause: "rank 2 was killed"}}
	for want, got := range map[string]string{
		"1 updates on average, 2 at most, where 8 are allowed; the learning rate was divided by it; " +
			"2 gradients came after their round and were dropped": analysis.AsyncText(a),
		"3, 1 and 0 of 4 updates, by rank": analysis.SharesText(a),
		"rank 2 was killed":                analysis.LostText(lost),
		"": analysis.AsyncText(nil) + analysis.SharesText(nil) +
			analysis.LostText(nil),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Workers for which a round does not wait compute steps that no update has.
func TestDroppedStepsAreNoContradiction(t *testing.T) {
	for config, want := range map[string]bool{`{"backup-workers":1}`: false, `{"backup-workers":0}`: true} {
		m := newMaker(1, 4)
		run := &m.add(record.Setting{Strategy: "ps-async", Workers: 3}, 0.1).Runs[0]
		run.Config, run.Steps, run.Samples = []byte(config), 3*40-2, (3*40-2)*256
		got := slices.ContainsFunc(analysis.Compare(m.Results).Contradictions(), func(n analysis.Note) bool {
			return strings.Contains(n.Text, "raw samples of") ||
				strings.Contains(n.Text, "its steps trained on")
		})
		if got != want {
			t.Errorf("%s: contradiction %v, want %v", config, got, want)
		}
	}
}
