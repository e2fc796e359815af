package launch

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"lockstep/internal/regular"
)

// explain returns why a host did not answer, of which ssh has ended. chatter is the last line that it
// printed, and isLate says that ssh was killed after connectTime.
func (c Console) explain(ctx context.Context, h Host, p *carrier, chatter string, isLate bool) error {
	text := p.words.String()
	switch {
	case strings.Contains(text, "HOST IDENTIFICATION HAS CHANGED"):
		return c.explainKey(ctx, h, "has another host key than before; if that is expected, remove the old "+
			"one with ssh-keygen -R and add the line", text)
	case strings.Contains(text, "host key is known for"), strings.Contains(text, "Host key verification "+
		"failed"):
		return c.explainKey(ctx, h, "has a host key that is not in known_hosts; compare it with what its "+
			"administrator says, and add the line", text)
	case strings.Contains(text, "Permission denied ("):
		return c.explainDenied(ctx, h, text)
	}
	if status := p.command.ProcessState.ExitCode(); !isLate && status >= 0 && status != sshFailed {
		words := strings.TrimSpace(chatter + " " + lastLine(text))
		return &HostError{Host: h.Name, Text: fmt.Sprintf("the shell of the user there has ended with "+
			"status %d before it came to our command%s: is it nologin, or does its .bashrc or .profile "+
			"exit? See what ssh %s echo hello prints", status, said(words), h.Name)}
	}
	return &HostError{Host: h.Name, Text: explanation(text, isLate)}
}

// sshFailed is the exit status of ssh's own errors; others are those of what the host ran.
const sshFailed = 255

// explanation says what the words of ssh mean.
func explanation(text string, isLate bool) string {
	last := lastLine(text)
	for _, known := range []struct{ words, text string }{
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
			return known.text + said(last)
		}
	}
	if isLate {
		return fmt.Sprintf("it cannot be reached: no answer within %v", connectTime) + said(last)
	}
	return "ssh has ended without an answer" + said(last)
}

// explainDenied says why a host does not accept the user. ssh tells with -v which keys it has offered.
func (c Console) explainDenied(ctx context.Context, h Host, text string) error {
	words := c.look(ctx, c.ssh(h, "true", "-v"))
	offered := strings.Count(words, "Offering public key:")
	user := regexp.MustCompile(`(?m)Authenticating to \S+ as '([^']*)'`).FindStringSubmatch(words)
	who := "the user"
	if user != nil {
		who = "user " + user[1]
	}
	if offered == 0 {
		return &HostError{Host: h.Name, Text: fmt.Sprintf("it refuses %s, and ssh has no key to offer: "+
			"make one with ssh-keygen and put it there with ssh-copy-id %s, or start ssh-agent", who, h.Name)}
	}
	keys := "the key"
	if offered > 1 {
		keys = fmt.Sprintf("any of the %d keys", offered)
	}
	return &HostError{Host: h.Name, Text: fmt.Sprintf("it does not accept %s of %s: is that the right "+
		"user? put the key there with ssh-copy-id %s%s", keys, who, h.Name, said(lastLine(text)))}
}

// look runs a command of ssh and returns what it says.
func (c Console) look(ctx context.Context, argv []string) string {
	p, err := carry(argv, c.environment())
	if err != nil {
		return ""
	}
	late, cancel := context.WithTimeout(ctx, connectTime/2)
	defer cancel()
	defer context.AfterFunc(late, p.kill)()
	p.in.Close()
	<-p.ended
	p.out.Close()
	return p.words.String()
}

// explainKey shows the key that a host has, as the line that known_hosts takes. ssh writes it to a file
// of ours, without logging in.
func (c Console) explainKey(ctx context.Context, h Host, what, text string) error {
	plain := &HostError{Host: h.Name, Text: what + said(lastLine(text))}
	folder, remove, err := regular.MakeFolder("", "key")
	if err != nil {
		return plain
	}
	defer remove()
	file := filepath.Join(folder, "known_hosts")
	c.look(ctx, c.ssh(h, "true", "-o", "StrictHostKeyChecking=accept-new", "-o", "UserKnownHostsFile="+file,
		"-o", "GlobalKnownHostsFile=/dev/null", "-o", "HashKnownHosts=no", "-o", "UpdateHostKeys=no",
		"-o", "PreferredAuthentications=none"))
	line, err := regular.ReadFile(file, maxLine)
	fields := strings.Fields(string(line))
	if err != nil || len(fields) < 3 {
		return plain
	}
	key, err := base64.StdEncoding.DecodeString(fields[2])
	if err != nil {
		return plain
	}
	hash := sha256.Sum256(key)
	return &HostError{Host: h.Name, Text: fmt.Sprintf("%s to ~/.ssh/known_hosts (SHA256:%s):\n%s", what,
		base64.RawStdEncoding.EncodeToString(hash[:]), strings.Join(fields[:3], " "))}
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
