package command

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// slurm is a Slurm of one host, this machine.
type slurm struct {
	folder      string // with `lockstep` in bin
	environment []string
}

// startSlurm starts the daemons of a Slurm of its own, without root's configuration.
func startSlurm(t *testing.T) *slurm {
	t.Helper()
	for _, program := range []string{"slurmctld", "slurmd", "srun", "sbatch", "scontrol", "bash"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("no Slurm: ", err)
		}
	}
	if os.Getuid() != 0 {
		t.Skip("slurmd needs root")
	}
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	s := &slurm{folder: t.TempDir()}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(s.folder, "slurm.conf")
	text := fmt.Sprintf(`ClusterName=test
SlurmctldHost=%[1]s(127.0.0.1)
SlurmUser=root
AuthType=auth/none
CredType=cred/none
SlurmctldPort=%[3]d
SlurmdPort=%[4]d
StateSaveLocation=%[2]s/state
SlurmdSpoolDir=%[2]s/spool
SlurmctldPidFile=%[2]s/slurmctld.pid
SlurmdPidFile=%[2]s/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SwitchType=switch/none
MpiDefault=none
NodeName=%[1]s NodeAddr=127.0.0.1 CPUs=2 RealMemory=500
PartitionName=main Nodes=ALL Default=YES OverSubscribe=FORCE:8 State=UP
`, host, s.folder, freePort(t), freePort(t))
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	s.environment = append(os.Environ(), "SLURM_CONF="+config,
		"PATH="+filepath.Join(s.folder, "bin")+":"+os.Getenv("PATH"))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"state", "spool", "bin"} {
		if err := os.Mkdir(filepath.Join(s.folder, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(self, filepath.Join(s.folder, "bin", "lockstep")); err != nil {
		t.Fatal(err)
	}
	for _, daemon := range []string{"slurmctld", "slurmd"} {
		s.daemon(t, daemon)
	}
	isIdle := func() bool {
		state, _ := s.run("sinfo", "-h", "-o", "%t")
		return strings.TrimSpace(state) == "idle"
	}
	(&running{}).until(t, "the host is idle", isIdle)
	t.Cleanup(func() { // before the daemons end
		s.run("scancel", "--user=root") // fails if there is no job
		(&running{}).until(t, "all jobs have ended", isIdle)
	})
	return s
}

// daemon runs a daemon in the foreground until the test ends.
func (s *slurm) daemon(t *testing.T, name string) {
	t.Helper()
	d := exec.Command(name, "-D")
	d.Env = s.environment
	var log bytes.Buffer
	d.Stdout, d.Stderr = &log, &log
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		d.Process.Kill()
		d.Wait() // it was killed
		if t.Failed() {
			t.Logf("%s: %s", name, &log)
		}
	})
}

// freePort returns a port on which nobody listens.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// run runs a program of Slurm in the folder and returns what it says.
func (s *slurm) run(program string, args ...string) (string, error) {
	cmd := exec.Command(program, args...)
	if program == "lockstep" {
		cmd = exec.Command(filepath.Join(s.folder, "bin", "lockstep"), args...)
	}
	cmd.Dir, cmd.Env = s.folder, s.environment
	output, err := cmd.CombinedOutput()
	return string(output), err
}

// hash returns the hash of the parameters of a run.
func (s *slurm) hash(t *testing.T, run string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.folder, run, "summary.json"))
	found := regexp.MustCompile(`(?m)^  "parameter_sha256": "(\w+)"`).FindSubmatch(text)
	if err != nil || found == nil {
		t.Fatalf("no hash: %v, %.300s", err, text)
	}
	return string(found[1])
}

// srun starts workers that train as those of one command do. A job that sbatch started and Slurm asks to end
// is put into the queue again, and ends with the parameters of an undisturbed run.
func TestSlurm(t *testing.T) {
	s := startSlurm(t)
	must := func(program string, args ...string) string {
		t.Helper()
		output, err := s.run(program, args...)
		if err != nil {
			t.Fatalf("%s: %v: %s", program, err, output)
		}
		return output
	}
	train := []string{"train", "--epochs", "30", "--limit-train", "2000", "--limit-test", "20"}
	must("lockstep", append(train, "--workers", "2", "--out", "alone", "--quiet")...)
	want := s.hash(t, "alone")

	must("srun", append([]string{"-n", "2", "-O", "lockstep"},
		append(train, "--out", "srun", "--quiet")...)...)
	if got := s.hash(t, "srun"); got != want {
		t.Errorf("srun: parameters %s, want %s", got, want)
	}

	script := must("lockstep", append([]string{"generate", "slurm", "--workers", "2", "--name", "job", "--"},
		append(train, "--checkpoint-every", "1h")...)...)
	if err := os.WriteFile(filepath.Join(s.folder, "job.sh"), []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	id := strings.TrimSpace(must("sbatch", "--parsable", "job.sh"))
	run := "runs/job-" + id + "-0"
	(&running{}).until(t, "the job has done a step", func() bool {
		steps, _ := os.ReadFile(filepath.Join(s.folder, run, "steps.jsonl"))
		return bytes.Contains(steps, []byte(`"rank":0,`))
	})
	must("scancel", "--signal=USR1", id)
	is := func(state string) func() bool {
		return func() bool {
			got, _ := s.run("squeue", "-h", "-j", id, "-o", "%t")
			return strings.TrimSpace(got) == state
		}
	}
	(&running{}).until(t, "the job is in the queue again", is("PD"))
	time.Sleep(time.Second) // Slurm changes no job within a second of putting it into the queue
	must("scontrol", "update", "JobId="+id, "StartTime=now")
	(&running{}).until(t, "the job has ended", is(""))
	if got := s.hash(t, run); got != want {
		t.Errorf("sbatch: parameters %s, want %s", got, want)
	}
	log, err := os.ReadFile(filepath.Join(s.folder, "job-"+id+".log"))
	if err != nil || !bytes.Contains(log, []byte("  resumed ")) {
		t.Errorf("the job was not resumed (%v): %s", err, log)
	}
}
