//go:build !unix

package cluster

import (
	"os"
	"os/exec"
)

// separate does nothing without process groups: the worker ends itself when its session is lost.
func separate(*exec.Cmd) {}

func detach(*exec.Cmd) {}

// KillGroup kills p.
func KillGroup(p *os.Process) { p.Kill() } // an error means that it has ended

func quit(p *os.Process) { p.Kill() } // stacks need a signal

func describeExit(s *os.ProcessState) *exit { return &exit{pid: s.Pid(), status: s.ExitCode()} }
