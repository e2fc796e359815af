package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

const groups = "/sys/fs/cgroup"

// readLimits reads the current limits.
func readLimits() limits {
	text := contents("/proc/vmstat")
	l := limits{groupKills: -1, machineKills: counterOf(text, "oom_kill")}
	own := contents("/proc/self/cgroup")
	if folder := groupFolder(own, ""); folder != "" {
		l.groupKills = counterOf(contents(filepath.Join(folder, "memory.events")), "oom_kill")
		l.memory = bytesOf(contents(filepath.Join(folder, "memory.max")))
	}
	if folder := groupFolder(own, "memory"); folder != "" && l.groupKills < 0 {
		l.groupKills = counterOf(contents(filepath.Join(folder, "memory.oom_control")), "oom_kill")
		l.memory = bytesOf(contents(filepath.Join(folder, "memory.limit_in_bytes")))
	}
	l.processes = processLimit(own)
	var files unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &files) == nil {
		l.files = fmt.Sprintf("%d for a process (ulimit -n)", files.Cur)
	}
	return l
}

// groupFolder returns the folder of this process's control group, or "".
func groupFolder(own, controller string) string {
	path, ok := groupOf(own, controller)
	if !ok {
		return ""
	}
	root := filepath.Join(groups, controller)
	for _, folder := range []string{filepath.Join(root, path), root} {
		if info, err := os.Stat(folder); err == nil && info.IsDir() {
			return folder
		}
	}
	return ""
}

// processLimit describes the limits on the number of processes and threads.
func processLimit(own string) string {
	var found []string
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NPROC, &l) == nil && l.Cur != unix.RLIM_INFINITY {
		found = append(found, fmt.Sprintf("%d for this user (ulimit -u)", l.Cur))
	}
	for _, controller := range []string{"", "pids"} {
		folder := groupFolder(own, controller)
		if most := strings.TrimSpace(contents(filepath.Join(folder, "pids.max"))); folder != "" &&
			most != "" && most != "max" {
			found = append(found, most+" for its control group (pids.max)")
		}
	}
	return strings.Join(found, ", ")
}

// contents returns the contents of a file, or "" if it cannot be read.
func contents(path string) string {
	text, _ := os.ReadFile(path) // a missing file means unknown
	return string(text)
}

// processState describes the state of a process that sends no beats; "" if it runs or is unknown.
func processState(pid int) string {
	_, after, _ := strings.Cut(contents(fmt.Sprintf("/proc/%d/stat", pid)), ") ")
	switch state, _, _ := strings.Cut(after, " "); state {
	case "T":
		return stoppedState + " by a signal"
	case "t":
		return stoppedState + " by a debugger"
	case "D":
		return "in a system call that cannot be interrupted"
	}
	return ""
}
