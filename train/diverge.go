package train

import "fmt"

// DivergedError reports that a value is no longer finite, so that training cannot continue.
type DivergedError struct {
	Rank, Step int // the step is counted from 0, as in Step.Number; Error counts from 1
	// What is the value: the loss of the step's batch, the test loss after it, or a parameter.
	What string
	// Value is NaN or infinite.
	Value float64
	// IsStart says that no step was made, so that it is the weights it began with.
	IsStart bool
}

// Error names rank and step, and the usual remedy.
func (e *DivergedError) Error() string {
	if e.IsStart {
		return fmt.Sprintf("train: rank %d: %s is %v before any step: the weights have or lead to values "+
			"that are not finite; math exact is the last to overflow", e.Rank, e.What, e.Value)
	}
	return fmt.Sprintf("train: rank %d, step %d: %s is %v: diverged; a lower learning rate or a "+
		"longer warm-up may help", e.Rank, e.Step+1, e.What, e.Value)
}
