package lab

import "fmt"

// MissingError names an operation of the lab that this machine does not permit or support.
type MissingError struct {
	What string // such as "create a network namespace"
	Hint string // what to do about it
	Err  error
}

// Error names the operation, the reason and the remedy.
func (e *MissingError) Error() string {
	return fmt.Sprintf("lab: cannot %s: %v; %s", e.What, e.Err, e.Hint)
}

// Unwrap returns the reason.
func (e *MissingError) Unwrap() error { return e.Err }

// ExitError is the error of a command that ended with a status other than 0. The command has printed why.
type ExitError struct {
	Status int // as a shell counts: 128 and the signal if one has ended it
}

// Error names the status.
func (e *ExitError) Error() string {
	return fmt.Sprintf("lab: the command ended with status %d", e.Status)
}
