package cluster

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"
)

// Prefixes of the Go runtime's messages that the system gives it no thread, without and with cgo.
const (
	threadsLine    = "runtime: failed to create new OS thread"
	cgoThreadsLine = "runtime/cgo: pthread_create failed: "
)

// stoppedState begins the state of a process that a signal or a debugger has stopped.
const stoppedState = "stopped"

// limits are the limits of this process's children, and the number of processes that the kernel
// killed.
type limits struct {
	groupKills   int    // for lack of memory, in this control group; -1: unknown
	machineKills int    // on the whole machine; -1: unknown
	memory       string // of the control group; "": unlimited or unknown
	processes    string // number of processes and threads, and where it is set; "": unknown
	files        string // number of open files, and where it is set; "": unknown
}

// cause returns a likely cause outside the program for the end of a process by a signal, or by itself if that
// is "", with a text; "" if there is none.
func (before limits) cause(now limits, signal, text string) string {
	switch {
	case strings.HasPrefix(text, threadsLine), strings.HasPrefix(text, cgoThreadsLine):
		return now.full()
	case signal != "SIGKILL":
		return ""
	case before.groupKills >= 0 && now.groupKills > before.groupKills:
		text := "out of memory; the kernel killed it because its control group has used up its limit"
		if now.memory != "" {
			text += " of " + now.memory
		}
		return text
	case before.machineKills >= 0 && now.machineKills > before.machineKills:
		return "out of memory; the kernel killed a process meanwhile, because memory was used up"
	}
	return ""
}

// full says that no process or thread can be started any more.
func (now limits) full() string {
	return reached("processes and threads", now.processes)
}

// reached says that a limit on what is reached, and where it is set; "": unknown.
func reached(what, limit string) string {
	text := "the limit on " + what + " is reached"
	if limit != "" {
		text += ": " + limit
	}
	return text
}

// startError words why the named process could not be started.
func (now limits) startError(name string, err error) error {
	switch {
	case errors.Is(err, syscall.EAGAIN):
		return &LimitError{Name: name, Limit: now.full(), Err: err}
	case errors.Is(err, syscall.EMFILE):
		return &LimitError{Name: name, Limit: reached("open files", now.files), Err: err}
	}
	return fmt.Errorf("cluster: start %s: %w", name, err)
}

// counterOf returns the number after a name in lines of names and numbers, or -1.
func counterOf(text, name string) int {
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == name {
			if n, err := strconv.Atoi(f[1]); err == nil {
				return n
			}
		}
	}
	return -1
}

// bytesOf formats a limit in bytes; "" if there is none.
func bytesOf(text string) string {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n >= 1<<60 {
		return ""
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// groupOf returns the path of a process's control group in the hierarchy of a controller, from the
// lines of /proc/self/cgroup; "" names the unified one.
func groupOf(text, controller string) (path string, ok bool) {
	for line := range strings.Lines(text) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) != 3 {
			continue
		}
		for name := range strings.SplitSeq(part[1], ",") {
			if name == controller {
				return part[2], true
			}
		}
	}
	return "", false
}
