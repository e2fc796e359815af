//go:build !unix

package agent

import (
	"os"
	"os/exec"
)

func detach(*exec.Cmd) {}

func killGroup(p *os.Process) { p.Kill() } // an error means that it has ended

func signalNamed(string) (os.Signal, bool) { return os.Interrupt, true }

func nameOf(os.Signal) string { return "SIGINT" }

func endOf(s *os.ProcessState) *ended { return &ended{Status: s.ExitCode()} }
