package cluster

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"lockstep/internal/spelling"
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

// WorkerError says which worker or server ended a run, where it was and how it ended. Step, Phase and
// Wait are from its last report. Every other worker receives it, as JSON (see VerdictError).
type WorkerError struct {
	Rank     int           `json:"rank"`
	Role     string        `json:"role,omitempty"` // of a server, such as "server 1"; "" for a worker
	PID      int           `json:"pid"`
	Host     string        `json:"host"`
	Step     int           `json:"step"`               // finished steps
	Phase    string        `json:"phase"`              // "" before the first report
	Wait     *Wait         `json:"wait,omitempty"`     // what it waited for itself, or nil
	Signal   string        `json:"signal,omitempty"`   // name of the signal that ended the process, else ""
	Status   int           `json:"status,omitempty"`   // exit status: that of the report, else the process's
	Silence  time.Duration `json:"silence,omitempty"`  // dead: how long it has sent no beat; else 0
	State    string        `json:"state,omitempty"`    // of a silent one: "stopped by a signal", ""
	Deaf     time.Duration `json:"deaf,omitempty"`     // how long it, though heard, has heard nothing; else 0
	Stuck    time.Duration `json:"stuck,omitempty"`    // how long it has beaten without progress; else 0
	Function string        `json:"function,omitempty"` // of a stuck one: where it is; "" if unknown
	Late     time.Duration `json:"late,omitempty"`     // how long ago it was asked to end, or 0
	IsLost   bool          `json:"lost,omitempty"`     // reported by another worker, and no more is known
	Cause    string        `json:"cause,omitempty"`    // likely one outside the program, or "" if unknown
	Reported bool          `json:"reported,omitempty"` // the worker itself reported the error
	Text     string        `json:"text,omitempty"`     // its report, or the most informative line of its log
	Log      string        `json:"log,omitempty"`      // path of its output, or "" if Text has all of it
	Accounts []string      `json:"accounts,omitempty"` // what the other workers report about it
}

// maxAccounts is how many of the other workers' reports an error prints: they mostly say the same.
const maxAccounts = 3

// Error returns one line: which worker, how, where and why it ended, and where its output is.
func (e *WorkerError) Error() string {
	var b strings.Builder
	place := "on " + e.Host
	if e.PID > 0 { // else it is on another host, and has neither joined nor ended
		place = fmt.Sprintf("pid %d %s", e.PID, place)
	}
	if e.Role != "" {
		place = fmt.Sprintf("%s (rank %d, %s)", e.Role, e.Rank, place)
	} else {
		place = fmt.Sprintf("rank %d (%s)", e.Rank, place)
	}
	b.WriteString(place + e.how())
	b.WriteString(cmp.Or(doing(e.Step, e.Phase, e.Wait), " before its first report"))
	if e.Function != "" {
		fmt.Fprintf(&b, ", in %s", e.Function)
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
	for _, account := range e.Accounts[:min(maxAccounts, len(e.Accounts))] {
		fmt.Fprintf(&b, "; %s", account)
	}
	if more := len(e.Accounts) - maxAccounts; more > 0 {
		fmt.Fprintf(&b, "; %s noticed it too", spelling.Count(more, "other"))
	}
	return b.String()
}

// how says how the worker ended.
func (e *WorkerError) how() string {
	switch {
	case e.Reported:
		return " failed"
	case e.Silence > 0 && e.State != "":
		return fmt.Sprintf(" is %s and has given no sign of life for %v", e.State, e.Silence)
	case e.Silence > 0:
		return fmt.Sprintf(" has given no sign of life for %v", e.Silence)
	case e.Deaf > 0:
		return fmt.Sprintf(" is heard but has heard nothing from the launcher for %v: its link is cut in "+
			"one direction", e.Deaf)
	case e.Stuck > 0:
		return fmt.Sprintf(" is stuck: it has not got on for %v", e.Stuck)
	case e.Late > 0:
		return fmt.Sprintf(" did not end within %v", e.Late)
	case e.IsLost:
		return " was lost"
	case e.Signal != "":
		return fmt.Sprintf(" was killed by signal %s", e.Signal)
	}
	return fmt.Sprintf(" ended with status %d", e.Status)
}

// VerdictError is the cause of a session's cancelled context after the launcher has ended the run
// because of another worker, or of this one.
type VerdictError struct {
	Worker WorkerError // the cause
}

// Error names the cause in the launcher's words.
func (e *VerdictError) Error() string { return "the run has ended: " + e.Worker.Error() }

// CutOffError is the cause of a session's cancelled context after a worker has heard nothing from its
// launcher, which is on another host.
type CutOffError struct {
	Rank, PID int
	Host      string
	Launcher  string // its address
	Silence   time.Duration
	Step      int // finished steps
	Phase     string
	Wait      *Wait // what the worker waits for, or nil
}

// Error returns one line: who heard nothing, from where, for how long, and what it was doing.
func (e *CutOffError) Error() string {
	text := fmt.Sprintf("rank %d (pid %d on %s) is cut off: no sign of life from the launcher at %s for %v",
		e.Rank, e.PID, e.Host, e.Launcher, e.Silence)
	return text + doing(e.Step, e.Phase, e.Wait)
}

// doing says what a worker was doing, by its last report; "" without one.
func doing(step int, phase string, w *Wait) string {
	if phase == "" {
		return ""
	}
	text := fmt.Sprintf(" after step %d, phase %s", step, phase)
	if w != nil {
		text += fmt.Sprintf(", waiting for rank %d in %s", w.Rank, w.What)
	}
	return text
}

// Unwrap returns ErrLauncherLost.
func (e *CutOffError) Unwrap() error { return ErrLauncherLost }

// HostError reports that a host of the run is lost, or did not start its processes.
type HostError struct {
	Host      string // its name
	Ranks     []int  // that it had, and that had not ended
	Names     string // of these ranks, for people
	IsRefused bool   // its agent did not start them
	Step      int    // the most steps that one of them had finished
	Reason    string
	Worker    *WorkerError // about the first of the ranks
}

// Error names the host and the ranks that it had.
func (e *HostError) Error() string {
	switch {
	case e.IsRefused:
		return fmt.Sprintf("host %s did not start %s: %s", e.Host, e.Names, e.Reason)
	case e.Step == 0:
		return fmt.Sprintf("host %s is lost, with %s: %s", e.Host, e.Names, e.Reason)
	}
	return fmt.Sprintf("host %s is lost, with %s, after step %d: %s", e.Host, e.Names, e.Step, e.Reason)
}

// Unwrap returns the error about the first rank that was lost.
func (e *HostError) Unwrap() error { return e.Worker }

// LimitError reports that the machine allows no process, thread or open file for a worker.
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
	// Killed is the first worker that did not end by itself, because it did not stop or was killed by others;
	// or nil.
	Killed *WorkerError
}

// Error names the worker that was killed.
func (e *StopError) Error() string {
	switch {
	case e.Killed == nil:
		return e.Err.Error()
	case e.Killed.Signal != "":
		return fmt.Sprintf("%v; %v", e.Err, e.Killed)
	}
	return fmt.Sprintf("%v; killed, because it did not stop: %v", e.Err, e.Killed)
}

// Unwrap returns the context's error.
func (e *StopError) Unwrap() error { return e.Err }
