//go:build unix

package command

import (
	"bytes"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"lockstep/app/job"
)

// running is a run with two workers that lasts until somebody ends it.
type running struct {
	*exec.Cmd
	out    string
	group  string // folder of its control group, if it has one of its own
	stdout shared
	stderr shared
}

// shared holds what a process writes, to be read meanwhile.
type shared struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *shared) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func start(t *testing.T, more ...string) *running {
	t.Helper()
	r := &running{out: filepath.Join(t.TempDir(), "run")}
	if !slices.Contains(more, "--for") {
		more = append(more, "--epochs", "2000")
	}
	r.started(t, tool(t, append([]string{"train", "--workers", "2", "--out", r.out}, more...)...))
	r.until(t, "both workers train", func() bool { return r.pid(0) > 0 && r.pid(1) > 0 })
	// Rank 0 keeps the checkpoints; another rank may end the first step before it.
	r.until(t, "rank 0 has done a step", func() bool {
		steps, _ := os.ReadFile(filepath.Join(r.out, "steps.jsonl"))
		return bytes.Contains(steps, []byte(`"rank":0,`))
	})
	return r
}

// started starts the process of the run, which ends with the test at the latest.
func (r *running) started(t *testing.T, c *exec.Cmd) {
	t.Helper()
	r.Cmd = c
	r.Stdout, r.Stderr = &r.stdout, &r.stderr
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Process.Kill() }) // it has ended, unless the test failed
}

// pid returns a worker's process, as its log says; 0 if it does not yet.
func (r *running) pid(rank int) int { return r.pidIn("rank" + strconv.Itoa(rank) + ".log") }

// pidIn returns the process that a log names; 0 if it does not yet.
func (r *running) pidIn(name string) int {
	log, _ := os.ReadFile(filepath.Join(r.out, name))
	found := regexp.MustCompile(`pid (\d+)`).FindSubmatch(log)
	if found == nil {
		return 0
	}
	pid, _ := strconv.Atoi(string(found[1]))
	return pid
}

func (r *running) until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(60 * time.Second); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s; stderr: %s", what, r.stderr.String())
		}
	}
}

// ends waits for the launcher and checks its status and that no worker is left.
func (r *running) ends(t *testing.T, status int) {
	t.Helper()
	pids := []int{r.pid(0), r.pid(1)}
	r.Wait() // the status is checked below
	if got := r.ProcessState.ExitCode(); got != status {
		t.Errorf("exit status %d, want %d; stderr: %s", got, status, r.stderr.String())
	}
	for _, pid := range pids {
		r.until(t, "the workers end", func() bool { return !isAlive(pid) })
	}
	if strings.Contains(r.stderr.String(), "goroutine ") {
		t.Errorf("a stack on stderr: %s", r.stderr.String())
	}
}

// stop stops a worker, and returns once it stands still.
func (r *running) stop(t *testing.T, rank int) {
	t.Helper()
	pid := r.pid(rank)
	syscall.Kill(pid, syscall.SIGSTOP)
	r.until(t, "the worker is stopped", func() bool {
		state, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		return err != nil || strings.Contains(string(state), ") T ")
	})
}

// isAlive reports whether the process runs: one that has ended but has not been waited for, by
// an init process that does not care, does not.
func isAlive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	state, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || !strings.Contains(string(state), ") Z ")
}

func TestKilledWorkerEndsTheRun(t *testing.T) {
	r := start(t)
	pid := r.pid(1)
	syscall.Kill(pid, syscall.SIGKILL)
	r.ends(t, job.ExitPeerLost)
	want := `(?m)^lockstep: rank 1 \(pid ` + strconv.Itoa(pid) + ` on .*\) was killed by signal ` +
		`SIGKILL after step \d+, phase \w+(, waiting for .*)? ` +
		`\(its output: .*rank1\.log\); rank 0: .* peer rank 1: .* ` +
		`\([\w ]+, \d+ bytes; \d+ of the next \d+ received\)$`
	if !regexp.MustCompile(want).MatchString(r.stderr.String()) {
		t.Errorf("stderr %q, want %s", r.stderr.String(), want)
	}
}

// A server in a process of its own is named as one when it is killed.
func TestKilledServerEndsTheRun(t *testing.T) {
	r := start(t, "--strategy", "ps", "--servers", "2", "--server-place", "apart", "--eval-every", "0")
	pid := r.pidIn("server1.log")
	syscall.Kill(pid, syscall.SIGKILL)
	r.ends(t, job.ExitPeerLost)
	want := `(?m)^lockstep: server 1 \(rank 3, pid ` + strconv.Itoa(pid) + ` on .*\) was killed by signal ` +
		`SIGKILL after step \d+, phase \w+(, waiting for .*)? ` +
		`\(its output: .*server1\.log\); rank 0: .* lost server 1 ` +
		`\(rank 3\)`
	if !regexp.MustCompile(want).MatchString(r.stderr.String()) {
		t.Errorf("stderr %q, want %s", r.stderr.String(), want)
	}
	for _, name := range []string{"server0.log", "server1.log"} {
		r.until(t, "the servers end", func() bool { return !isAlive(r.pidIn(name)) })
	}
}

// A stopped worker is the culprit, not the one that waits for it, and is found within six seconds of its
// silence, whatever the length of the run is.
func TestStoppedWorkerIsNamed(t *testing.T) {
	t.Parallel()
	r := start(t, "--for", "1h")
	pid := r.pid(1)
	syscall.Kill(pid, syscall.SIGSTOP)
	began := time.Now()
	r.ends(t, job.ExitPeerLost)
	if waited := time.Since(began); waited > time.Minute {
		t.Errorf("took %v", waited)
	}
	want := `(?m)^lockstep: rank 1 \(pid ` + strconv.Itoa(pid) + ` on .*\) is stopped by a signal and has ` +
		`given no sign of life for \d.*s after step \d+, phase \w+(, waiting for .*)? \(its output: .*\); ` +
		`rank 0 waits for it in all-\w+ ` +
		`\([\w ]+, \d+ bytes.*\)$`
	if !regexp.MustCompile(want).MatchString(r.stderr.String()) {
		t.Errorf("stderr %q, want %s", r.stderr.String(), want)
	}
}

// Rank 0 saves checkpoints; that it cannot while it is stopped, the last words say.
func TestTerminatedWithAStoppedWorker(t *testing.T) {
	t.Parallel()
	r := start(t, "--checkpoint-every", "1h")
	r.stop(t, 0)
	r.Process.Signal(syscall.SIGTERM)
	began := time.Now()
	r.ends(t, job.ExitInterrupted)
	if waited := time.Since(began); waited > time.Minute {
		t.Errorf("took %v", waited)
	}
	want := `(?m)^lockstep: interrupted; no checkpoint was saved: rank 0 \(pid \d+ on .*\) is stopped ` +
		`by a signal .*$`
	if !regexp.MustCompile(want).MatchString(r.stderr.String()) {
		t.Errorf("stderr %q, want %s", r.stderr.String(), want)
	}
	page, err := os.ReadFile(filepath.Join(r.out, "report.html"))
	if err != nil || !bytes.Contains(page, []byte("2 workers × 1 thread, ended early</h1>")) {
		t.Errorf("report: %v, %.1000s", err, page)
	}
}

func TestInterruptStopsEverything(t *testing.T) {
	r := start(t)
	r.Process.Signal(os.Interrupt)
	r.ends(t, job.ExitInterrupted)
	if !strings.HasSuffix(r.stderr.String(), "lockstep: interrupted; all workers have stopped\n") {
		t.Errorf("stderr %q", r.stderr.String())
	}
}

func TestSecondInterruptIsImmediate(t *testing.T) {
	r := start(t)
	r.stop(t, 0) // it cannot stop in good order
	r.Process.Signal(os.Interrupt)
	r.until(t, "the launcher has noticed", func() bool {
		return strings.Contains(r.stderr.String(), "press Ctrl-C again")
	})
	time.Sleep(tapTime) // before that it is an echo
	r.Process.Signal(os.Interrupt)
	r.ends(t, job.ExitInterrupted)
	// Had it waited for rank 0, that would be the last word.
	if !strings.HasSuffix(r.stderr.String(), "lockstep: quit; nothing more is saved\n") {
		t.Errorf("stderr %q", r.stderr.String())
	}
}

func TestNoWorkerOutlivesAKilledLauncher(t *testing.T) {
	r := start(t)
	r.Process.Kill()
	r.ends(t, -1)
}

// Workers that average go on to their next average.
func TestAveragingRunStopsAfterItsAverage(t *testing.T) {
	r := start(t, "--strategy", "diloco", "--average-every", "50", "--optimizer", "adamw", "--lr", "0.002",
		"--checkpoint-every", "1h", "--quiet")
	r.Process.Signal(os.Interrupt)
	r.ends(t, job.ExitInterrupted)
	text := r.stderr.String()
	if strings.Contains(text, "memory: ") ||
		!strings.Contains(text, "lockstep: interrupted; the checkpoint after step ") {
		t.Errorf("stderr %q", text)
	}
}

// A terminal that is closed asks a run to stop, as Ctrl-C does, unless it was to survive that.
func TestClosedTerminal(t *testing.T) {
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGHUP) // nohup makes tests ignore it, and what they start
	defer signal.Stop(heard)
	r := start(t, "--checkpoint-every", "1h")
	r.Process.Signal(syscall.SIGHUP)
	r.ends(t, job.ExitInterrupted)
	text := r.stderr.String()
	if !strings.Contains(text, "lockstep: interrupted; the checkpoint after step ") {
		t.Errorf("stderr %q", text)
	}
}
