package compare_test

import (
	"testing"

	"lockstep/app/evidence/compare"
	"lockstep/app/record"
)

func TestAsyncTexts(t *testing.T) {
	a := &record.Async{Bound: 8, Backup: 1, DividesRate: true, Updates: 4, Dropped: 2,
		Staleness: []int{1, 2, 1}, ByWorker: []int{3, 1, 0}}
	lost := []record.LostWorker{{Rank: 2, Cause: "rank 2 was killed"}}
	for want, got := range map[string]string{
		"1 updates on average, 2 at most, where 8 are allowed; the learning rate was divided by it; " +
			"2 gradients came after their round and were dropped": compare.AsyncText(a),
		"3, 1 and 0 of 4 updates, by rank": compare.SharesText(a),
		"rank 2 was killed":                compare.LostText(lost),
		"": compare.AsyncText(nil) + compare.SharesText(nil) +
			compare.LostText(nil),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
