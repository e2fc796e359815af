package train

import "fmt"

// DivergedError reports that a value is no longer finite, so that training cannot continue.
type DivergedError struct {
	Rank, Step int
	// What is the value: the loss of the step's batch, the test loss after it, or a parameter.
	What string
	// Value is NaN or infinite.
	Value float64
}

// Error names rank and step, and the usual remedy.
func (e *DivergedError) Error() string {
	return fmt.Sprintf("train: rank %d, step %d: %s is %v: diverged; a lower learning rate or a "+
		"longer warm-up may help", e.Rank, e.Step, e.What, e.Value)
}
