package analysis_test

import (
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
