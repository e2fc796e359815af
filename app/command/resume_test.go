//go:build unix

package command

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"
	"time"

	"lockstep/app/job"
	"lockstep/app/record"
	"lockstep/checkpoint"
)

// tool runs the tool with arguments.
func tool(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self)
	c.Args = append([]string{"lockstep"}, args...)
	c.Stderr = &bytes.Buffer{}
	return c
}

// must runs the tool to its end.
func must(t *testing.T, args ...string) {
	t.Helper()
	if c := tool(t, args...); c.Run() != nil {
		t.Fatalf("%v: %v: %s", args, c.ProcessState, c.Stderr)
	}
}

// steps returns how many steps of rank 0 the run has noted.
func steps(out string) int {
	text, _ := os.ReadFile(filepath.Join(out, "steps.jsonl"))
	return bytes.Count(text, []byte(`{"rank":0,`))
}

// hash returns the parameters' hash of a finished run.
func hash(t *testing.T, out string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(out, "summary.json"))
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Hash string `json:"parameter_sha256"`
	}
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return s.Hash
}

// killed lets a run go on for a random time and then kills one of its workers, or all of it. It
// reports whether the run was faster.
func killed(t *testing.T, c *exec.Cmd, out string) (isDone bool) {
	t.Helper()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Fatalf("%v: %v: %s", c.Args, err, c.Stderr)
		}
		return true
	case <-time.After(time.Duration(200+rand.IntN(1200)) * time.Millisecond):
	}
	victim := c.Process.Pid
	log, _ := os.ReadFile(filepath.Join(out, "rank1.log"))
	pids := regexp.MustCompile(`pid (\d+)`).FindAllSubmatch(log, -1)
	if len(pids) > 0 && rand.IntN(2) == 0 {
		// It may be that of an earlier part, and somebody else's process by now.
		worker := string(pids[len(pids)-1][1])
		status, _ := os.ReadFile("/proc/" + worker + "/status")
		if bytes.Contains(status, []byte("\nPPid:\t"+strconv.Itoa(victim)+"\n")) {
			victim, _ = strconv.Atoi(worker)
		}
	}
	syscall.Kill(victim, syscall.SIGKILL) // gone already, perhaps
	<-ended
	return false
}

// A run whose workers are killed at random moments, one or all of them, and that is resumed on
// changing numbers of workers until it is done, ends with the parameters of the undisturbed run.
func TestKilledRunIsResumedToTheSameBits(t *testing.T) {
	t.Parallel()
	const rounds = 3
	settings := []string{"--shards", "4", "--limit-train", "2000", "--limit-test", "100", "--steps", "300",
		"--threads", "1"}
	whole := filepath.Join(t.TempDir(), "whole")
	undisturbed := tool(t, append([]string{"train", "--quiet", "--out", whole}, settings...)...)
	if err := undisturbed.Run(); err != nil {
		t.Fatalf("%v: %s", err, undisturbed.Stderr)
	}
	out := filepath.Join(t.TempDir(), "run")
	args := append([]string{"train", "--quiet", "--workers", "2", "--checkpoint-every", "20", "--out", out},
		settings...)
	kills := 0
	for number := 0; ; number++ {
		if number >= rounds {
			c := tool(t, args...)
			if err := c.Run(); err != nil {
				t.Fatalf("%v: %s", err, c.Stderr)
			}
			break
		}
		if killed(t, tool(t, args...), out) {
			break
		}
		kills++
		if found, _ := filepath.Glob(filepath.Join(out, "checkpoints", "step-*")); len(found) == 0 {
			os.RemoveAll(out) // killed before the first checkpoint: begin again
			continue
		}
		args = []string{"train", "--quiet", "--resume", out, "--workers", strconv.Itoa(1 + number%3),
			"--threads", "1"}
	}
	if got, want := hash(t, out), hash(t, whole); got != want {
		t.Errorf("after %d kills: parameters %s, want %s", kills, got, want)
	}
}

func TestSIGTERMLeavesACheckpoint(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{nil, {"--overlap-forward", "--bucket", "4096"}} {
		sigtermLeavesACheckpoint(t, flags...)
	}
}

func sigtermLeavesACheckpoint(t *testing.T, flags ...string) {
	t.Helper()
	r := start(t, append(flags, "--checkpoint-every", "1h", "--json")...)
	r.Process.Signal(syscall.SIGTERM)
	r.ends(t, job.ExitPreempted)
	found := regexp.MustCompile(`(?m)^lockstep: interrupted; the checkpoint after step (\d+) is saved, and ` +
		`lockstep train --resume .* goes on`).FindStringSubmatch(r.stderr.String())
	if found == nil {
		t.Fatalf("stderr %q", r.stderr.String())
	}
	path := filepath.Join(r.out, "checkpoints", "step-"+found[1])
	if kept, err := checkpoint.OpenCheckpoint(path); err != nil || strconv.Itoa(kept.Step) != found[1] {
		t.Errorf("checkpoint: %v, want one after step %s", err, found[1])
	}
	last, _ := strconv.Atoi(found[1])
	var s record.Summary
	if err := json.Unmarshal([]byte(r.stdout.String()), &s); err != nil || !s.IsInterrupted ||
		s.Steps < last || s.Standing.Step != last || s.Standing.Checkpoint != path ||
		s.Standing.Planned != "2000 epochs" ||
		s.Standing.Resume != "lockstep train --resume "+r.out {
		t.Errorf("%v, stdout %s", err, r.stdout.String())
	}
	c := tool(t, "train", "--quiet", "--resume", r.out, "--steps", strconv.Itoa(last+5), "--workers", "1")
	if err := c.Run(); err != nil || steps(r.out) != last+5 {
		t.Errorf("resumed: %v, %d steps, want %d: %s", err, steps(r.out), last+5, c.Stderr)
	}
}
