package launch

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"lockstep/cluster"
)

// Note: one connection
//
// All of a host goes over one ssh: users may have to touch a key for each. So ssh starts a script, which says
// which platform the host has, takes the program if it lacks it, and becomes the agent. Its words begin
// with "lockstep-", because the user's shell may print something before. The console sends the program's
// bytes only when asked, and nothing behind them until the script has said that it has them, so that
// no reader on the host takes more than its part.

// bootstrap is the script. The login shell that receives it in single quotes may be any, so that it is one
// line without a quote of that kind.
var bootstrap = strings.Join([]string{
	`umask 077`,
	bootstrapFolder,
	`echo`,
	`echo lockstep-host "$(uname -sm)"`,
	`read -r h n || exit 0`,
	`f=$b/$h/lockstep`,
	`same() { if command -v sha256sum >/dev/null`,
	`then [ "$(sha256sum <"$1" | cut -c1-64)" = "$h" ]`,
	`else [ "$("$1" agent --hash)" = "$h" ]`,
	`fi`,
	`}`,
	`if same "$f" 2>/dev/null && [ -x "$f" ]`,
	`then :`,
	`else echo lockstep-send`,
	`t=$b/$h/new.$$`,
	`if e=$({ mkdir -p "$b/$h" && head -c "$n" >"$t" && chmod 700 "$t" && ` +
		`{ same "$t" || { echo it has another hash than was sent >&2`,
	`false`,
	`}`,
	`} && mv -f "$t" "$f"`,
	`} 2>&1 )`,
	`then :`,
	`else rm -f "$t"`,
	`echo lockstep-failed "$f": $e`,
	`exit 1`,
	`fi`,
	`fi`,
	`echo lockstep-here`,
	`exec "$f" agent`,
}, "; ")

// bootstrapFolder lets b be the folder of programs.
const bootstrapFolder = `if [ "$(uname -s)" = Darwin ]; ` +
	`then b=${HOME:?is not set}/Library/Caches/lockstep/bin; ` +
	`else b=${XDG_CACHE_HOME:-${HOME:?is not set}/.cache}/lockstep/bin; ` +
	`fi`

// options are those of every ssh: no questions, no host that the user does not know, no wait without end.
func options() []string {
	return []string{"-T", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes", "-o", "ConnectTimeout=8",
		"-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=2", "-o", "ControlMaster=no",
		"-o", "ClearAllForwardings=yes", "-o", "RemoteCommand=none"}
}

// ssh returns the command line that runs a shell command on a host.
func (c Console) ssh(h Host, command string, more ...string) []string {
	return slices.Concat(c.SSH, more, options(), []string{"--", h.Name, command})
}

// environment is that of ssh, which may not open a window for a question.
func (c Console) environment() cluster.Environment {
	return c.Environment.With(cluster.Environment{"SSH_ASKPASS_REQUIRE": "never"})
}

// dialSSH connects to the agent of another machine.
func (c Console) dialSSH(ctx context.Context, h Host) (*Connection, error) {
	p, err := carry(c.ssh(h, "exec /bin/sh -c '"+bootstrap+"'"), c.environment())
	if err != nil {
		return nil, &HostError{Host: h.Name, Text: "start ssh", Err: err}
	}
	l := newLine(p.out, p.in)
	hash, err := c.install(ctx, h, p, l)
	if err != nil {
		l.close()
		p.kill()
		p.close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, err
	}
	return c.greet(ctx, h, p, l, hash)
}

// install waits until the host answers, and until it has the program for its platform, whose hash it returns.
func (c Console) install(ctx context.Context, h Host, p *carrier, l *line) (hash string, err error) {
	late, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	stop := context.AfterFunc(late, p.kill)
	uname, err := l.word("host")
	if !stop() || err != nil {
		if errors.Is(err, errChatter) {
			p.kill() // ssh ends with what it runs, which may go on for ever
			return "", &HostError{Host: h.Name, Text: err.Error()}
		}
		p.close() // what has ended its output may go on, too
		return "", c.explain(ctx, h, p, late.Err() != nil)
	}
	defer context.AfterFunc(ctx, p.kill)() // installing may take its time
	platform := platformOf(uname)
	program, err := c.program(ctx, platform)
	if err != nil {
		return "", &HostError{Host: h.Name, Text: err.Error()}
	}
	if _, err := fmt.Fprintf(p.in, "%s %d\n", program.hash, program.size); err != nil {
		return "", lostInstalling(h, p, err)
	}
	word, err := l.word("send", "here")
	if err == nil && word == "send" {
		c.Notice(fmt.Sprintf("host %s: copying the program, %d MiB", h.Name, program.size>>20))
		word, err = program.send(p.in, l)
	}
	switch {
	case err != nil:
		return "", lostInstalling(h, p, err)
	case word != "here":
		return "", &HostError{Host: h.Name, Text: "the program could not be copied to it: " + word,
			IsFull: isFull(word)}
	}
	return program.hash, nil
}

// lostInstalling is the error of a connection that ends before its agent has started.
func lostInstalling(h Host, p *carrier, err error) error {
	p.close()
	return &HostError{Host: h.Name, Text: "the connection has ended while the program was being copied" +
		said(p.words.last()), Err: err}
}

// isFull reports whether a tool on a host has said that there is no room for a file.
func isFull(text string) bool {
	return strings.Contains(text, "No space left") || strings.Contains(text, "quota exceeded")
}

// word reads what the script says next: the text behind lockstep-NAME, or NAME itself if there is none. What
// the user's shell prints before is skipped.
func (l *line) word(names ...string) (string, error) {
	for skipped := 0; skipped < maxChatter; {
		text, err := l.in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return "", errChatter
		}
		if err != nil {
			return "", err
		}
		skipped += len(text)
		for _, name := range append(names, "failed") {
			rest, ok := bytes.CutPrefix(bytes.TrimSpace(text), []byte("lockstep-"+name))
			if !ok {
				continue
			}
			if rest := bytes.TrimSpace(rest); len(rest) > 0 {
				return string(rest), nil
			}
			return name, nil
		}
	}
	return "", errChatter
}

// send sends the program and waits for the answer.
func (b binary) send(to io.Writer, l *line) (string, error) {
	f, err := os.Open(b.path)
	if err != nil {
		return "", err
	}
	defer f.Close() // nothing was written
	sent := make(chan error, 1)
	go func() {
		_, err := io.CopyN(to, f, b.size)
		sent <- err
	}()
	word, err := l.word("here")
	if err == nil && word == "here" {
		err = <-sent // else the host does not read on
	}
	return word, err
}

// explain returns why a host did not answer, of which ssh has ended. isLate says that it was killed after
// connectTime.
func (c Console) explain(ctx context.Context, h Host, p *carrier, isLate bool) error {
	text := p.words.String()
	switch {
	case strings.Contains(text, "HOST IDENTIFICATION HAS CHANGED"):
		return c.explainKey(ctx, h, "has another host key than before; if that is expected, remove the "+
			"old one "+
			"with ssh-keygen -R and add the line", text)
	case strings.Contains(text, "host key is known for"), strings.Contains(text, "Host key verification "+
		"failed"):
		return c.explainKey(ctx, h, "has a host key that is not in known_hosts; compare it with what its "+
			"administrator says, and add the line", text)
	case strings.Contains(text, "Permission denied ("):
		return c.explainDenied(ctx, h, text)
	}
	return &HostError{Host: h.Name, Text: explanation(text, isLate)}
}

// explanation says what the words of ssh mean.
func explanation(text string, isLate bool) string {
	last := (&tail{text: []byte(text)}).last()
	for _, known := range []struct{ words, text string }{
		{"Could not resolve hostname", "its name is not known; write it as ssh would take it"},
		{"Name or service not known", "its name is not known; write it as ssh would take it"},
		{"Connection refused", "it is there, but no ssh server listens; start sshd, or give its port in " +
			"~/.ssh/config"},
		{"No route to host", "it cannot be reached: there is no route, or nothing has its address"},
		{"Network is unreachable", "it cannot be reached: this machine has no route to its network"},
		{"timed out", "it cannot be reached: nothing answers at its address"},
		{"Too many authentication failures", "it refuses the user before ssh has offered the right key; " +
			"give it " +
			"as IdentityFile with IdentitiesOnly yes in ~/.ssh/config"},
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
	said := c.look(ctx, c.ssh(h, "true", "-v"))
	offered := strings.Count(said, "Offering public key:")
	user := regexp.MustCompile(`(?m)Authenticating to \S+ as '([^']*)'`).FindStringSubmatch(said)
	who := "the user"
	if user != nil {
		who = "user " + user[1]
	}
	if offered == 0 {
		return &HostError{Host: h.Name, Text: fmt.Sprintf("it refuses %s, and ssh has no key to offer: "+
			"make one with "+
			"ssh-keygen and put it there with ssh-copy-id %s, or start ssh-agent", who, h.Name)}
	}
	keys := "the key"
	if offered > 1 {
		keys = fmt.Sprintf("any of the %d keys", offered)
	}
	return &HostError{Host: h.Name, Text: fmt.Sprintf("it does not accept %s of %s: is that the right "+
		"user? put the "+
		"key there with ssh-copy-id %s (%s)", keys, who, h.Name, (&tail{text: []byte(text)}).last())}
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
	plain := &HostError{Host: h.Name, Text: what + said((&tail{text: []byte(text)}).last())}
	folder, err := os.MkdirTemp("", "lockstep-key")
	if err != nil {
		return plain
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "known_hosts")
	c.look(ctx, c.ssh(h, "true", "-o", "StrictHostKeyChecking=accept-new", "-o", "UserKnownHostsFile="+file,
		"-o", "GlobalKnownHostsFile=/dev/null", "-o", "HashKnownHosts=no", "-o", "UpdateHostKeys=no",
		"-o", "PreferredAuthentications=none"))
	line, err := os.ReadFile(file)
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
