//go:build unix

package agent

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// signalNamed returns the signal that is called name, such as SIGINT.
func signalNamed(name string) (os.Signal, bool) {
	number := unix.SignalNum(name)
	return number, number != 0
}

// nameOf returns the name of a signal.
func nameOf(s os.Signal) string {
	if number, ok := s.(syscall.Signal); ok {
		return unix.SignalName(number)
	}
	return ""
}

// endOf describes how the command has ended.
func endOf(s *os.ProcessState) *ended {
	if status, ok := s.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return &ended{Status: 128 + int(status.Signal()), Signal: unix.SignalName(status.Signal())}
	}
	return &ended{Status: s.ExitCode()}
}
