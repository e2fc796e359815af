package agent

import (
	"errors"
	"fmt"
	"strings"

	"lockstep/internal/tail"
)

// HostError says what is wrong with a host.
type HostError struct {
	Host string // as the user wrote it
	Text string // what is wrong, and what to do
	Err  error  // cause, or nil
	// IsLost says that the host was connected before. Else it could not be.
	IsLost bool
}

// Error names the host.
func (e *HostError) Error() string {
	text := "host " + e.Host
	if e.IsLost {
		text += " is lost"
	}
	text += ": " + e.Text
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the cause.
func (e *HostError) Unwrap() error { return e.Err }

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
	"stopped (kill -STOP) or its machine sleeps, and has ended the job")

// errChatter says why what a host prints is not read on.
var errChatter = errors.New("the shell of the user prints too much before it runs a command; see its .bashrc")

// explain returns why a host did not answer, of which ssh has ended. chatter is the last line that it
// printed, and isLate says that ssh was killed after connectTime.
func explain(h Host, p *carrier, chatter string, isLate bool) error {
	text := p.words.String()
	status := p.command.ProcessState.ExitCode()
	what := "ssh has ended without an answer"
	switch {
	case strings.Contains(text, "HOST IDENTIFICATION HAS CHANGED"):
		what = "has another host key than before; if that is expected, remove the old one with " +
			"ssh-keygen -R NAME, and add the new one as for a new host"
	case strings.Contains(text, "host key is known for"),
		strings.Contains(text, "Host key verification failed"):
		what = "has a host key that is not in known_hosts; ssh NAME shows it: compare it with what its " +
			"administrator says, and accept it there"
	case strings.Contains(text, "Permission denied ("):
		what = "it does not accept the user's keys, or ssh has none to offer: is that the right user? make " +
			"a key with ssh-keygen, and put it there with ssh-copy-id NAME"
	case isLate:
		what = fmt.Sprintf("no answer within %v; see what ssh NAME echo hello prints", connectTime)
	case status >= 0 && status != sshFailed:
		what = fmt.Sprintf("the shell of the user there has ended with status %d before it came to our "+
			"command: is it nologin, or does its .bashrc or .profile exit? See what ssh NAME echo hello "+
			"prints", status)
		text = chatter + "\n" + text
	}
	what = strings.ReplaceAll(what, "NAME", h.Name)
	return &HostError{Host: h.Name, Text: what + said(tail.LastLine(text))}
}

// sshFailed is the exit status of ssh's own errors; others are those of what the host ran.
const sshFailed = 255

// said formats the last words of a carrier, if there are any.
func said(words string) string {
	if words == "" {
		return ""
	}
	return " (" + words + ")"
}
