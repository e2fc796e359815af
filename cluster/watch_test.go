package cluster

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"testing/synctest"
	"time"
)

// seen is what the launcher has seen of a worker.
type seen struct {
	step     int
	moved    time.Duration // before now
	heard    time.Duration // before now
	waitsFor int           // or nobody, or ended
	limit    time.Duration
}

const (
	nobody = -1
	ended  = -2 // it is done
)

func TestExamineNamesTheCulprit(t *testing.T) {
	const s, limit = time.Second, 9 * time.Second
	tests := map[string]struct {
		workers []seen
		want    verdict
		ok      bool
	}{
		"all move":  {[]seen{{7, s, 0, nobody, limit}, {7, s, 0, nobody, limit}}, verdict{}, false},
		"one waits": {[]seen{{7, 5 * s, 0, 1, limit}, {7, 5 * s, 0, nobody, limit}}, verdict{}, false},
		"stopped, the other waits": {[]seen{{7, 9 * s, 0, 1, limit}, {7, 9 * s, 9 * s, nobody, limit}},
			verdict{1, dead, 9 * s}, true},
		"stopped while the other is overdue": {
			[]seen{{7, 20 * s, 0, 1, limit}, {7, 20 * s, 20 * s, nobody, limit}},
			verdict{1, dead, 20 * s}, true},
		"alone and stopped": {[]seen{{0, 9 * s, 9 * s, nobody, 0}}, verdict{0, dead, 9 * s}, true},
		"alone and stuck":   {[]seen{{3, 10 * s, 0, nobody, limit}}, verdict{0, stuck, 10 * s}, true},
		"no limit":          {[]seen{{3, time.Hour, 0, nobody, 0}}, verdict{}, false},
		"stuck, two wait for it": {
			[]seen{{7, 12 * s, 0, 2, limit}, {7, 13 * s, 0, 0, limit}, {7, 11 * s, 0, nobody, limit}},
			verdict{2, stuck, 11 * s}, true},
		"slow, within its own limit": {
			[]seen{{7, 12 * s, 0, 1, limit}, {7, 12 * s, 0, nobody, 60 * s}}, verdict{}, false},
		"a wait on a worker that is done": {
			[]seen{{7, 10 * s, 0, 1, limit}, {9, time.Hour, time.Hour, ended, limit}},
			verdict{0, stuck, 10 * s}, true},
		"a circle: the one behind": {
			[]seen{{8, 10 * s, 0, 1, limit}, {8, 10 * s, 0, 2, limit}, {7, 11 * s, 0, 0, limit}},
			verdict{2, stuck, 11 * s}, true},
		"a circle that moves": {
			[]seen{{8, 10 * s, 0, 1, limit}, {8, s, 0, 0, limit}}, verdict{}, false},
		"a server waits for the push of a worker that is stuck": {
			[]seen{{7, 12 * s, 0, 2, limit}, {7, 13 * s, 0, nobody, limit}, {7, 11 * s, 0, 1, limit}},
			verdict{1, stuck, 13 * s}, true},
		"an idle server is not stuck": {
			[]seen{{7, 12 * s, 0, nobody, 60 * s}, {6, time.Hour, 0, nobody, 0}}, verdict{}, false},
		"a server that does not answer": {
			[]seen{{7, 12 * s, 0, 1, limit}, {7, 13 * s, 0, nobody, limit}}, verdict{1, stuck, 13 * s}, true},
		"a wait for a rank that does not exist": {[]seen{{8, 10 * s, 0, 5, limit}},
			verdict{0, stuck, 10 * s}, true},
		"the launcher's own pause does not count": {
			[]seen{{7, 7 * s, 7 * s, nobody, limit}, {7, 7 * s, 7 * s, nobody, limit}}, verdict{}, false},
		"not begun": {[]seen{{0, time.Hour, time.Hour, ended, 0}}, verdict{}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			const now = 2 * time.Hour
			workers := make([]vitals, len(test.workers))
			for i, w := range test.workers {
				workers[i] = vitals{isWatched: w.waitsFor != ended, heard: now - w.heard,
					moved: now - w.moved, beat: Progress{Step: w.step, Limit: w.limit.Seconds()}}
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

// A silent process that has work and no core is given the time in which it starved, up to a limit.
func TestStarvedProcessMayBeSilent(t *testing.T) {
	const s = time.Second
	for name, c := range map[string]struct {
		lost float64       // of each second
		dead time.Duration // silence at which it counts as dead
	}{
		"waits for nothing":      {0, defaultSilence},
		"has a quarter":          {0.75, 4 * (defaultSilence - 3*noticedAfter/4)},
		"has none":               {1, defaultSilence + maxStarved},
		"several of its threads": {4, defaultSilence + maxStarved},
	} {
		t.Run(name, func(t *testing.T) {
			var all supervisor
			all.SilenceTimeout = defaultSilence
			all.fleet.localFleet = &localFleet{commands: []*exec.Cmd{{Process: &os.Process{Pid: 100}},
				{Process: &os.Process{Pid: 101}}}}
			all.vitals = []vitals{{isWatched: true}, {isWatched: true}}
			all.Starving = func(pid int) func() time.Duration {
				if pid != 101 {
					t.Errorf("process %d was looked at, which is heard", pid)
				}
				began := all.now()
				return func() time.Duration { return time.Duration(c.lost * float64(all.now()-began)) }
			}
			var v verdict
			for isFound := false; !isFound && all.now() < 2*time.Minute; v, isFound = examine(all.vitals,
				all.now(), all.SilenceTimeout) {
				all.looks++
				all.vitals[0].heard = all.now()
				all.lookForCores()
			}
			if v.rank != 1 || v.kind != dead || v.time < c.dead || v.time > c.dead+s {
				t.Errorf("%+v; want rank 1 dead after %v", v, c.dead)
			}
			all.vitals[1].hear(all.now(), Progress{})
			if all.lookForCores(); all.vitals[1].starved != 0 {
				t.Errorf("it is heard again, and %v of silence are still granted", all.vitals[1].starved)
			}
		})
	}
}

// A packet between hosts may be lost many times, also the last one of a worker that is done.
func TestLinksBetweenHostsGetTime(t *testing.T) {
	for _, isDone := range []bool{false, true} {
		workers := []vitals{
			{isWatched: true, host: "a", heard: time.Hour, moved: time.Hour - linkPatience,
				beat: Progress{Limit: 9, Wait: &Wait{Rank: 1}}},
			{isWatched: !isDone, host: "b", heard: time.Hour, moved: time.Hour - linkPatience,
				beat: Progress{Limit: 9, Wait: &Wait{Rank: 0}}}}
		if v, ok := examine(workers, time.Hour, 5*time.Second); ok {
			t.Errorf("done: %v, after %v: %+v", isDone, linkPatience, v)
		}
		workers[0].moved -= lookEvery
		workers[1].moved -= lookEvery
		if v, ok := examine(workers, time.Hour, 5*time.Second); !ok || v.kind != stuck {
			t.Errorf("done: %v, later: %+v, %v", isDone, v, ok)
		}
	}
}

// A beat counts as a move if anything of the work has changed, and only then.
func TestOnlyWorkIsAMove(t *testing.T) {
	v := vitals{isWatched: true}
	v.hear(1, Progress{Phase: "forward", Moves: 1})
	for now, p := range map[time.Duration]Progress{
		2: {Phase: "forward", Moves: 1, Seconds: 3, Loss: 2},
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

// A worker that is a goroutine is found when it does not get on; what it reports takes no part in that.
func TestWatchNamesTheStuckGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reports := 0
		began := time.Now()
		e := Watch(t.Context(), 3, 0, func(rank int) (Progress, bool) {
			p := Progress{Phase: "sync_exposed", Step: 8, Limit: 9, Wait: &Wait{Rank: 1, What: "bucket 0"}}
			if rank == 1 {
				p = Progress{Phase: "forward", Step: 7, Limit: 9}
			}
			return p, rank < 2
		}, func(int, Progress) { reports++ })
		if took := time.Since(began); took < 9*time.Second || took > 10*time.Second {
			t.Errorf("after %v", took)
		}
		if e == nil || e.Rank != 1 || e.Step != 7 || e.Phase != "forward" || e.PID != os.Getpid() ||
			e.Stuck < 9*time.Second || len(e.Accounts) != 1 || reports < 3*90 {
			t.Errorf("%d reports, %+v", reports, e)
		}
	})
}

// A terminal that takes nothing for a minute holds up the workers that report to it. None is to blame, not
// even while it shows again what it was held up with.
func TestWatchWaitsWithTheTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		defer cancel()
		began := time.Now()
		last := Progress{}
		e := Watch(ctx, 1, 0, func(int) (Progress, bool) {
			moves := uint64(1)
			if since := time.Since(began); since > 62*time.Second {
				moves = uint64(since / time.Second)
			}
			return Progress{Phase: "evaluation", Limit: 9, Moves: moves}, true
		}, func(_ int, p Progress) {
			if last = p; time.Since(began) < time.Minute {
				time.Sleep(time.Minute)
			}
		})
		if e != nil || last.Moves < 170 {
			t.Errorf("%v; the last report %+v", e, last)
		}
	})
}
