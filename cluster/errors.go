package cluster

import (
	"fmt"
	"strings"
	"time"
)

// RendezvousError reports that the workers of a run could not connect.
type RendezvousError struct {
	Op   string // listen on, join, link
	Addr string // host:port of the rendezvous, or the peer
	Err  error
}

// Error names the step and the address.
func (e *RendezvousError) Error() string {
	return fmt.Sprintf("rendezvous: %s %s: %v", e.Op, e.Addr, e.Err)
}

// Unwrap returns the cause.
func (e *RendezvousError) Unwrap() error { return e.Err }

// EnvironmentError reports environment variables that are missing, malformed or in conflict.
type EnvironmentError struct {
	Text string
}

// Error names the variables.
func (e *EnvironmentError) Error() string { return "environment: " + e.Text }

// WorkerError says which worker or server ended a run, where it was and how it ended. Step and Phase
// are from its last report.
type WorkerError struct {
	Rank     int
	Role     string // of a server, such as "server 1"; "" for a worker
	PID      int
	Host     string
	Step     int           // finished steps
	Phase    string        // "" before the first report
	Signal   string        // name of the signal that ended the process, else ""
	Status   int           // exit status, of the report if there is one, else of the process
	Silence  time.Duration // dead: how long the process, which still runs, has sent no beat; else 0
	State    string        // of a silent process, such as "stopped by a signal"; "" if unknown
	Stuck    time.Duration // how long it has sent beats without progress; else 0
	Late     time.Duration // how long ago it was asked to end, or 0
	IsLost   bool          // reported by another worker, and nothing else is known
	Cause    string        // a likely cause outside the program, or "" if unknown
	Reported bool          // the worker itself reported the error
	Text     string        // its report, or the most informative line of its output
	Log      string        // path of its output, or "" if Text has all of it
	Accounts []string      // what the other workers report about it
}

// Error returns one line: which worker, how, where and why it ended, and where its output is.
func (e *WorkerError) Error() string {
	var b strings.Builder
	if e.Role != "" {
		fmt.Fprintf(&b, "%s (rank %d, pid %d on %s)", e.Role, e.Rank, e.PID, e.Host)
	} else {
		fmt.Fprintf(&b, "rank %d (pid %d on %s)", e.Rank, e.PID, e.Host)
	}
	switch {
	case e.Reported:
		b.WriteString(" failed")
	case e.Silence > 0 && e.State != "":
		fmt.Fprintf(&b, " is %s and has given no sign of life for %v", e.State, e.Silence)
	case e.Silence > 0:
		fmt.Fprintf(&b, " has given no sign of life for %v", e.Silence)
	case e.Stuck > 0:
		fmt.Fprintf(&b, " is stuck: it has not got on for %v", e.Stuck)
	case e.Late > 0:
		fmt.Fprintf(&b, " did not end within %v", e.Late)
	case e.IsLost:
		b.WriteString(" was lost")
	case e.Signal != "":
		fmt.Fprintf(&b, " was killed by signal %s", e.Signal)
	default:
		fmt.Fprintf(&b, " ended with status %d", e.Status)
	}
	if e.Phase != "" {
		fmt.Fprintf(&b, " after step %d, phase %s", e.Step, e.Phase)
	} else {
		b.WriteString(" before its first report")
	}
	if e.Text != "" {
		fmt.Fprintf(&b, ": %s", e.Text)
	}
	if e.Cause != "" {
		fmt.Fprintf(&b, "; likely cause: %s", e.Cause)
	}
	if e.Log != "" {
		fmt.Fprintf(&b, " (its output: %s)", e.Log)
	}
	for _, account := range e.Accounts {
		fmt.Fprintf(&b, "; %s", account)
	}
	return b.String()
}

// LimitError reports that the machine allows no process for a worker.
type LimitError struct {
	Name  string // of the rank, see Name
	Limit string // which limit is reached, and where it is set if that is known
	Err   error
}

// Error names the rank and the limit.
func (e *LimitError) Error() string {
	return fmt.Sprintf("start %s: %v; %s", e.Name, e.Err, e.Limit)
}

// Unwrap returns the system's error.
func (e *LimitError) Unwrap() error { return e.Err }

// StopError reports that a run ended because it was asked to.
type StopError struct {
	// Err is the error of the context that was cancelled.
	Err error
	// Step is the largest number of steps that a worker finished.
	Step int
	// Killed is the first worker that did not end by itself and was killed, or nil.
	Killed *WorkerError
}

// Error names the worker that had to be killed.
func (e *StopError) Error() string {
	if e.Killed == nil {
		return e.Err.Error()
	}
	return fmt.Sprintf("%v; killed, because it did not stop: %v", e.Err, e.Killed)
}

// Unwrap returns the context's error.
func (e *StopError) Unwrap() error { return e.Err }
