package command

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

const (
	groupBytes = 512 << 20 // several times what the workers of a fault take
	groupRoot  = "/sys/fs/cgroup"
)

// memoryGroup makes a control group with groupBytes, of either version.
func memoryGroup(t *testing.T) string {
	t.Helper()
	root, file := filepath.Join(groupRoot, "memory"), "memory.limit_in_bytes"
	if _, err := os.Stat(root); err != nil {
		root, file = groupRoot, "memory.max"
	}
	group, err := os.MkdirTemp(root, "lockstep-test-")
	if err != nil {
		t.Skip("this user cannot make a control group: ", err)
	}
	t.Cleanup(func() {
		for deadline := time.Now().Add(time.Minute); os.Remove(group) != nil; {
			if time.Now().After(deadline) {
				t.Errorf("%s is left", group)
				return
			}
			time.Sleep(10 * time.Millisecond) // until all its processes have ended
		}
	})
	if err := os.WriteFile(filepath.Join(group, file), fmt.Append(nil, groupBytes), 0); err != nil {
		t.Skip("this user cannot limit a control group: ", err)
	}
	return group
}

// useMemory lets the kernel kill a process of a control group for lack of memory: another one there takes
// more than there is. It returns when the process has ended.
func useMemory(t *testing.T, pid int, group string) {
	t.Helper()
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), []byte("1000"), 0); err != nil {
		t.Fatal(err)
	}
	hungry := exec.Command("/bin/sh", "-c", `echo $$ >"$0" && head -c "$1" /dev/zero | tail`,
		filepath.Join(group, "cgroup.procs"), fmt.Sprint(2*groupBytes))
	hungry.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := hungry.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		syscall.Kill(-hungry.Process.Pid, syscall.SIGKILL) // it may be the next to be killed
		hungry.Wait()
	}()
	waitFor(t, "the kernel kills the worker", func() bool { return !isAlive(pid) })
}
