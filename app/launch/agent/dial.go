package agent

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"lockstep/cluster"
)

// Console says how agents are reached.
type Console struct {
	Program string // path of this program
	Hash    string // SHA-256 of Program, in hexadecimal
	Version string // of the source of Program
	// SSH is the command of ssh, such as ssh -F FILE. Its options are put before ours.
	SSH []string
	// Binaries are paths of this program for other platforms, by names such as linux/arm64.
	Binaries    map[string]string
	Environment cluster.Environment // of agents on this machine, and of ssh
	Notice      func(text string)   // is told of what takes its time; from any goroutine
}

// Argument is the command of lockstep that is an agent.
const Argument = "agent"

// connectTime is the time in which a host has to answer.
const connectTime = 9 * time.Second

// IsHere reports whether name is this machine: localhost, its host name or one of its addresses. What only
// ssh knows, such as the user of me@name or an alias of its configuration, is another machine.
func IsHere(name string) bool {
	if host, err := os.Hostname(); name == "localhost" || err == nil && strings.EqualFold(name, host) {
		return true
	}
	ip, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	if ip.IsLoopback() {
		return true
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	for _, address := range addresses {
		if own, err := netip.ParsePrefix(address.String()); err == nil && own.Addr() == ip {
			return true
		}
	}
	return false
}

// Dial connects to the agent of a host: a child process if the host is this machine, else a process over
// ssh, for which this program is copied to the host if it is not there. The error is a *HostError, or that
// of ctx.
func (c Console) Dial(ctx context.Context, h Host) (*Connection, error) {
	if !IsHere(h.Name) {
		return c.dialSSH(ctx, h)
	}
	p, err := carry([]string{c.Program, Argument}, c.Environment)
	if err != nil {
		return nil, &HostError{Host: h.Name, Text: "start an agent", Err: err}
	}
	return c.greet(ctx, h, p, newLine(p.out, p.in), c.Hash)
}

// greet waits for the agent's hello over its carrier and checks that it is the same version of this program
// as the console, with this hash.
func (c Console) greet(ctx context.Context, h Host, p *carrier, l *line, hash string) (*Connection, error) {
	late, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	defer context.AfterFunc(late, p.kill)()
	a, err := open(h, l, p.close, p.words.LastLine)
	switch {
	case ctx.Err() != nil:
		if err == nil {
			a.Close()
		}
		return nil, ctx.Err()
	case err != nil:
		return nil, err
	case a.Hello.Version != c.Version:
		err = &HostError{Host: h.Name, Text: fmt.Sprintf("its program is version %q and this one %q; give "+
			"one of this version with --binary %s=PATH", a.Hello.Version, c.Version, a.Hello.Platform)}
	case a.Hello.Hash != hash:
		err = &HostError{Host: h.Name, Text: fmt.Sprintf("its program has the hash %.12s, and %.12s was "+
			"expected; remove lockstep/bin in its cache folder", a.Hello.Hash, hash)}
	}
	if err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}
