package trace

import "time"

// Phase is what a rank's training goroutine is doing.
type Phase uint8

// The phases, in the order in which a step passes through them.
const (
	// Data waits for the loader and copies a batch in.
	Data Phase = iota
	// Forward computes losses.
	Forward
	// Backward computes gradients, including the merge of this rank's own shards.
	Backward
	// SyncExposed hands gradients to the exchange and waits for it: the part of communication
	// that computing did not hide.
	SyncExposed
	// Optimizer updates the weights and the running statistics.
	Optimizer
	// Evaluation measures accuracy on the test set.
	Evaluation
	// Other is everything else: bookkeeping and whoever listens to the loop.
	Other
	// NumPhases counts the phases.
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

// Minus returns p - q, phase by phase: what passed between two readings of a Clock.
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

// Lap attributes the time since the previous lap, or since the start, to phase p and returns when
// that lap began and ended. It allocates nothing.
func (c *Clock) Lap(p Phase) (begin, end time.Time) {
	begin, end = c.last, time.Now()
	c.phases[p] += end.Sub(begin)
	c.last = end
	return begin, end
}

// Phases returns what has been attributed so far. After a lap its Total is exactly the time since
// the start.
func (c *Clock) Phases() Phases { return c.phases }
