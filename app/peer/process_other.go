//go:build !unix

package peer

import "os/exec"

// separate does nothing without process groups.
func separate(*exec.Cmd) {}

// kill ends a command. Processes that it has started end with their parent.
func kill(c *exec.Cmd) { c.Process.Kill() }
