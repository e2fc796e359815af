package cluster

import (
	"testing"
	"time"
)

// seen is what the launcher has seen of a worker.
type seen struct {
	step        int
	moved       time.Duration // before now
	heard       time.Duration // before now
	waitsFor    int           // -1: nobody
	limit       time.Duration
	isUnwatched bool
}

func TestExamineNamesTheCulprit(t *testing.T) {
	const s, nobody = time.Second, -1
	tests := map[string]struct {
		workers []seen
		want    verdict
		ok      bool
	}{
		"all move":  {[]seen{{7, s, 0, nobody, 9 * s, false}, {7, s, 0, nobody, 9 * s, false}}, verdict{}, false},
		"one waits": {[]seen{{7, 5 * s, 0, 1, 9 * s, false}, {7, 5 * s, 0, nobody, 9 * s, false}}, verdict{}, false},
		"stopped, the other waits": {[]seen{{7, 9 * s, 0, 1, 9 * s, false}, {7, 9 * s, 9 * s, nobody, 9 * s, false}},
			verdict{1, true, 9 * s}, true},
		"stopped while the other is overdue": {
			[]seen{{7, 20 * s, 0, 1, 9 * s, false}, {7, 20 * s, 20 * s, nobody, 9 * s, false}},
			verdict{1, true, 20 * s}, true},
		"alone and stopped": {[]seen{{0, 9 * s, 9 * s, nobody, 0, false}}, verdict{0, true, 9 * s}, true},
		"alone and stuck":   {[]seen{{3, 10 * s, 0, nobody, 9 * s, false}}, verdict{0, false, 10 * s}, true},
		"no limit":          {[]seen{{3, time.Hour, 0, nobody, 0, false}}, verdict{}, false},
		"stuck, two wait for it": {
			[]seen{{7, 12 * s, 0, 2, 9 * s, false}, {7, 13 * s, 0, 0, 9 * s, false}, {7, 11 * s, 0, nobody, 9 * s, false}},
			verdict{2, false, 11 * s}, true},
		"slow, within its own limit": {
			[]seen{{7, 12 * s, 0, 1, 9 * s, false}, {7, 12 * s, 0, nobody, 60 * s, false}}, verdict{}, false},
		"a wait on a worker that is done": {
			[]seen{{7, 10 * s, 0, 1, 9 * s, false}, {9, time.Hour, time.Hour, nobody, 9 * s, true}},
			verdict{0, false, 10 * s}, true},
		"a circle: the one behind": {
			[]seen{{8, 10 * s, 0, 1, 9 * s, false}, {8, 10 * s, 0, 2, 9 * s, false}, {7, 11 * s, 0, 0, 9 * s, false}},
			verdict{2, false, 11 * s}, true},
		"a circle that moves": {
			[]seen{{8, 10 * s, 0, 1, 9 * s, false}, {8, s, 0, 0, 9 * s, false}}, verdict{}, false},
		"a wait for a rank that does not exist": {[]seen{{8, 10 * s, 0, 5, 9 * s, false}},
			verdict{0, false, 10 * s}, true},
		"the launcher's own pause does not count": {
			[]seen{{7, 7 * s, 7 * s, nobody, 9 * s, false}, {7, 7 * s, 7 * s, nobody, 9 * s, false}}, verdict{}, false},
		"not begun": {[]seen{{0, time.Hour, time.Hour, nobody, 0, true}}, verdict{}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			const now = 2 * time.Hour
			workers := make([]vitals, len(test.workers))
			for i, w := range test.workers {
				workers[i] = vitals{isWatched: !w.isUnwatched, heard: now - w.heard, moved: now - w.moved,
					beat: Progress{Step: w.step, Limit: w.limit.Seconds()}}
				if w.waitsFor >= 0 {
					workers[i].beat.Wait = &Wait{Rank: w.waitsFor}
				}
			}
			if got, ok := examine(workers, now, 8*s); got != test.want || ok != test.ok {
				t.Errorf("%+v, %v; want %+v, %v", got, ok, test.want, test.ok)
			}
		})
	}
}

// A beat counts as a move if anything of the work has changed, and only then.
func TestOnlyWorkIsAMove(t *testing.T) {
	v := vitals{isWatched: true}
	v.hear(1, Progress{Phase: "forward", Moves: 1})
	for now, p := range map[time.Duration]Progress{
		2: {Phase: "forward", Moves: 1, Seconds: 3, Note: "a line"},
		3: {Phase: "forward", Moves: 1, Wait: &Wait{Rank: 1}},
	} {
		if v.hear(now, p); v.moved != 1 || v.heard != now {
			t.Errorf("beat %+v: heard at %d, moved at %d", p, v.heard, v.moved)
		}
	}
	for now, p := range []Progress{{Phase: "forward", Moves: 2}, {Phase: "backward", Moves: 2},
		{Phase: "backward", Moves: 2, Step: 1}} {
		if v.hear(time.Duration(now+10), p); v.moved != time.Duration(now+10) {
			t.Errorf("beat %+v is no move", p)
		}
	}
}
