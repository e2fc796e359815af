package cluster

import (
	"os"
	"strconv"
)

// RunEach starts the command once with each environment, with the streams of this process, and passes
// signals on. It returns when all have ended, with the first status other than 0; that of a process
// ended by a signal is 1. No process outlives this one.
func RunEach(command []string, environments []Environment, signals <-chan os.Signal) (int, error) {
	processes := make([]process, len(environments))
	for i, e := range environments {
		processes[i] = process{name: "process " + strconv.Itoa(i), command: command, environment: e}
	}
	exits := make(chan exit)
	f, err := startFleet(processes, func(e event) { exits <- *e.exit })
	if err != nil {
		return 0, err
	}
	status := 0
	for left := len(processes); left > 0; {
		select {
		case e := <-exits:
			left--
			if e.signal != "" {
				e.status = 1
			}
			if status == 0 {
				status = e.status
			}
		case s := <-signals:
			f.signal(s)
		}
	}
	f.wait()
	return status, nil
}
