//go:build unix

package command

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lockstep/app/job"
	"lockstep/cluster"
	"lockstep/cluster/clustertest"
	"lockstep/cluster/pass"
	"lockstep/compute"
)

// jobOf is a job of which another launcher has started the processes.
type jobOf struct {
	folder    string
	processes []*exec.Cmd // by rank
	stdout    []*shared
	stderr    []*shared
}

// startJob starts processes with the environment that environment returns for each rank.
func startJob(t *testing.T, world int, environment func(rank int) []string, args ...string) *jobOf {
	t.Helper()
	j := &jobOf{folder: t.TempDir()}
	for rank := range world {
		j.start(t, environment(rank), args...)
	}
	return j
}

// start starts the process of the next rank.
func (j *jobOf) start(t *testing.T, environment []string, args ...string) {
	t.Helper()
	cmd, stdout, stderr := tool(t, args...), &shared{}, &shared{}
	cmd.Dir, cmd.Stdout, cmd.Stderr = j.folder, stdout, stderr
	cmd.Env = append(os.Environ(), environment...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() }) // it has ended, unless the test failed
	j.processes = append(j.processes, cmd)
	j.stdout, j.stderr = append(j.stdout, stdout), append(j.stderr, stderr)
}

// nameOfJob returns a name that no other job of this machine has, also if somebody runs the same test.
func nameOfJob(t *testing.T) string { return fmt.Sprintf("%s-%d", t.Name(), os.Getpid()) }

// openMPI is the environment of a process that Open MPI's mpirun has started.
func openMPI(t *testing.T, world int) func(rank int) []string {
	return func(rank int) []string {
		return []string{fmt.Sprintf("OMPI_COMM_WORLD_RANK=%d", rank),
			fmt.Sprintf("OMPI_COMM_WORLD_SIZE=%d", world),
			fmt.Sprintf("OMPI_COMM_WORLD_LOCAL_SIZE=%d", world), "PMIX_NAMESPACE=" + nameOfJob(t)}
	}
}

// ends waits for all processes and checks their status; less than 0 is a signal.
func (j *jobOf) ends(t *testing.T, want ...int) {
	t.Helper()
	for rank, cmd := range j.processes {
		cmd.Wait() // the status is checked below
		if got := cmd.ProcessState.ExitCode(); got != want[min(rank, len(want)-1)] {
			t.Errorf("rank %d: status %d, want %v; stderr: %s", rank, got, want, j.stderr[rank])
		}
	}
}

// untilTraining waits until rank 0 has done a step.
func (j *jobOf) untilTraining(t *testing.T) {
	t.Helper()
	r := &running{out: filepath.Join(j.folder, "run")}
	r.until(t, "rank 0 has done a step", func() bool {
		steps, _ := os.ReadFile(filepath.Join(r.out, "steps.jsonl"))
		return bytes.Contains(steps, []byte(`"rank":0,`))
	})
}

// says checks that the last lines of rank 0 are as wanted, and that the others have said nothing.
func (j *jobOf) says(t *testing.T, want string) {
	t.Helper()
	if text := j.stderr[0].String(); !regexp.MustCompile(want).MatchString(text) {
		t.Errorf("rank 0 says %q, want %s", text, want)
	}
	for rank, stderr := range j.stderr[1:] {
		if text := stderr.String(); text != "" {
			t.Errorf("rank %d says %q", rank+1, text)
		}
	}
}

var shortRun = []string{"train", "--steps", "4", "--limit-train", "64", "--limit-test", "16", "--batch", "16",
	"--shards", "4", "--out", "run", "--quiet"}

// longRun lasts until somebody ends it.
var longRun = []string{"train", "--epochs", "2000", "--checkpoint-every", "1h", "--out", "run", "--quiet"}

// parametersOf returns the hash of the parameters at the end of the run in folder/run.
func parametersOf(t *testing.T, folder string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "run", "summary.json"))
	found := regexp.MustCompile(`(?m)^  "parameter_sha256": "(\w+)"`).FindSubmatch(text)
	if err != nil || found == nil {
		t.Fatalf("no hash: %v, %.300s", err, text)
	}
	return string(found[1])
}

// Processes that another launcher has started train the same as workers of one machine, by shared memory,
// and over encrypted or plain TCP with a token where the hosts are not known to be one. The token is in
// no file and no argument.
func TestJoiningTrainsTheSame(t *testing.T) {
	t.Parallel()
	token := newToken(t)
	jobs := map[string]func(rank int) []string{
		"Open MPI": openMPI(t, 3),
		"torchrun": func(rank int) []string {
			return []string{fmt.Sprintf("RANK=%d", rank), "WORLD_SIZE=3", fmt.Sprintf("LOCAL_RANK=%d", rank),
				"LOCAL_WORLD_SIZE=3", "MASTER_ADDR=localhost", "MASTER_PORT=1",
				"TORCHELASTIC_RUN_ID=" + nameOfJob(t)}
		},
		"Slurm": func(rank int) []string {
			return []string{fmt.Sprintf("SLURM_PROCID=%d", rank), "SLURM_STEP_NUM_TASKS=3", "SLURM_JOB_ID=77",
				"SLURM_STEP_NUM_NODES=1", fmt.Sprintf("SLURM_STEP_ID=%d", os.Getpid()),
				"SLURM_CPUS_PER_TASK=1"}
		},
		"three hosts": func(rank int) []string {
			return []string{fmt.Sprintf("PET_NODE_RANK=%d", rank), "PET_NNODES=3", "PET_NPROC_PER_NODE=1",
				"PET_MASTER_ADDR=127.0.0.1",
				fmt.Sprintf("PET_MASTER_PORT=%d", meetingPort(0)), token}
		},
	}
	alone := startJob(t, 1, func(int) []string { return nil }, append(shortRun, "--workers", "3")...)
	alone.ends(t, job.ExitOK)
	want := parametersOf(t, alone.folder)
	jobs["three hosts --insecure"] = jobs["three hosts"]
	jobs["three processors"] = func(rank int) []string { // as far as this one can stand for others
		paths := compute.Supported()
		return append(jobs["three hosts"](rank), fmt.Sprintf("%s=%v", cluster.EnvISA, paths[rank%len(paths)]))
	}
	for name, environment := range jobs {
		t.Run(name, func(t *testing.T) {
			args, encryption := slices.Clone(shortRun), "not needed (one host)"
			if strings.HasSuffix(name, "--insecure") {
				args, encryption = append(args, "--insecure"), "none"
			} else if strings.HasPrefix(name, "three ") {
				encryption = "tls"
			}
			j := startJob(t, 3, environment, args...)
			j.ends(t, job.ExitOK)
			if got := parametersOf(t, j.folder); got != want {
				t.Errorf("parameters %s, want %s", got, want)
			}
			j.isEncrypted(t, encryption)
			if name == "three processors" {
				j.usesAllPaths(t)
			}
		})
	}
}

// usesAllPaths checks that the summary names the kernel paths of all workers.
func (j *jobOf) usesAllPaths(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(j.folder, "run", "summary.json"))
	for _, path := range compute.Supported() {
		if !regexp.MustCompile(fmt.Sprintf(`(?m)^  "isa": "[a-z0-9, ]*\b%v\b`, path)).Match(text) {
			t.Errorf("no worker used %v: %v, %.300s", path, err, text)
		}
	}
}

// isEncrypted checks what the summary and the report say about the links, and that no secret was left.
func (j *jobOf) isEncrypted(t *testing.T, want string) {
	t.Helper()
	for rank, text := range j.stderr {
		path := filepath.Join(j.folder, fmt.Sprintf("stderr%d", rank))
		if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if found := clustertest.Leaks([]string{j.folder}); len(found) > 0 {
		t.Errorf("secrets are in %q", found)
	}
	summary, err := os.ReadFile(filepath.Join(j.folder, "run", "summary.json"))
	if err != nil || !strings.Contains(string(summary), `"encryption": "`+want+`"`) {
		t.Errorf("the summary does not say that encryption was %q: %v", want, err)
	}
	report, err := os.ReadFile(filepath.Join(j.folder, "run", "report.md"))
	isCaution := strings.Contains(string(report), "links between hosts were not encrypted (--insecure)")
	if err != nil || isCaution != (want == "none") {
		t.Errorf("encryption %q: the report has a caution: %v (%v)", want, isCaution, err)
	}
	if isWarning := strings.Contains(j.stderr[0].String(), "warning: --insecure: "); isWarning != isCaution {
		t.Errorf("encryption %q: rank 0 says %q", want, j.stderr[0])
	}
}

// An error of rank 0 is told once, and is the status of all.
func TestJoinersEndWithRankZero(t *testing.T) {
	j := startJob(t, 3, openMPI(t, 3), append(shortRun, "--model", "lenett")...)
	j.ends(t, job.ExitUsage)
	j.says(t, `^lockstep: --model: unknown model "lenett"`)
}

// One that dies is named by rank 0, and the others end with the status of a lost peer.
func TestADeadJoinerIsNamed(t *testing.T) {
	t.Parallel()
	j := startJob(t, 3, openMPI(t, 3), longRun...)
	j.untilTraining(t)
	pid := j.processes[1].Process.Pid
	j.processes[1].Process.Kill()
	j.ends(t, job.ExitPeerLost, -1, job.ExitPeerLost)
	j.says(t, `(?m)^lockstep: rank 1 \(pid `+strconv.Itoa(pid)+` on .*\) was lost after step \d+, phase \w+`)
}

// One that is stopped is named too, and does not outlive the job.
func TestAStoppedJoinerIsNamedAndKilled(t *testing.T) {
	t.Parallel()
	j := startJob(t, 2, openMPI(t, 2), longRun...)
	j.untilTraining(t)
	pid := j.processes[1].Process.Pid
	syscall.Kill(pid, syscall.SIGSTOP)
	j.ends(t, job.ExitPeerLost, -1)
	j.says(t, `(?m)^lockstep: rank 1 \(pid `+strconv.Itoa(pid)+
		` on .*\) is stopped by a signal and has given no sign of life`)
}

// Without rank 0 the others end.
func TestJoinersEndWithoutRankZero(t *testing.T) {
	t.Parallel()
	j := startJob(t, 3, openMPI(t, 3), longRun...)
	j.untilTraining(t)
	j.processes[0].Process.Kill()
	j.ends(t, -1, job.ExitPeerLost)
}

// A signal of a scheduler leaves a checkpoint and the status that asks for a requeue, whichever processes
// receive it, even the worker that rank 0 has started.
func TestJoinersArePreempted(t *testing.T) {
	t.Parallel()
	for name, signal := range map[string]func(j *jobOf){
		"SIGUSR1 for all": func(j *jobOf) {
			for _, p := range j.processes {
				p.Process.Signal(syscall.SIGUSR1)
			}
			syscall.Kill((&running{out: filepath.Join(j.folder, "run")}).pid(0), syscall.SIGUSR1)
		},
		"SIGTERM for one": func(j *jobOf) { j.processes[1].Process.Signal(syscall.SIGTERM) },
	} {
		t.Run(name, func(t *testing.T) {
			j := startJob(t, 2, openMPI(t, 2), longRun...)
			j.untilTraining(t)
			signal(j)
			j.ends(t, job.ExitPreempted)
			j.says(t, `lockstep: interrupted; the checkpoint after step \d+ is saved`)
		})
	}
}

// Another token keeps a process out; rank 0 waits for one with the right token.
func TestJoiningNeedsTheToken(t *testing.T) {
	t.Parallel()
	environment := func(rank int) []string {
		return []string{fmt.Sprintf("RANK=%d", rank), "WORLD_SIZE=2", "LOCAL_WORLD_SIZE=1",
			"MASTER_ADDR=127.0.0.1", fmt.Sprintf("MASTER_PORT=%d", meetingPort(1)),
			newToken(t)}
	}
	j := startJob(t, 2, environment, shortRun...)
	j.processes[1].Wait() // the status is checked below
	(&running{}).until(t, "rank 0 has said whom it refused", func() bool {
		return strings.Contains(j.stderr[0].String(), "refused a process at 127.0.0.1:")
	})
	j.processes[0].Process.Kill()
	j.ends(t, -1, job.ExitRendezvous)
	if text := j.stderr[1].String(); !strings.Contains(text, "the token is of another run; give all") {
		t.Errorf("rank 1 says %q", text)
	}
}

// meetingPort returns a port for a test with that number. It is below those that the system gives to
// connections, which are not free at any moment.
func meetingPort(number int) int { return 10000 + 5000*number + os.Getpid()%5000 }

// newToken returns the variable with a token.
func newToken(t *testing.T) string {
	t.Helper()
	token, err := pass.NewToken(time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return cluster.EnvToken + "=" + token.Reveal()
}

// On each of two hosts an agent starts two workers.
func TestRunOnTwoHosts(t *testing.T) {
	t.Parallel()
	alone := startJob(t, 1, func(int) []string { return nil }, append(shortRun, "--workers", "4")...)
	alone.ends(t, job.ExitOK)
	token := newToken(t)
	environment := func(rank int) []string {
		return []string{fmt.Sprintf("PET_NODE_RANK=%d", rank), token}
	}
	j := startJob(t, 2, environment, append([]string{"run", "--nnodes", "2", "--nproc-per-node", "2",
		"--rdzv-endpoint", fmt.Sprintf("127.0.0.1:%d", meetingPort(2))}, shortRun...)...)
	j.ends(t, job.ExitOK)
	if got, want := parametersOf(t, j.folder), parametersOf(t, alone.folder); got != want {
		t.Errorf("parameters %s, want %s", got, want)
	}
}

// Strangers at the port of a job that starts keep nobody out and change nothing. Once it trains, the port is
// closed.
func TestStrangersAtTheMeeting(t *testing.T) {
	alone := startJob(t, 1, func(int) []string { return nil }, append(shortRun, "--workers", "2")...)
	alone.ends(t, job.ExitOK)
	address := fmt.Sprintf("127.0.0.1:%d", meetingPort(3))
	token := newToken(t)
	environment := func(rank int) []string {
		host, port, _ := strings.Cut(address, ":")
		return []string{fmt.Sprintf("RANK=%d", rank), "WORLD_SIZE=2", "LOCAL_WORLD_SIZE=1",
			"MASTER_ADDR=" + host, "MASTER_PORT=" + port, token}
	}
	j := &jobOf{folder: t.TempDir()}
	j.start(t, environment(0), shortRun...)
	r := &running{}
	r.until(t, "rank 0 listens", func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	run := strings.Split(token, ".")[1]
	says := []string{"", "GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
		"lockstep/1 ffffffffffffffffffffffffffffffff\n", strings.Repeat("\xff", 1<<16),
		"lockstep/2 " + run + "\n", "lockstep/2 " + run + "\n\x16\x03\x01\x40\x00\x01\xff\xff\xff"}
	for i := range 1000 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conn.Write([]byte(says[i%len(says)])) // fails if it was thrown out
	}
	j.start(t, environment(1), shortRun...)
	j.ends(t, job.ExitOK)
	if got, want := parametersOf(t, j.folder), parametersOf(t, alone.folder); got != want {
		t.Errorf("parameters %s, want %s", got, want)
	}
	if conn, err := net.Dial("tcp", address); err == nil {
		conn.Close()
		t.Error("the port is still open")
	}
}

// A process that was started with other settings is refused, with the settings, and the job goes on with its
// own. A number of workers that is not that of the processes is refused by all; one that is, is explained.
func TestJoinersHaveTheSameSettings(t *testing.T) {
	environment := openMPI(t, 2)
	j := startJob(t, 1, environment, append(shortRun, "--workers", "2")...)
	j.start(t, environment(1), append(shortRun, "--seed", "2", "--model", "resnet20")...)
	other := j.processes[1]
	other.Wait() // the status is checked below
	want := "is of another job: --model resnet20 (rank 0: left out), --seed 2 (rank 0: left out)"
	if got := other.ProcessState.ExitCode(); got != job.ExitRendezvous ||
		!strings.Contains(j.stderr[1].String(), want) {
		t.Errorf("status %d: %s", got, j.stderr[1])
	}
	j.processes = j.processes[:1]
	j.start(t, environment(1), append(shortRun, "--out", "elsewhere", "--threads", "1")...)
	j.ends(t, job.ExitOK)
	for _, want := range []string{"refused a process: rank 1", want,
		"note: --workers 2 are the processes that Open MPI has started; no others are started"} {
		if text := j.stderr[0].String(); !strings.Contains(text, want) {
			t.Errorf("rank 0 says %q, want %q", text, want)
		}
	}
	j = startJob(t, 2, environment, append(shortRun, "--workers", "3")...)
	j.ends(t, job.ExitUsage)
	if text := j.stderr[1].String(); !strings.Contains(text,
		"the command line says --workers=3 but Open MPI says OMPI_COMM_WORLD_SIZE=2") {
		t.Errorf("rank 1 says %q", text)
	}
}
