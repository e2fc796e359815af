package command

import (
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lockstep/app/launch"
	"lockstep/app/record"
)

// mnistFolder makes a data folder with so many training images of noise, which no codec makes smaller.
func mnistFolder(t *testing.T, numTrain int) string {
	t.Helper()
	folder := t.TempDir()
	random := rand.NewChaCha8([32]byte{1})
	write := func(name string, n int, axes ...int) {
		size := n
		content := binary.BigEndian.AppendUint32(nil, uint32(0x0801+len(axes)))
		content = binary.BigEndian.AppendUint32(content, uint32(n))
		for _, axis := range axes {
			content, size = binary.BigEndian.AppendUint32(content, uint32(axis)), size*axis
		}
		body := make([]byte, size)
		random.Read(body)
		if len(axes) == 0 {
			for i := range body {
				body[i] %= 10
			}
		}
		path := filepath.Join(folder, "mnist", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(content, body...), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("train-images-idx3-ubyte", numTrain, 28, 28)
	write("train-labels-idx1-ubyte", numTrain)
	write("t10k-images-idx3-ubyte", 200, 28, 28)
	write("t10k-labels-idx1-ubyte", 200)
	return folder
}

// A data set reaches the hosts that lack it, once. A cut is named, and the next start goes on; a host with
// another version or without room is named too.
func TestDataReachesTheHosts(t *testing.T) {
	t.Parallel()
	s := startHosts(t, 2)
	const numTrain = 15_000 // 11 MB
	folder := mnistFolder(t, numTrain)
	s.console = append(s.console, "LOCKSTEP_DATA="+folder)
	train := func(out string) *launched {
		return s.launch(t, "--hosts", "h1,h2", "--", "train", "--data", "mnist", "--data-dir", folder,
			"--steps", "3", "--shards", "2", "--limit-test", "100", "--json", "--out",
			filepath.Join(folder, out))
	}
	at := func(host int, name string) string {
		return filepath.Join(s.home(host), "lockstep", "data", "mnist", name)
	}
	status, want, stderr := execute("train", "--data", "mnist", "--data-dir", folder, "--steps", "3",
		"--shards",
		"2", "--limit-test", "100", "--quiet", "--json", "--out", filepath.Join(t.TempDir(), "one"))
	if status != 0 {
		t.Fatal(stderr)
	}

	s.in(t, 0, "tc", "qdisc", "add", "dev", "port2", "root", "tbf", "rate", "40mbit", "burst", "64kb",
		"latency",
		"50ms")
	l := train("first")
	images := at(2, "train-images-idx3-ubyte")
	kept := s.cut(t, filepath.Join(s.home(2), "lockstep", "data"))
	l.ends(t, 4)
	if want := "host h2: sending files broke off"; !strings.Contains(l.stderr.String(), want) {
		t.Errorf("%s, want %s", l.stderr.String(), want)
	}
	l = train("first")
	l.ends(t, 0)
	if got := hashIn(l.stdout.String()); got != hashIn(want) {
		t.Errorf("hash %s, want %s", got, hashIn(want))
	}
	original, _ := os.ReadFile(filepath.Join(folder, "mnist", "train-images-idx3-ubyte"))
	if sent, err := os.ReadFile(images); err != nil || string(sent) != string(original) || kept == 0 {
		t.Errorf("%d bytes, %v, after a cut at %d", len(sent), err, kept)
	}
	if !strings.Contains(l.stderr.String(), "host h2: 12 MiB of data sets were sent to it") {
		t.Errorf("it is not said that data was sent: %s", l.stderr.String())
	}
	text, err := os.ReadFile(filepath.Join(folder, "first", "host.json"))
	var described record.RunHost
	if err != nil || json.Unmarshal(text, &described) != nil || described.Preflight == nil ||
		len(described.Preflight.Hosts) != 2 || described.Preflight.Hosts[1].Address != address(2) {
		t.Errorf("host.json: %v, %s", err, text)
	}
	page, err := os.ReadFile(filepath.Join(folder, "first", "report.html"))
	if err != nil || !strings.Contains(string(page), "reached at "+address(2)) {
		t.Errorf("the report does not tell of the hosts: %v", err)
	}

	s.write(t, at(2, "t10k-labels-idx1-ubyte"), "another version")
	l = train("second")
	l.ends(t, 3)
	for _, part := range []string{"host h2: " + at(2, "t10k-labels-idx1-ubyte") +
		" is another version: sha256 ",
		" there, ", " here"} {
		if !strings.Contains(l.stderr.String(), part) {
			t.Errorf("no %q in %s", part, l.stderr.String())
		}
	}
	s.noRoom(t)
	s.isDeserted(t)
}

// noRoom lets host 1 have a full disk.
func (s *sshHosts) noRoom(t *testing.T) {
	t.Helper()
	disk := filepath.Join(s.home(1), "lockstep", "data")
	if err := os.RemoveAll(disk); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(disk, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=8m"); err != nil {
		t.Skip("no small disk: ", err)
	}
	defer syscall.Unmount(disk, 0)
	l := s.launch(t, "--hosts", "h1,localhost", "--", "train", "--data", "mnist")
	l.ends(t, 3)
	keepRefusal(t, "full disk: data set", "", 3, time.Since(l.began), l.stderr.String())
	want := "host h1: no room for the files in " + disk + ": free some, or set XDG_CACHE_HOME there"
	if !strings.Contains(l.stderr.String(), want) {
		t.Errorf("no %q in %s", want, l.stderr.String())
	}
	if left, _ := filepath.Glob(filepath.Join(disk, "*", "*")); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// cut kills the process that receives files into a folder when a part of one is there, and returns the size
// of that.
func (s *sshHosts) cut(t *testing.T, folder string) int64 {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for ; time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		arriving, _ := filepath.Glob(filepath.Join(folder, ".lockstep-arriving-*", "file"))
		if len(arriving) == 0 {
			continue
		}
		info, err := os.Stat(arriving[0])
		if err != nil || info.Size() < 1<<20 {
			continue
		}
		for _, text := range s.processes(t, 2) {
			number, line, _ := strings.Cut(text, " ")
			if pid, err := strconv.Atoi(number); err == nil && strings.Contains(line,
				"lockstep "+launch.ReceiveArgument) {
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		return info.Size()
	}
	t.Error("nothing was received")
	return 0
}

// doctor examines hosts from the console and returns what it has printed, with the status.
func (s *sshHosts) doctor(t *testing.T, arguments ...string) (stdout, stderr string, status int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	argv := append(s.enter(0, self, "doctor", "--ssh", "ssh -F "+filepath.Join(s.folder, "ssh_config")),
		arguments...)
	c := exec.Command(argv[0], argv[1:]...)
	var out, errs shared
	c.Env, c.Stdout, c.Stderr = s.console, &out, &errs
	c.Run() // the status tells
	return out.String(), errs.String(), c.ProcessState.ExitCode()
}

// doctor over ssh: sound hosts, an address that both have, and a blocked port, within ten seconds.
func TestDoctorOverSSH(t *testing.T) {
	t.Parallel()
	s := startHosts(t, 2)
	for host := 1; host <= 2; host++ {
		s.in(t, host, "ip", "link", "add", "docker0", "type", "bridge")
		s.in(t, host, "ip", "addr", "add", "172.17.0.1/16", "dev", "docker0")
		s.in(t, host, "ip", "link", "set", "docker0", "up")
	}
	stdout, stderr, status := s.doctor(t, "--hosts", "h1:2,h2:2")
	if status != 0 {
		t.Fatalf("status %d: %s%s", status, stdout, stderr)
	}
	keepRefusal(t, "wrong interface: two hosts have the same address", "the only one of 2 that all reach",
		status, 0, stdout)
	want := address(1) + " (eth0): the only one of 2 that all reach"
	if !strings.Contains(strings.Join(strings.Fields(stdout), " "), want) {
		t.Errorf("no %q in %s", want, stdout)
	}
	stdout, _, status = s.doctor(t, "--hosts", "h1:2,h2:2", "--json")
	if found, err := record.ParseHosts(stdout); status != 0 || err != nil || len(found.Routes) != 4 {
		t.Errorf("status %d, %v: %s", status, err, stdout)
	}
	t.Run("blocked port", func(t *testing.T) { examineBlocked(t, s) })
}

// examineBlocked has a firewall between two hosts found.
func examineBlocked(t *testing.T, s *sshHosts) {
	s.in(t, 2, "nft", "add table inet wall")
	s.in(t, 2, "nft", "add chain inet wall in { type filter hook input priority 0 ; }")
	s.in(t, 2, "nft", "add rule inet wall in tcp dport 1024-65535 tcp flags & (syn|ack) == syn drop")
	began := time.Now()
	_, stderr, status := s.doctor(t, "--hosts", "h1,h2")
	const want = "lockstep: route: h1 does not reach h2, though h2 reaches h1: "
	keepRefusal(t, "blocked port: doctor", "", status, time.Since(began), stderr)
	if taken := time.Since(began); status != 4 || !strings.Contains(stderr, want) || taken > time.Minute {
		t.Errorf("status %d after %v, %s", status, taken, stderr)
	}
	l := s.launch(t, "--hosts", "h1,h2", "--", "train")
	l.ends(t, 4)
	keepRefusal(t, "blocked port: launch", "", 4, time.Since(l.began), l.stderr.String())
	if !strings.Contains(l.stderr.String(), want) {
		t.Errorf("no %q in %s", want, l.stderr.String())
	}
	s.isDeserted(t)
}
