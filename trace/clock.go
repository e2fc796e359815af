package trace

import "time"

// Phase is an activity of a rank's training goroutine.
type Phase uint8

// The phases, in the order in which a step passes through them.
const (
	// Data waits for the loader and copies a batch.
	Data Phase = iota
	// Forward computes losses.
	Forward
	// Backward computes gradients and merges this rank's own shards.
	Backward
	// SyncExposed is exposed communication: training hands gradients to the exchange and waits for
	// it.
	SyncExposed
	// Optimizer updates the weights and the running statistics.
	Optimizer
	// Evaluation measures accuracy on the test set.
	Evaluation
	// Other is everything else: bookkeeping and the listeners of the loop.
	Other
	// NumPhases is the number of phases.
	NumPhases
)

var phaseNames = [NumPhases]string{
	"data", "forward", "backward", "sync_exposed", "optimizer", "evaluation", "other",
}

// String returns the phase's name in results, such as "sync_exposed".
func (p Phase) String() string { return phaseNames[p] }

// Phases holds the time spent in each phase.
type Phases [NumPhases]time.Duration

// Total returns the sum over all phases.
func (p Phases) Total() time.Duration {
	var total time.Duration
	for _, d := range p {
		total += d
	}
	return total
}

// Minus returns p - q, phase by phase: the time between two readings of a Clock.
func (p Phases) Minus(q Phases) Phases {
	for i := range p {
		p[i] -= q[i]
	}
	return p
}

// Clock attributes time to phases, lap by lap. It belongs to one goroutine.
type Clock struct {
	last   time.Time
	phases Phases
}

// StartClock returns a clock that starts now.
func StartClock() *Clock { return &Clock{last: time.Now()} }

// Lap attributes the time since the previous lap, or since the start, to phase p, and returns the
// begin and end of that lap. It allocates nothing.
func (c *Clock) Lap(p Phase) (begin, end time.Time) {
	begin, end = c.last, time.Now()
	c.phases[p] += end.Sub(begin)
	c.last = end
	return begin, end
}

// Phases returns the times attributed so far. After a lap its Total is the time since the start.
func (c *Clock) Phases() Phases { return c.phases }
