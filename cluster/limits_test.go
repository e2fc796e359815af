package cluster

import (
	"errors"
	"io/fs"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

func TestControlGroupsAreFound(t *testing.T) {
	const old = "9:name=systemd:/\n4:cpu,memory:/job/7\n0::/unified\n"
	for controller, want := range map[string]string{"memory": "/job/7", "": "/unified"} {
		if got, ok := groupOf(old, controller); got != want || !ok {
			t.Errorf("%q: %q, %v; want %q", controller, got, ok, want)
		}
	}
	if got, ok := groupOf(old, "pids"); ok {
		t.Errorf("pids: %q", got)
	}
	const events = "low 0\noom 3\noom_kill 2\n"
	if got := counterOf(events, "oom_kill"); got != 2 {
		t.Errorf("%d kills, want 2", got)
	}
	if got := counterOf(events, "none"); got != -1 {
		t.Errorf("%d, want -1", got)
	}
	if a, b := bytesOf("max\n"), bytesOf("1073741824\n"); a != "" || b != "1024 MiB" {
		t.Errorf("%q, %q", a, b)
	}
}

// What outside of a worker ended it is named where the machine tells, and only then.
func TestCauseOfAnEnd(t *testing.T) {
	before := limits{groupKills: 3, machineKills: 4}
	killed := &WorkerError{Signal: "SIGKILL"}
	noThread := &WorkerError{Signal: "SIGABRT", Text: threadsLine + " (have 5 already; errno=11)"}
	for name, test := range map[string]struct {
		before, now limits
		err         *WorkerError
		want        string
	}{
		"by hand": {before, before, killed, ""},
		"unknown": {limits{groupKills: -1, machineKills: -1}, before, killed, ""},
		"group": {before, limits{groupKills: 4, machineKills: 5, memory: "64 MiB"}, killed, "out of " +
			"memory; the kernel killed it because its control group has used up its limit of 64 MiB"},
		"machine": {before, limits{groupKills: 3, machineKills: 5}, killed,
			"out of memory; the kernel killed a process meanwhile, because memory was used up"},
		"threads": {limits{}, limits{processes: "50 for this user (ulimit -u)"}, noThread,
			"the limit on processes and threads is reached: 50 for this user (ulimit -u)"},
		"threads, with cgo": {limits{}, limits{}, &WorkerError{Signal: "SIGABRT", Text: cgoThreadsLine},
			"the limit on processes and threads is reached"},
		"a crash": {limits{}, limits{}, &WorkerError{Signal: "SIGABRT", Text: "fatal error: x"}, ""},
		"a panic": {limits{groupKills: 3}, limits{groupKills: 4}, &WorkerError{Status: 2}, ""},
	} {
		if got := test.before.cause(test.now, test.err.Signal, test.err.Text); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	l := limits{processes: "50 for this user (ulimit -u)", files: "20 for a process (ulimit -n)"}
	for reason, want := range map[syscall.Errno]string{
		syscall.EAGAIN: "start rank 3: fork/exec /x: resource temporarily unavailable; the limit on " +
			"processes and threads is reached: 50 for this user (ulimit -u)",
		syscall.EMFILE: "start rank 3: fork/exec /x: too many open files; the limit on open files is " +
			"reached: 20 for a process (ulimit -n)",
	} {
		err := l.startError("rank 3", &fs.PathError{Op: "fork/exec", Path: "/x", Err: reason})
		if limit := (*LimitError)(nil); !errors.As(err, &limit) || err.Error() != want {
			t.Error(err)
		}
	}
	l = readLimits()
	if isKnown := strings.HasSuffix(l.files, "(ulimit -n)"); strings.Contains(l.memory, "-") ||
		isKnown != (runtime.GOOS == "linux") {
		t.Errorf("limits of this machine: %+v", l)
	}
}
