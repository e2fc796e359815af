package agent

import (
	"errors"
	"fmt"
)

// HostError says what is wrong with a host.
type HostError struct {
	Host string // as the user wrote it
	Text string // what is wrong, and what to do
	Err  error  // cause, or nil
	// IsLost says that the host was connected before. Else it could not be.
	IsLost bool
	IsFull bool // its disk has no room
}

// Error names the host.
func (e *HostError) Error() string {
	if e.IsLost {
		return fmt.Sprintf("host %s is lost: %s", e.Host, e.Text)
	}
	if e.Err == nil {
		return fmt.Sprintf("host %s: %s", e.Host, e.Text)
	}
	return fmt.Sprintf("host %s: %s: %v", e.Host, e.Text, e.Err)
}

// Unwrap returns the cause.
func (e *HostError) Unwrap() error { return e.Err }

// HostsError reports a list of hosts that cannot be read.
type HostsError struct {
	Where string // flag, or file and line
	Text  string
}

// Error names the place.
func (e *HostsError) Error() string { return e.Where + ": " + e.Text }

// AskError is the error with which the agent of a host has answered.
type AskError struct {
	Host, Name string // of the ask
	Text       string
	Status     int // exit status of the kind of error
}

// Error names the host.
func (e *AskError) Error() string { return fmt.Sprintf("host %s: %s", e.Host, e.Text) }

// errSilent is the cause of the end of a connection that is open, but over which nothing comes.
var errSilent = errors.New("heard nothing for 10 s")

// errUnheard is that of the agent, which a console reads that goes on after it was stopped.
var errUnheard = errors.New("it has heard nothing from this console for 10 s, as when lockstep launch is " +
	"stopped (kill -STOP) or its machine sleeps, and has ended the job; Ctrl-Z would have told it before")

// errChatter says why what a host prints is not read on.
var errChatter = errors.New("the shell of the user prints too much before it runs a command; see its .bashrc")
