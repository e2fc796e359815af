package command

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// kill kills all processes of a job on a host, the agent among them.
func (s *sshHosts) kill(t *testing.T, host int) {
	t.Helper()
	for _, text := range s.processes(t, host) {
		if strings.Contains(text, "sshd") {
			continue
		}
		pid, _ := strconv.Atoi(strings.Fields(text)[0])
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

// jobs returns the folders of jobs that are on a host.
func (s *sshHosts) jobs(host int) []string {
	found, _ := filepath.Glob(filepath.Join(s.home(host), "lockstep", "jobs", "*"))
	return found
}

// A job that loses its first host ends, whatever --min-hosts is, and says where its checkpoints are. Hosts
// keep nothing else.
func TestLosingTheFirstHost(t *testing.T) {
	t.Parallel()
	s := startHosts(t, 2)
	l := s.launch(t, "--hosts", "h1,h2", "--max-restarts", "2", "--min-hosts", "1", "--", "train",
		"--epochs", "2000", "--checkpoint-every", "5")
	l.trains(t, s)
	s.kill(t, 1)
	l.ends(t, 5)
	want := regexp.MustCompile(`(?m)^lockstep: host h1 is lost: .*
lockstep: no restart: the command ran on the first host, which has the checkpoints; .*
lockstep: what the run has written stays on h1 for 30 days, in (\S+); to go on: scp -r h1:(\S+) \. and .* ` +
		`--resume (\S+)$`)
	found := want.FindStringSubmatch(l.stderr.String())
	if found == nil {
		t.Fatalf("%s, want %s", l.stderr.String(), want)
	}
	_, err := os.Stat(filepath.Join(found[1], "config.yaml"))
	if err != nil || filepath.Base(found[1]) != found[3] {
		t.Errorf("%q: %v", found, err)
	}
	s.isDeserted(t)
	if left := s.jobs(2); left != nil {
		t.Errorf("left on h2: %v", left)
	}
}
