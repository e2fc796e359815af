package train

import (
	"fmt"
	"math"
	"time"

	"lockstep/trace"
)

// deadline ends a run whose length is a time after the same step on all workers, though they do not
// exchange anything in most steps. After some steps rank 0 tells the others how many more steps there
// will be, if it will not tell so again before the last one.
type deadline struct {
	word   []float32 // 1 + the number of further steps, if rank 0 knows it
	isAway bool
	sent   int // the step after which the word was sent
	steps  int // length of the run; 0: not known yet

	// Training time and steps when rank 0 last spoke, by which it judges how long a step takes.
	spokeAt    time.Duration
	spokeSteps int
}

// announce tells or learns after a step when the run ends.
func (u *Outer) announce() error {
	l, e := u.loop, &u.end
	if l.config.For == 0 {
		return nil
	}
	if e.isAway && e.sent+u.config.Overlap == l.step {
		if err := u.learn(); err != nil {
			return err
		}
	}
	if e.steps == 0 && !e.isAway && u.tells(l.step) {
		e.word[0], e.isAway, e.sent = 0, true, l.step
		if l.config.Rank == 0 {
			e.word[0] = u.further()
		}
		u.sync.Start(len(u.parts)+1, e.word)
		if u.config.Overlap == 0 {
			if err := u.learn(); err != nil {
				return err
			}
		}
	}
	l.isOver = e.steps > 0 && l.step+1 >= e.steps
	return nil
}

// learn waits for rank 0's word.
func (u *Outer) learn() error {
	e := &u.end
	if err := u.sync.Wait(len(u.parts) + 1); err != nil {
		return fmt.Errorf("exchange of the run's length: %w", err)
	}
	u.loop.lap(trace.SyncExposed, "average")
	if e.isAway = false; e.word[0] > 0 {
		e.steps = e.sent + int(e.word[0])
	}
	return nil
}

// tells reports whether rank 0 speaks after a step, if no word is on its way: after each round, and at
// growing intervals in the first round of an epoch.
func (u *Outer) tells(step int) bool {
	perEpoch := u.loop.config.stepsPerEpoch()
	n := step%perEpoch + 1
	return n&(n-1) == 0 || n%u.config.Every == 0 || n == perEpoch
}

// further returns rank 0's word after this step: 1 + the number of further steps, or 0 if it can tell
// so later. The last step is the first one that is expected to end after the time.
func (u *Outer) further() float32 {
	l, e, overlap := u.loop, &u.end, u.config.Overlap
	spent, steps := l.trained(), len(l.done.StepTimes)+1
	mean := float64(spent-max(e.spokeAt, l.before)) / float64(steps-e.spokeSteps)
	e.spokeAt, e.spokeSteps = spent, steps
	further := max(0, math.Ceil(float64(l.config.For-spent)/mean))
	next := l.step + max(1, overlap) // when rank 0 speaks again
	for !u.tells(next) {
		next++
	}
	if further > float64(next+overlap-l.step) {
		return 0
	}
	return float32(1 + max(further, float64(overlap)))
}
