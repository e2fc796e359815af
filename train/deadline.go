package train

import (
	"fmt"
	"math"
	"time"

	"lockstep/trace"
)

// deadline ends a run whose length is a time, or which is cancelled, after the same step on all workers,
// though they do not exchange anything in most steps. After some steps rank 0 tells the others how many
// more steps there will be, if it will not tell so again before the last one.
type deadline struct {
	word   []float32 // 1 + the number of further steps, if rank 0 knows it, or stopWord
	isAway bool
	isDue  bool // the next word goes as soon as this one has arrived
	sent   int  // the step after which the word was sent
	steps  int  // length of the run; 0: not known yet
	stops  bool // the run ends after the next step at which it can be saved

	// Training time and steps when rank 0 last spoke, by which it judges how long a step takes.
	spokeAt    time.Duration
	spokeSteps int
}

// stopWord is rank 0's word if it was cancelled.
const stopWord = -1

// announce tells or learns after a step when the run ends.
func (u *Outer) announce() error {
	l, e := u.loop, &u.end
	if l.config.For == 0 && !l.config.StopsTogether {
		return nil
	}
	if e.isAway && e.sent+u.config.Overlap == l.step {
		if err := u.learn(); err != nil {
			return err
		}
	}
	e.isDue = e.isDue || u.tells(l.step)
	isInTime := l.step+u.config.Overlap < l.config.steps()
	if e.steps == 0 && !e.stops && !e.isAway && isInTime && e.isDue {
		e.word[0], e.isAway, e.isDue, e.sent = 0, true, false, l.step
		if l.config.Rank == 0 {
			e.word[0] = u.say()
		}
		u.sync.Start(len(u.parts)+1, e.word)
		if u.config.Overlap == 0 {
			if err := u.learn(); err != nil {
				return err
			}
		}
	}
	l.isOver = e.steps > 0 && l.step+1 >= e.steps
	l.isAsked = e.stops && u.canSave(l.step)
	return nil
}

// learn waits for rank 0's word.
func (u *Outer) learn() error {
	e := &u.end
	if err := u.sync.Wait(len(u.parts) + 1); err != nil {
		return fmt.Errorf("exchange of the run's length: %w", err)
	}
	u.loop.lap(trace.SyncExposed, "average")
	e.isAway = false
	switch word := e.word[0]; {
	case word == stopWord:
		e.stops = true
	case word > 0:
		e.steps = e.sent + int(word)
	}
	return nil
}

// tells reports whether rank 0 speaks after a step, if no word is on its way: after each round, and for a
// length in time also at growing intervals.
func (u *Outer) tells(step int) bool {
	n := step%u.loop.config.stepsPerEpoch() + 1
	return u.meets(step) || u.loop.config.For > 0 && n&(n-1) == 0
}

// meets reports whether all workers come together after a step. One that is alone always does.
func (u *Outer) meets(step int) bool {
	c := u.loop.config
	return c.Plan.Workers() == 1 || u.config.IsMeeting(step+1, c.stepsPerEpoch())
}

// canSave reports whether a run can be saved after a step: always if Own has the workers' weights.
func (u *Outer) canSave(step int) bool { return u.ownsWeights() || u.meets(step) }

// say returns rank 0's word after this step.
func (u *Outer) say() float32 {
	switch c := u.loop.config; {
	case c.StopsTogether && u.loop.ctx.Err() != nil:
		return stopWord
	case c.For > 0:
		return u.further()
	}
	return 0
}

// further returns rank 0's word after this step: 1 + the number of further steps, or 0 if it can tell
// so later. The last step is the first one that is expected to end after the time.
func (u *Outer) further() float32 {
	l, e, overlap := u.loop, &u.end, u.config.Overlap
	spent, steps := l.trained(), len(l.done.StepTimes)+1
	mean := float64(spent-max(e.spokeAt, l.before)) / float64(steps-e.spokeSteps)
	e.spokeAt, e.spokeSteps = spent, steps
	further := max(0, math.Ceil(float64(l.config.For-spent)/mean))
	next := l.step + 1
	for !u.tells(next) {
		next++
	}
	next = max(next, l.step+overlap) // when rank 0 speaks again
	if further > float64(next+overlap-l.step) {
		return 0
	}
	return float32(1 + max(further, float64(overlap)))
}
