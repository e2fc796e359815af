//go:build unix && !linux

package cluster

import (
	"os/exec"
	"syscall"
)

// separate gives a worker its own process group, so that a terminal's Ctrl-C reaches only the
// launcher. Without a parent-death signal the worker ends itself when its session is lost.
func separate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}
