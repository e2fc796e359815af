//go:build unix

package command

import (
	"os"
	"os/signal"
	"syscall"
)

// preemptions are the signals by which schedulers say that they will take the machine away: SIGTERM, and
// SIGUSR1 where a job asks for an early one, as with sbatch --signal=USR1@90.
func preemptions() []os.Signal { return []os.Signal{syscall.SIGTERM, syscall.SIGUSR1} }

// ignoreStop lets Ctrl-Z do nothing: hosts that hear nothing from a console give it up, and end its job.
func ignoreStop() { signal.Ignore(syscall.SIGTSTP) }
