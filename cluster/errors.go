package cluster

import (
	"fmt"
	"strings"
	"time"
)

// RendezvousError says that the workers of a run could not meet.
type RendezvousError struct {
	Op   string // listen, join, admit
	Addr string // host:port of the rendezvous
	Err  error
}

// Error names the step and the address.
func (e *RendezvousError) Error() string {
	return fmt.Sprintf("rendezvous: %s %s: %v", e.Op, e.Addr, e.Err)
}

// Unwrap returns the cause.
func (e *RendezvousError) Unwrap() error { return e.Err }

// EnvironmentError says which environment variables are missing, malformed or in conflict.
type EnvironmentError struct {
	Text string
}

// Error names the variables.
func (e *EnvironmentError) Error() string { return "environment: " + e.Text }

// WorkerError says which worker ended a run, where it was, and how it ended. Step and Phase are
// the last it reported, at most a moment old.
type WorkerError struct {
	Rank     int
	PID      int
	Host     string
	Step     int           // finished steps
	Phase    string        // "" before the first report
	Signal   string        // name of the signal that ended the process, else ""
	Status   int           // exit status, of the report if there is one, else of the process
	Silence  time.Duration // for how long the process, which still runs, has not reported
	Reported bool          // the worker itself said what was wrong
	Text     string        // its report, or the telling line of its output
	Log      string        // path of its output; "" if it says no more than Text
}

// Error is one line: who, how, where, why, and where to read on.
func (e *WorkerError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "rank %d (pid %d on %s)", e.Rank, e.PID, e.Host)
	switch {
	case e.Reported:
		b.WriteString(" failed")
	case e.Silence > 0:
		fmt.Fprintf(&b, " was silent for %v, stopped or stuck,", e.Silence)
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
	if e.Log != "" {
		fmt.Fprintf(&b, " (its output: %s)", e.Log)
	}
	return b.String()
}
