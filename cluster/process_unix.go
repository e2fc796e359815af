//go:build unix

package cluster

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// killGroup kills the process group that p leads.
func killGroup(p *os.Process) {
	syscall.Kill(-p.Pid, syscall.SIGKILL) // ESRCH: it has ended
}

// quit makes a Go process write its stacks to its output and end.
func quit(p *os.Process) { p.Signal(syscall.SIGQUIT) } // an error means that it has ended

func describeExit(s *os.ProcessState) *exit {
	if status, ok := s.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return &exit{signal: unix.SignalName(status.Signal())}
	}
	return &exit{status: s.ExitCode()}
}
