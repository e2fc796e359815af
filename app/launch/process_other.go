//go:build !unix

package launch

import (
	"os"
	"os/exec"
)

func detach(*exec.Cmd) {}

func killGroup(p *os.Process) { p.Kill() } // an error means that it has ended
