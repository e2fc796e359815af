package cluster

import (
	"context"
	"fmt"
	"os"
	"time"
)

// Note: dead and stuck
//
// Each worker sends ten beats a second, from a goroutine that is independent of training. A beat
// carries a count that grows with progress (Progress.Moves), how long this phase may go without
// progress (Progress.Limit), and the rank that a collective waits for, if any (Progress.Wait). A
// worker without beats is dead: its process is stopped or its machine is gone. A worker that sends
// beats but makes no progress within its limit is stuck, unless it waits for another worker. Then
// that worker is examined, and so on; the culprit is the one that waits for nobody. If all wait in
// a circle, the links between them are at fault, and the rank that is furthest behind is named.
//
// A worker on another host than the launcher sends its beats twice, see Note: pulses. One whose beats
// come but that hears nothing is as good as dead. Links between hosts may need seconds to get a lost
// packet across, so workers that wait for each other there are given linkPatience.
//
// A process that has work and no core, as on a machine whose cores others use, may be unable to send a beat:
// in assembly its threads cannot be interrupted, and a pause of all for the garbage collector waits for each.
// The time in which it starved, which the system tells of processes on this host, does not count as silence.
//
// Time is counted in checks, so that the time in which the launcher itself was stopped does not
// count.
const (
	beatEvery = 100 * time.Millisecond
	lookEvery = 250 * time.Millisecond
	// StuckAfter is the least time without progress after which a training worker counts as stuck.
	StuckAfter = 9 * time.Second
	// linkPatience is the least time without progress after which a worker that waits for one on another
	// host counts as stuck. With 30 % loss and packets of 64 KiB a link stood still for 31 s once.
	linkPatience = time.Minute
	// patientSilence is the time without a beat after which a worker on another host counts as dead if
	// no datagrams come through. TCP alone had a gap of 23 s with 30 % loss.
	patientSilence = 30 * time.Second
	// noticedAfter is the silence from which on the launcher watches whether a process has a core, and
	// maxStarved the most time without one that it grants.
	noticedAfter = time.Second
	maxStarved   = time.Minute
	// defaultSilence is the time without a beat after which a worker counts as dead.
	defaultSilence = 5 * time.Second
)

// Wait is what a worker's collective waits for.
type Wait struct {
	Rank int    `json:"rank"`
	What string `json:"what"` // operation, bucket and bytes
}

// Beat calls report with the result of read at once, ten times a second until ctx ends, and once
// more then.
func Beat(ctx context.Context, read func() Progress, report func(Progress)) {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		report(read())
		select {
		case <-ctx.Done():
			report(read())
			return
		case <-tick.C:
		}
	}
}

// Watch supervises workers, and the servers whose ranks follow theirs, that are goroutines of this
// process, as Launch supervises processes, until ctx ends. Ten times a second it calls read, which
// returns the progress of a rank and whether it runs, and passes the progress to report. It returns
// an error about a rank that is stuck, or nil.
//
// Watch does not detect a signal that stops the process, which stops Watch too, nor a worker in
// assembly that never returns, once the Go runtime waits for it to collect garbage. While report
// blocks no time passes, so a worker that waits for the same terminal is not blamed.
func Watch(ctx context.Context, workers, servers int,
	read func(rank int) (p Progress, isRunning bool), report func(rank int, p Progress)) *WorkerError {
	all := make([]vitals, workers+servers)
	now := time.Duration(0) // counted in checks
	look := func() {
		for rank := range all {
			p, isRunning := read(rank)
			all[rank].isWatched = isRunning
			all[rank].hear(now, p)
			report(rank, p)
		}
	}
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for ; ; now += beatEvery {
		look()
		if v, ok := examine(all, now, defaultSilence); ok {
			e := &WorkerError{Rank: v.rank, Role: Role(v.rank, workers), PID: os.Getpid(),
				Step: all[v.rank].beat.Step, Phase: all[v.rank].beat.Phase, Wait: all[v.rank].beat.Wait,
				Stuck: v.time}
			for rank := range all {
				if text, ok := all[rank].account(Name(rank, workers), v.rank); ok {
					e.Accounts = append(e.Accounts, text)
				}
			}
			return e
		}
		select {
		case <-ctx.Done():
			look()
			return nil
		case <-tick.C:
		}
	}
}

// vitals is what the launcher knows of a worker, in the time of its checks.
type vitals struct {
	isWatched bool          // it has started and has sent nothing final
	heard     time.Duration // time of its last beat
	moved     time.Duration // time of the last beat with progress
	beat      Progress
	deaf      time.Duration        // how long it has heard nothing from the launcher, by its own account
	patience  time.Duration        // least time without a beat after which it counts as dead
	lost      func() time.Duration // what Starving tells of its silence; nil: it is heard, or not watched so
	starved   time.Duration        // of its silence it had so much work and no core
	host      string
	// isElsewhere says that the worker is on another host than the launcher.
	isElsewhere bool
}

// hear records a beat and reports whether it is newer than the one before: beats of workers on other
// hosts come on two ways.
func (v *vitals) hear(now time.Duration, p Progress) (isNew bool) {
	if p.Number != 0 && p.Number <= v.beat.Number {
		return false
	}
	if p.Moves != v.beat.Moves || p.Step != v.beat.Step || p.Phase != v.beat.Phase {
		v.moved = now
	}
	v.heard, v.beat = now, p
	return true
}

// isOverdue reports whether beats of a rank have come for longer than the limit without progress.
func isOverdue(workers []vitals, rank int) bool {
	v := &workers[rank]
	limit := time.Duration(v.beat.Limit * float64(time.Second))
	// Also if the other is done: what it has sent may still be on its way.
	if w := v.beat.Wait; limit > 0 && w != nil && 0 <= w.Rank && w.Rank < len(workers) &&
		workers[w.Rank].host != v.host {
		limit = max(limit, linkPatience)
	}
	return v.isWatched && limit > 0 && v.heard-v.moved > limit
}

// waitsFor returns the worker, in those watched, that a rank waits for, or nil.
func waitsFor(workers []vitals, rank int) *vitals {
	wait := workers[rank].beat.Wait
	if wait == nil || wait.Rank < 0 || wait.Rank >= len(workers) || !workers[wait.Rank].isWatched {
		return nil
	}
	return &workers[wait.Rank]
}

// verdict is the culprit, and for how long it has been dead, deaf or stuck.
type verdict struct {
	rank int
	kind fault
	time time.Duration
}

// fault is what a verdict is about.
type fault int

const (
	stuck fault = iota
	dead
	deaf
)

// examine returns the verdict on workers at time now; ok is false if there is no culprit. Workers
// without a beat for longer than silence are dead.
func examine(workers []vitals, now, silence time.Duration) (v verdict, ok bool) {
	for rank := range workers {
		w := &workers[rank]
		quiet := now - w.heard
		if w.isWatched && quiet-w.starved > max(silence, w.patience) && quiet > v.time {
			v, ok = verdict{rank: rank, kind: dead, time: quiet}, true
		}
	}
	for rank := range workers {
		// A little earlier than the worker gives up by itself, so that its beats still say so.
		if w := &workers[rank]; !ok && w.isWatched && w.deaf > silence-2*lookEvery {
			v, ok = verdict{rank: rank, kind: deaf, time: w.deaf}, true
		}
	}
	if ok {
		return v, true
	}
	culprit := -1
	for rank := range workers {
		c, isFound := blame(workers, rank)
		if isFound && (culprit < 0 || isBehind(&workers[c], &workers[culprit])) {
			culprit = c
		}
	}
	if culprit < 0 {
		return verdict{}, false
	}
	return verdict{rank: culprit, time: workers[culprit].heard - workers[culprit].moved}, true
}

// blame follows the waits from an overdue worker to one that waits for nobody. There is no culprit
// while one of them makes progress.
func blame(workers []vitals, rank int) (culprit int, ok bool) {
	culprit = rank
	for range len(workers) {
		if !isOverdue(workers, rank) {
			return 0, false
		}
		if isBehind(&workers[rank], &workers[culprit]) {
			culprit = rank
		}
		if waitsFor(workers, rank) == nil {
			return rank, true
		}
		rank = workers[rank].beat.Wait.Rank
	}
	return culprit, true // they wait in a circle
}

// isBehind reports whether a has finished fewer steps than b.
func isBehind(a, b *vitals) bool { return a.beat.Step < b.beat.Step }

// account says what v, which is called own, waits for, if that is rank.
func (v *vitals) account(own string, rank int) (text string, ok bool) {
	if w := v.beat.Wait; v.isWatched && w != nil && w.Rank == rank {
		return fmt.Sprintf("%s waits for it in %s", own, w.What), true
	}
	return "", false
}
