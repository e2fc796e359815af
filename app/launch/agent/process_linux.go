package agent

import (
	"os/exec"
	"syscall"
)

// detach gives a process a session of its own and lets it die with this one.
func detach(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}
