package command

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"lockstep/app/job"
)

// hasLab reports whether this machine lets the user make hosts, by both kinds of network.
var hasLab = sync.OnceValue(func() bool {
	self, err := os.Executable()
	if err != nil {
		return false
	}
	for _, delay := range []string{"0", "1us"} {
		try := exec.Command(self)
		try.Args = []string{"lockstep", "lab", "--delay", delay, "--", "version"}
		if try.Run() != nil {
			return false
		}
	}
	return true
})

// startLab starts a run with a worker on each of two hosts.
func startLab(t *testing.T, labFlags ...string) *running {
	t.Helper()
	if !hasLab() {
		t.Skip("this machine lets the user make no hosts: lockstep lab -- version says why")
	}
	r := &running{out: filepath.Join(t.TempDir(), "run")}
	r.started(t, tool(t, slices.Concat([]string{"lab"}, labFlags,
		[]string{"--", "train", "--workers", "2", "--epochs", "2000", "--out", r.out})...))
	r.until(t, "both workers train", func() bool { return r.pid(0) > 0 && r.pid(1) > 0 })
	return r
}

func TestNothingOutlivesAKilledLab(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{{"--rate", "1gbit"}, {"--delay", "100us"}} {
		r := startLab(t, flags...)
		networks := []string{r.network(t, 0), r.network(t, 1)}
		if networks[0] == networks[1] {
			t.Fatalf("both workers are in %s", networks[0])
		}
		r.Process.Kill()
		r.ends(t, -1)
		for _, network := range networks {
			r.until(t, "nobody is in "+network, func() bool { return !isInUse(network) })
		}
	}
}

// network returns the name of a worker's network namespace.
func (r *running) network(t *testing.T, rank int) string {
	t.Helper()
	name, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", r.pid(rank)))
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// isInUse reports whether a process is in the network namespace.
func isInUse(network string) bool {
	links, _ := filepath.Glob("/proc/[0-9]*/ns/net") // the pattern is right
	for _, link := range links {
		if name, _ := os.Readlink(link); name == network { // "": the process has ended
			return true
		}
	}
	return false
}

// What is said to go on with is a command line in a lab of the same hosts.
func TestStoppedRunOfALab(t *testing.T) {
	t.Setenv("LOCKSTEP_TRAIN_CHECKPOINT_EVERY", "1h")
	r := startLab(t, "--hosts", "2", "--delay", "1ms")
	r.Process.Signal(os.Interrupt)
	r.ends(t, job.ExitInterrupted)
	want := "lockstep lab --delay=1ms --hosts=2 -- train --resume " + r.out + " goes on from there"
	if !strings.Contains(r.stderr.String(), want) {
		t.Errorf("stderr %q, want %q", r.stderr.String(), want)
	}
}

func TestInterruptStopsALab(t *testing.T) {
	r := startLab(t)
	r.Process.Signal(os.Interrupt)
	r.ends(t, job.ExitInterrupted)
	for _, want := range []string{"\nhost1 ",
		"lockstep: interrupted; all workers have stopped\n"} {
		if !strings.Contains(r.stderr.String(), want) {
			t.Errorf("stderr %q, want %q", r.stderr.String(), want)
		}
	}
}
