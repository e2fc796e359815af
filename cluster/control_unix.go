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
