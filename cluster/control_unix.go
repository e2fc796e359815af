//go:build unix

package cluster

import (
	"errors"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// hasSocketPairs reports whether workers can inherit a connection on this system.
const hasSocketPairs = true

// AgentConnection returns both ends of a connection between an agent and a launcher that it starts: the
// launcher inherits theirs, under the number that its variable LOCKSTEP_AGENT has.
func AgentConnection() (own net.Conn, theirs *os.File, err error) { return socketPair() }

// agentConnection returns the launcher's end of the connection to the agent of its host. The descriptor stays
// open for the next launch; no child inherits it.
func (e Environment) agentConnection() (net.Conn, error) {
	if e[EnvAgent] == "" {
		return nil, environmentErrorf("%s lists other hosts, but nothing connects this process with their "+
			"agents; start it by `lockstep launch`", EnvHosts)
	}
	fd, err := e.number("connection to the agents of the other hosts", firstExtra, EnvAgent)
	if err != nil {
		return nil, err
	}
	unix.CloseOnExec(fd)
	own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, environmentErrorf("%s=%d: %v", EnvAgent, fd, err)
	}
	f := os.NewFile(uintptr(own), "connection to the agent")
	conn, err := net.FileConn(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, environmentErrorf("%s=%d: %v", EnvAgent, fd, err)
	}
	return conn, nil
}

// socketPair returns the launcher's end of a new connection and the one to pass to a worker.
func socketPair() (own net.Conn, theirs *os.File, err error) {
	syscall.ForkLock.RLock() // so that no child inherits them by accident
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(ends[0])
		unix.CloseOnExec(ends[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	first := os.NewFile(uintptr(ends[0]), "control connection")
	theirs = os.NewFile(uintptr(ends[1]), "control connection of a worker")
	own, err = net.FileConn(first)
	if err = errors.Join(err, first.Close()); err != nil {
		return nil, nil, errors.Join(err, theirs.Close())
	}
	return own, theirs, nil
}
