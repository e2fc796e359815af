//go:build unix && !linux

package agent

import (
	"os/exec"
	"syscall"
)

// detach gives a process a session of its own. Without a parent-death signal it ends when its input does.
func detach(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
