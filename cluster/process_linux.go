package cluster

import (
	"os/exec"
	"syscall"
)

// separate gives a worker its own process group, so that a terminal's Ctrl-C reaches only the
// launcher, and asks the kernel to kill it when the launcher dies.
func separate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
