//go:build !unix

package agent

import "os"

func signalNamed(string) (os.Signal, bool) { return os.Interrupt, true }

func nameOf(os.Signal) string { return "SIGINT" }

func endOf(s *os.ProcessState) *ended { return &ended{Status: s.ExitCode()} }
