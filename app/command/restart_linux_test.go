package command

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lockstep/app/job"
	"lockstep/app/launch"
)

// A run that loses a worker, or in which one goes astray, is started again by --max-restarts and ends with
// the undisturbed parameters.
func TestFaultsThatARestartMends(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	out := filepath.Join(t.TempDir(), "run")
	must(t, slices.Concat(faultTrain, []string{strconv.Itoa(faultSteps), "--out", out})...)
	undisturbed := hash(t, out)
	send := func(s syscall.Signal) func(int) { return func(pid int) { syscall.Kill(pid, s) } }
	for name, strike := range map[string]func(pid int){strays: nil, "kill -9": send(syscall.SIGKILL),
		"SIGSTOP": send(syscall.SIGSTOP), hangs: func(pid int) { mayWrite(pid, false) }} {
		if *faultRounds == 0 && (name == "SIGSTOP" || name == hangs) {
			continue // they take ten seconds
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for round := range max(1, *faultRounds) {
				restartAfter(t, name, strike, *faultSeed+uint64(round), undisturbed)
			}
		})
	}
}

// restartAfter strikes a random worker of a run past a random step, and compares what the run ends with.
func restartAfter(t *testing.T, name string, strike func(pid int), seed uint64, undisturbed string) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, uint64(len(name))))
	rank, step := random.IntN(faultHosts), 40+random.IntN(faultSteps/2)
	out := filepath.Join(t.TempDir(), "run")
	variable := fmt.Sprintf("%s=%d", hangRank, rank)
	if strike == nil {
		variable = fmt.Sprintf("%s=%d:%d:%s", strayAt, rank, step, strayFile(out))
	}
	r := begin(t, out, "", variable, slices.Concat([]string{"launch", "--hosts",
		fmt.Sprintf("localhost:%d", faultHosts), "--max-restarts", "1", "--"}, faultTrain,
		[]string{strconv.Itoa(faultSteps)}))
	r.until(t, "its workers train", func() bool { return r.pid(0) > 0 && r.pid(1) > 0 })
	if strike != nil {
		r.until(t, "it is past the step", func() bool { return r.steps(rank) >= step })
		strike(r.pid(rank))
	}
	r.ends(t, job.ExitOK)
	if !strings.Contains(r.stderr.String(), "restart 1 of 1 from the newest checkpoint in ") {
		t.Errorf("seed %d: no restart: %s", seed, r.stderr.String())
	}
	if got := hash(t, out); got != undisturbed {
		t.Errorf("seed %d: restarted, the run ends with %s, undisturbed with %s", seed, got, undisturbed)
	}
}

// A host whose agent is stopped is lost, and left out of the next attempt.
func TestAHostIsLostWithItsAgent(t *testing.T) {
	s := startHosts(t, 2)
	arguments := []string{"train", "--steps", "300", "--shards", "6", "--checkpoint-every", "20",
		"--quiet", "--json"}
	status, want, stderr := execute(append(arguments, "--out", filepath.Join(t.TempDir(), "one"))...)
	if status != 0 {
		t.Fatal(stderr)
	}
	l := s.launch(t, append([]string{"--hosts", "h1:2,h2:1", "--max-restarts", "2", "--min-hosts", "1", "--"},
		arguments...)...)
	checkpoints := filepath.Join(s.home(1), "lockstep", "jobs", "*", "runs", "*", "checkpoints", "*", "*")
	waitFor(t, "a checkpoint", func() bool {
		found, _ := filepath.Glob(checkpoints)
		return len(found) > 0
	})
	var stopped []int
	for _, word := range []string{" agent", " worker"} { // the agent first: it would tell of the worker
		for _, text := range s.processes(t, 2) {
			pid, _ := strconv.Atoi(strings.Fields(text)[0])
			switch {
			case !strings.HasSuffix(strings.TrimSpace(text), word):
			case word == " agent":
				stopped = append(stopped, pid)
				syscall.Kill(pid, syscall.SIGSTOP)
			default:
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
	l.ends(t, 0)
	for _, pid := range stopped {
		syscall.Kill(pid, syscall.SIGCONT)
	}
	if got := hashIn(l.stdout.String()); got != hashIn(want) {
		t.Errorf("hash %s, want %s", got, hashIn(want))
	}
	for _, want := range []string{"restart 1 of 2 ", "lost host h2; "} {
		if !strings.Contains(l.stderr.String(), want) {
			t.Errorf("%s, without %q", l.stderr.String(), want)
		}
	}
	s.isDeserted(t, 13*time.Second)
}

// A host other than the first that is lost before an attempt has begun ends that attempt, not the job.
func TestHostsThatAreLostBeforeAnAttempt(t *testing.T) {
	f := launchFlags{}
	for _, name := range []string{"a", "b", "c"} {
		f.agents = append(f.agents, &launch.Connection{Host: launch.Host{Name: name}})
	}
	for _, test := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{&launch.HostError{Host: "a", IsLost: true}, 0},
		{&launch.HostError{Host: "c", IsLost: true}, 2},
		{fmt.Errorf("begin: %w", &launch.HostError{Host: "b", IsLost: true}), 1},
		{&launch.HostError{Host: "b"}, 0},
		{&launch.HostError{Host: "d", IsLost: true}, 0},
		{&launch.AskError{Host: "b"}, 0},
	} {
		if got := f.other(test.err); got != test.want {
			t.Errorf("%v: host %d, want %d", test.err, got, test.want)
		}
	}
}
