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

// whenStopped calls tell before Ctrl-Z stops this process, until stop is called.
func whenStopped(tell func()) (stop func()) {
	asked, done := make(chan os.Signal, 1), make(chan struct{})
	if !signal.Ignored(syscall.SIGTSTP) {
		signal.Notify(asked, syscall.SIGTSTP)
	}
	go func() {
		for {
			select {
			case <-asked:
				tell()
				syscall.Kill(os.Getpid(), syscall.SIGSTOP) // never fails for this process
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(asked)
		close(done)
	}
}
