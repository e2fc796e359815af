package lab

import "fmt"

// missing says what this machine does not permit or support, and what to do about it.
func missing(what string, err error, hint string) error {
	return fmt.Errorf("lab: cannot %s: %w; %s", what, err, hint)
}

// ExitError is the error of a command that ended with a status other than 0. The command has printed why.
type ExitError struct {
	Status int // as a shell counts: 128 and the signal if one has ended it
}

// Error names the status.
func (e *ExitError) Error() string {
	return fmt.Sprintf("lab: the command ended with status %d", e.Status)
}
