package agent

import (
	"fmt"
	"strings"
)

// explain returns why a host did not answer, of which ssh has ended. chatter is the last line that it
// printed, and isLate says that ssh was killed after connectTime.
func explain(h Host, p *carrier, chatter string, isLate bool) error {
	text := p.words.String()
	last := said(lastLine(text))
	status := p.command.ProcessState.ExitCode()
	if !isLate && status >= 0 && status != sshFailed {
		return &HostError{Host: h.Name, Text: fmt.Sprintf("the shell of the user there has ended with "+
			"status %d before it came to our command%s: is it nologin, or does its .bashrc or .profile "+
			"exit? See what ssh %s echo hello prints", status,
			said(strings.TrimSpace(chatter+" "+lastLine(text))), h.Name)}
	}
	for _, known := range []struct{ words, text string }{
		{"HOST IDENTIFICATION HAS CHANGED", "has another host key than before; if that is expected, remove " +
			"the old one with ssh-keygen -R NAME, and add the new one as for a new host"},
		{"host key is known for", newKey}, {"Host key verification failed", newKey},
		{"Permission denied (", "it does not accept the user's keys, or ssh has none to offer: is that the " +
			"right user? make a key with ssh-keygen, and put it there with ssh-copy-id NAME"},
		{"Could not resolve hostname", "its name is not known; write it as ssh would take it"},
		{"Name or service not known", "its name is not known; write it as ssh would take it"},
		{"Connection refused", "it is there, but no ssh server listens; start sshd, or give its port in " +
			"~/.ssh/config"},
		{"No route to host", "it cannot be reached: there is no route, or nothing has its address"},
		{"Network is unreachable", "it cannot be reached: this machine has no route to its network"},
		{"timed out", "it cannot be reached: nothing answers at its address"},
		{"Too many authentication failures", "it refuses the user before ssh has offered the right key; " +
			"give it as IdentityFile with IdentitiesOnly yes in ~/.ssh/config"},
		{"Bad configuration option", "the configuration of ssh is wrong"},
		{"Bad owner or permissions", "the configuration of ssh is readable or writable by others"},
	} {
		if strings.Contains(text, known.words) {
			return &HostError{Host: h.Name, Text: strings.ReplaceAll(known.text, "NAME", h.Name) + last}
		}
	}
	if isLate {
		return &HostError{Host: h.Name, Text: fmt.Sprintf("it cannot be reached: no answer within %v%s",
			connectTime, last)}
	}
	return &HostError{Host: h.Name, Text: "ssh has ended without an answer" + last}
}

// newKey is what is wrong with a host that ssh does not know.
const newKey = "has a host key that is not in known_hosts; ssh NAME shows it: compare it with what its " +
	"administrator says, and accept it there"

// sshFailed is the exit status of ssh's own errors; others are those of what the host ran.
const sshFailed = 255

// lastOfAgent says how an agent has ended: a program of Go that may not reserve its memory prints a stack.
func lastOfAgent(text string) string {
	if strings.Contains(text, "failed to reserve page") || strings.Contains(text, "cannot allocate memory") ||
		strings.Contains(text, "errno=12") {
		return "its memory is limited, as by ulimit -v in the user's .bashrc there, which must go: the " +
			"program reserves more addresses than it uses"
	}
	return lastLine(text)
}

// explainCopy returns the error of a host that cannot keep the program, from what its tools have said.
func explainCopy(h Host, words string) error {
	text := "the program could not be copied to it: " + words
	if strings.Contains(words, notExecutable) {
		text = "no program can be run from its cache folder: " + words + "; let XDG_CACHE_HOME name a " +
			"folder on another file system, in a file that its shell reads for ssh (~/.bashrc or ~/.zshenv)"
	}
	return &HostError{Host: h.Name, Text: text, IsFull: isFull(words)}
}

// isFull reports whether a tool or an agent on a host has said that there is no room for a file.
func isFull(text string) bool {
	return strings.Contains(text, "o space left") || strings.Contains(text, "quota exceeded")
}
