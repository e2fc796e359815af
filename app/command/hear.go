package command

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// echoTime is how long after a SIGTERM another one is the same request, and tapTime how long after a SIGINT,
// so that who presses Ctrl-C twice has to take a little longer. timeout(1) and schedulers signal a process
// and then its group, and lockstep launch passes on what the command may have received itself.
const (
	echoTime = time.Second
	tapTime  = 200 * time.Millisecond
)

// endings are the signals besides Ctrl-C that ask to stop: those of schedulers, and that of a terminal that
// is closed, unless it is ignored, as by nohup.
func endings() []os.Signal {
	if signal.Ignored(syscall.SIGHUP) {
		return preemptions()
	}
	return append(preemptions(), syscall.SIGHUP)
}

// hear returns the signals that ask to stop. Echoes are left out. The caller must call stop.
func hear() (heard <-chan os.Signal, stop func()) {
	received, passed := make(chan os.Signal, 2), make(chan os.Signal, 2)
	done, ended := make(chan struct{}), make(chan struct{})
	signal.Notify(received, append(endings(), os.Interrupt)...)
	go func() {
		defer close(ended)
		dropEchoes(received, passed, done)
	}()
	return passed, func() {
		signal.Stop(received)
		close(done)
		<-ended
	}
}

// dropEchoes passes signals on until done is closed.
func dropEchoes(from <-chan os.Signal, to chan<- os.Signal, done <-chan struct{}) {
	last := map[os.Signal]time.Time{} // that was passed on
	echo := map[os.Signal]time.Duration{syscall.SIGTERM: echoTime, os.Interrupt: tapTime}
	for {
		select {
		case s := <-from:
			if time.Since(last[s]) < echo[s] {
				continue
			}
			last[s] = time.Now()
			select {
			case to <- s:
			case <-done:
				return
			}
		case <-done:
			return
		}
	}
}
