//go:build unix

package command

import (
	"os"
	"syscall"
)

// preemptions are the signals by which schedulers say that they will take the machine away: SIGTERM, and
// SIGUSR1 where a job asks for an early one, as with sbatch --signal=USR1@90.
func preemptions() []os.Signal { return []os.Signal{syscall.SIGTERM, syscall.SIGUSR1} }
