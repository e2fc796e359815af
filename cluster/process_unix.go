//go:build unix

package cluster

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// KillGroup kills the process group that p leads.
func KillGroup(p *os.Process) {
	syscall.Kill(-p.Pid, syscall.SIGKILL) // ESRCH: it has ended
}

// detach is separate with a session of its own: without terminal, a process can ask nothing.
func detach(cmd *exec.Cmd) {
	separate(cmd)
	cmd.SysProcAttr.Setpgid, cmd.SysProcAttr.Setsid = false, true
}

// quit makes a Go process write its stacks to its output and end.
func quit(p *os.Process) { p.Signal(syscall.SIGQUIT) } // an error means that it has ended

func describeExit(s *os.ProcessState) *exit {
	if status, ok := s.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return &exit{pid: s.Pid(), signal: unix.SignalName(status.Signal())}
	}
	return &exit{pid: s.Pid(), status: s.ExitCode()}
}
