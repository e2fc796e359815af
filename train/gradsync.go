package train

import "fmt"

// GradSync turns this worker's partial gradients into the global ones.
//
// All methods are called from the training goroutine, in every step in the order Begin, Share,
// Ready for each parameter, Wait. It works on the loop's memory: Loop.Pieces holds the gradients.
type GradSync interface {
	// Begin starts the exchange of a step.
	Begin(step int)
	// Share hands over the shard rows, of which this worker's own are filled. Called once per
	// step, before the first Ready. After Wait all V rows are filled; until then rows is not
	// touched by the loop.
	Share(rows Rows)
	// Ready says that this parameter's gradient is final in all pieces. Called once per step and
	// parameter, in Loop.Order.
	Ready(param int)
	// Wait blocks until all rows are filled and piece 0 holds the global sum of all gradients, which with
	// Loop.UpdateLate is left to its Summer.
	// After an error the run cannot go on.
	Wait() error
	// Sum replaces counts by the elementwise sum over all workers, wrapping around; it blocks.
	Sum(counts []int64) error
	// Close ends the exchange. The loop does not call it: whoever made the GradSync does.
	Close() error
}

// Rows holds one row per virtual shard, one after another: loss sum, correct, samples, hash of
// the samples, then the shard's batch statistics.
type Rows = []float32

// Local is the GradSync of a worker that exchanges nothing, because it is the only one or
// isolated. Its piece is the sum already.
type Local struct{}

// Begin does nothing.
func (Local) Begin(int) {}

// Share does nothing: the rows are those of this worker.
func (Local) Share(Rows) {}

// Ready does nothing.
func (Local) Ready(int) {}

// Wait returns nil.
func (Local) Wait() error { return nil }

// Sum leaves counts as they are.
func (Local) Sum([]int64) error { return nil }

// Close returns nil.
func (Local) Close() error { return nil }

// DivergedError says that a number of the run is no longer finite, so that going on is pointless.
type DivergedError struct {
	Rank, Step int
	// What is the number: the loss of the step's batch, the test loss after it, or a parameter.
	What string
	// Value is NaN or infinite.
	Value float64
}

// Error names rank and step, and what usually helps.
func (e *DivergedError) Error() string {
	return fmt.Sprintf("train: rank %d, step %d: %s is %v: diverged; a lower learning rate or a "+
		"longer warm-up may help", e.Rank, e.Step, e.What, e.Value)
}
