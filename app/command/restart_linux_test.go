package command

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lockstep/app/job"
	"lockstep/app/record"
)

// What starts a run again.
const (
	byRun    = "run --max-restarts in the lab"
	byLaunch = "launch --max-restarts on one machine"
	byHosts  = "launch --max-restarts --min-hosts over ssh"
)

// mends are faults that --max-restarts mends, and loss, which needs no restart.
func mends() []fault {
	all := faults()
	isCut := func(f fault) bool { return f.name == "cut" }
	first := all[slices.IndexFunc(all, isCut)]
	first.name, first.isLong = launcherCut, true
	first.want = `.*likely cause: the launcher's host is cut off: so it is with all workers on other hosts`
	killed, early := all[0], all[0]
	killed.name, killed.isLong = "kill -9 at a loss of 30 %", true
	killed.steps, killed.lab = lossySteps, lossy
	early.name = earlyKill
	return append(all, first, killed, early)
}

// earlyKill kills rank 0, which keeps the checkpoints, before there is one.
const earlyKill = "kill -9 before a checkpoint"

// launcherCut is the cut of the host of rank 0 and of the launcher.
const launcherCut = "cut of the launcher's host"

// A run that loses a worker or a link, or in which a worker goes astray, is started again by --max-restarts
// and ends with the undisturbed parameters.
func TestFaultsThatARestartMends(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	undisturbed := map[int]string{}
	isLab := hasLab()
	for _, f := range mends() {
		if f.steps == 0 {
			f.steps = faultSteps
		}
		if f.isLong && *faultRounds == 0 {
			continue
		}
		f.undisturb(t, undisturbed)
		for _, by := range []string{byRun, byLaunch} {
			if by == byRun && !isLab || by == byLaunch && f.lab != nil ||
				*faultRounds == 0 && !isShown(f.name, by) {
				continue
			}
			t.Run(f.name+" by "+by, func(t *testing.T) {
				t.Parallel()
				for round := range max(1, *faultRounds) {
					got := f.mended(t, by, *faultSeed+uint64(round))
					if got.Resume != undisturbed[f.steps] {
						t.Errorf("seed %d: restarted, the run ends with %s, undisturbed with %s", got.Seed,
							got.Resume, undisturbed[f.steps])
					}
					got.keep(t)
				}
			})
		}
	}
}

// isShown reports whether a fault that something mends is among those of every test: one of each kind.
func isShown(fault, by string) bool {
	return by == byRun && (fault == "cut" || fault == earlyKill) || by == byLaunch && fault == "kill -9"
}

// mended strikes a random worker past a random step, or its host for some seconds, and waits for the end of
// the run, which was started again once.
func (f fault) mended(t *testing.T, by string, seed uint64) faultResult {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, uint64(len(f.name))))
	rank, step := random.IntN(faultHosts), 40+random.IntN(faultSteps/4)
	switch {
	case f.name == launcherCut, f.name == earlyKill:
		rank = 0
	case f.lab != nil && rank == 0:
		rank = 1 + random.IntN(faultHosts-1)
	}
	if f.steps == lossySteps {
		step = 1 + random.IntN(2)
	}
	from := 1500*time.Millisecond + time.Duration(random.IntN(1000))*time.Millisecond
	until := from + 8*time.Second + time.Duration(random.IntN(8000))*time.Millisecond
	result := faultResult{Fault: f.name, By: by, Seed: seed, Rank: rank, Step: step}
	r := f.startAgain(t, by, rank, step, from, until)
	pids := make([]int, faultHosts)
	for i := range pids {
		r.until(t, "its workers train", func() bool { pids[i] = r.pid(i); return pids[i] > 0 })
	}
	struck := time.Now()
	if f.strike != nil {
		r.until(t, "it is past the step", func() bool { return r.steps(rank) >= step })
		struck = time.Now()
		f.strike(t, r, rank)
	}
	r.ends(t, job.ExitOK)
	result.End = time.Since(struck).Milliseconds()
	result.Error, result.Resume = f.checkRestart(t, r, rank, pids[rank], seed), hash(t, r.out)
	for i, pid := range pids {
		if isAlive(pid) {
			t.Errorf("seed %d: rank %d, pid %d, is left", seed, i, pid)
		}
	}
	return result
}

// startAgain starts the run by what starts it again.
func (f fault) startAgain(t *testing.T, by string, rank, step int, from, until time.Duration) *running {
	t.Helper()
	out := filepath.Join(t.TempDir(), "run")
	arguments := []string{"launch", "--hosts", fmt.Sprintf("localhost:%d", faultHosts), "--max-restarts", "1",
		"--"}
	if by == byRun {
		arguments = []string{"lab", "--hosts", strconv.Itoa(faultHosts)}
		if f.lab != nil {
			arguments = append(arguments, f.lab(rank, from, until)...)
		}
		arguments = append(arguments, "--", "run", "--standalone",
			fmt.Sprintf("--nproc-per-node=%d", faultHosts), "--max-restarts=1")
	}
	group := ""
	if f.group {
		group = memoryGroup(t)
	}
	arguments = slices.Concat(arguments, faultTrain, []string{strconv.Itoa(f.steps)})
	switch {
	case f.steps == lossySteps:
		arguments = append(arguments, "--checkpoint-every", "1")
	case f.name == earlyKill:
		arguments = append(arguments, "--checkpoint-every", "100000")
	}
	return begin(t, out, group, f.variable(out, rank, step), arguments)
}

// checkRestart checks that the rank was named and the run started again, once, or not at all if nothing has
// ended it, and returns the error.
func (f fault) checkRestart(t *testing.T, r *running, rank, pid int, seed uint64) string {
	t.Helper()
	said, want := r.stderr.String(), 1
	if f.bound == 0 {
		want = 0
	}
	if n := strings.Count(said, "restart 1 of 1 from the "); n != want {
		t.Errorf("seed %d: %d restarts, want %d: %s", seed, n, want, said)
	}
	if f.name == earlyKill && !strings.Contains(said, "from the beginning: ") {
		t.Errorf("seed %d: %s, without a restart from the beginning", seed, said)
	}
	if want == 0 {
		return ""
	}
	named := fmt.Sprintf(`rank %d \(pid %d on \S+\) `, rank, pid)
	if f.name == launcherCut {
		named = `rank \d \(pid \d+ on host\d\) `
	}
	found := regexp.MustCompile(`(?m)^lockstep: (` + named + f.want + `.*)$`).FindStringSubmatch(said)
	if found == nil {
		t.Errorf("seed %d: %s, want %s%s", seed, said, named, f.want)
		return ""
	}
	return found[1]
}

// A run that is not started again after all says once where it stands, and programs get its summary: here
// the command is killed, or the data are gone when the second attempt begins.
func TestAWithheldSummaryIsPrinted(t *testing.T) {
	t.Parallel()
	check := func(t *testing.T, stdout, stderr string) {
		t.Helper()
		var s record.Summary
		if err := json.Unmarshal([]byte(stdout), &s); err != nil {
			t.Fatalf("%v: %s %s", err, stdout, stderr)
		}
		if s.Standing == nil || s.Standing.Step == 0 || strings.Count(stderr, " goes on after step ") != 1 {
			t.Errorf("%+v, %s, want where the run stands", s.Standing, stderr)
		}
	}
	arguments := []string{"train", "--steps", "20000", "--checkpoint-every", "20", "--json", "--out", "run",
		"--limit-test", "16"}
	t.Run("killed command", func(t *testing.T) {
		j := startJob(t, 1, func(int) []string { return nil }, slices.Concat(
			strings.Fields("launch --hosts localhost:2 --"), arguments)...)
		r := &running{out: filepath.Join(j.folder, "run")}
		r.until(t, "there is a checkpoint", func() bool {
			saved, _ := filepath.Glob(filepath.Join(r.out, "checkpoints", "step-*", "manifest.json"))
			return len(saved) > 0
		})
		syscall.Kill(parentOf(t, r.pid(1)), syscall.SIGKILL)
		j.ends(t, 128+int(syscall.SIGKILL))
		j.says(t, `(?m)^lockstep: host localhost: the command was killed by signal SIGKILL$`)
		check(t, j.stdout[0].String(), j.stderr[0].String())
	})
	t.Run("run", func(t *testing.T) {
		data := mnistFolder(t, 2000)
		j := startJob(t, 1, func(int) []string { return nil }, slices.Concat(
			strings.Fields("run --nproc-per-node 2 --max-restarts 1"), arguments,
			[]string{"--data", "mnist", "--data-dir", data})...)
		r := &running{out: filepath.Join(j.folder, "run")}
		r.until(t, "there is a checkpoint", func() bool {
			saved, _ := filepath.Glob(filepath.Join(r.out, "checkpoints", "step-*", "manifest.json"))
			return len(saved) > 0
		})
		if err := os.RemoveAll(data); err != nil {
			t.Fatal(err)
		}
		syscall.Kill(r.pid(1), syscall.SIGKILL)
		j.ends(t, job.ExitData)
		j.says(t, `(?m)^lockstep: restart 1 of 1 from the newest checkpoint in run$`)
		check(t, j.stdout[0].String(), j.stderr[0].String())
	})
}

// A run on this host that loses a worker in its short runs, before it has begun, is not started again, and
// leaves nothing: not in its own folder, and not in that of the short runs.
func TestALossBeforeARun(t *testing.T) {
	t.Parallel()
	scratch := t.TempDir()
	j := startJob(t, 1, func(int) []string { return []string{"TMPDIR=" + scratch} },
		strings.Fields("run --nproc-per-node 2 --max-restarts 1 train --model vgg11 --batch 16 "+
			"--limit-test 0 --out run --strategy auto")...)
	r := &running{}
	r.until(t, "a worker of a short run", func() bool {
		logs, _ := filepath.Glob(filepath.Join(scratch, ".lockstep-*", "*", "rank1.log"))
		for _, log := range logs {
			r.out = filepath.Dir(log)
		}
		return r.pid(1) > 0
	})
	syscall.Kill(r.pid(1), syscall.SIGKILL)
	j.ends(t, job.ExitPeerLost)
	j.says(t, `(?m)^lockstep: no restart: the run had not begun$`)
	left, _ := filepath.Glob(filepath.Join(scratch, "lockstep-*"))
	ours, _ := filepath.Glob(filepath.Join(j.folder, "*"))
	if text := j.stderr[0].String(); len(left)+len(ours) > 0 || strings.Contains(text, scratch) {
		t.Errorf("left %q, %q: %s", left, ours, text)
	}
}

// parentOf returns the process that has started another one.
func parentOf(t *testing.T, pid int) (parent int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "\nPPid:")
	if _, err := fmt.Sscan(after, &parent); err != nil || parent < 2 {
		t.Fatalf("process %d has no parent: %v", pid, err)
	}
	return parent
}

// A signal that comes between two attempts, or before the second can hear it, ends the run as it would end an
// attempt: with one summary, and with the status of a run that is asked to stop.
func TestSignalsBetweenAttempts(t *testing.T) {
	train := strings.Fields("train --steps 20000 --checkpoint-every 20 --json --out run --limit-test 16")
	for _, c := range []struct {
		by     string
		signal syscall.Signal
		status int
	}{
		{"run --nproc-per-node 2 --max-restarts 1", syscall.SIGINT, job.ExitInterrupted},
		{"launch --hosts localhost:2 --max-restarts 1 --", syscall.SIGTERM, job.ExitPreempted},
	} {
		t.Run(c.by, func(t *testing.T) {
			t.Parallel()
			j := startJob(t, 1, func(int) []string { return nil }, append(strings.Fields(c.by), train...)...)
			r := &running{out: filepath.Join(j.folder, "run")}
			r.until(t, "there is a checkpoint", func() bool {
				saved, _ := filepath.Glob(filepath.Join(r.out, "checkpoints", "step-*"))
				return len(saved) > 0
			})
			syscall.Kill(r.pid(1), syscall.SIGKILL)
			r.until(t, "it is started again", func() bool {
				return strings.Contains(j.stderr[0].String(), "restart 1 of 1")
			})
			if err := j.processes[0].Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			j.ends(t, c.status)
			var s record.Summary
			if err := json.Unmarshal([]byte(j.stdout[0].String()), &s); err != nil {
				t.Fatalf("%v: %s %s", err, j.stdout[0], j.stderr[0])
			}
			if s.Standing == nil || s.Standing.Step == 0 || len(s.Restarts) != 1 {
				t.Errorf("%+v, %v, want where the run stands and one restart", s.Standing, s.Restarts)
			}
			if n := strings.Count(j.stderr[0].String(), " goes on "); n != 1 {
				t.Errorf("told %d times how to go on: %s", n, j.stderr[0])
			}
		})
	}
}
