//go:build unix

package peer

import (
	"os/exec"
	"syscall"
)

// separate gives a command a process group of its own: a terminal's Ctrl-C does not reach it.
func separate(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// kill ends a command that separate was called for, with all processes that it has started.
func kill(c *exec.Cmd) { syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
