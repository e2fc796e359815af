//go:build !unix

package command

import (
	"os"
	"syscall"
)

// preemptions are the signals by which schedulers say that they will take the machine away.
func preemptions() []os.Signal { return []os.Signal{syscall.SIGTERM} }

// ignoreStop does nothing without Ctrl-Z.
func ignoreStop() {}
