package command

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const (
	numStrangers = 300     // at each port
	mostGrowth   = 8 << 20 // bytes that strangers may add to the memory of a process
)

// inside calls do on a thread that is in the network namespace for that long. The thread must not end there:
// processes that it has started would die with it.
func (s *sshHosts) inside(t *testing.T, space int, do func() error) {
	t.Helper()
	ended := make(chan error)
	go func() {
		runtime.LockOSThread()
		home, err := os.Open("/proc/thread-self/ns/net")
		if err == nil {
			err = enter("/proc/" + s.spaces[space] + "/ns/net")
		}
		if err == nil {
			err = errors.Join(do(), unix.Setns(int(home.Fd()), unix.CLONE_NEWNET), home.Close())
		}
		runtime.UnlockOSThread()
		ended <- err
	}()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

// enter puts this thread into a network namespace.
func enter(path string) error {
	space, err := os.Open(path)
	if err != nil {
		return err
	}
	defer space.Close()
	return unix.Setns(int(space.Fd()), unix.CLONE_NEWNET)
}

// ports returns where processes of ours listen on a host, other than sshd: network is tcp or udp.
func (s *sshHosts) ports(t *testing.T, host int, network string) (addresses []string) {
	t.Helper()
	text, err := os.ReadFile("/proc/" + s.spaces[host] + "/net/" + network)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		field := strings.Fields(line)
		const listens, isOpen = "0A", "07"
		want := map[string]string{"tcp": listens, "udp": isOpen}[network]
		if len(field) < 4 || field[3] != want {
			continue
		}
		ip, port, _ := strings.Cut(field[1], ":")
		bits, err := hex.DecodeString(ip)
		number, failed := strconv.ParseUint(port, 16, 16)
		if err != nil || failed != nil || number == 22 {
			continue
		}
		where := net.IP(binary.BigEndian.AppendUint32(nil, binary.LittleEndian.Uint32(bits)))
		addresses = append(addresses, net.JoinHostPort(where.String(), strconv.FormatUint(number, 10)))
	}
	return addresses
}

// strangersSay is what strangers say: nothing, random bytes, HTTP, the beginning of TLS, lengths beyond all
// bounds, a preamble of another run, datagrams that look like pulses.
func strangersSay() [][]byte {
	noise := make([]byte, 1<<10)
	rand.Read(noise)
	beat := func(kind, rank uint32) []byte {
		b := binary.LittleEndian.AppendUint32([]byte("LSP\x01"), kind)
		b = binary.LittleEndian.AppendUint32(b, rank)
		return append(b, bytes.Repeat([]byte{0xff}, 60)...)
	}
	return [][]byte{nil, noise, []byte("GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
		[]byte("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"), bytes.Repeat([]byte{0xff}, 64),
		[]byte("lockstep/2 20991231t2359z-00000000\n"), beat(1, 0), beat(1, 1), beat(2, 1), beat(1, 1<<31),
		[]byte("LSP\x01"), bytes.Repeat([]byte("LSP\x01"), 8<<10)}
}

// knock connects to an address hundreds of times, and says what strangers say where it is let in. It returns
// how often it was.
func knock(address string) (open int) {
	says := strangersSay()
	for i := range numStrangers {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			continue
		}
		open++
		conn.Write(says[i%len(says)]) // fails if it is thrown out
		conn.Close()
	}
	return open
}

// bombard sends hundreds of datagrams to an address, of all kinds in turn.
func bombard(address string) error {
	conn, err := net.Dial("udp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	says := append(strangersSay(), make([]byte, 60_000))
	for i := range numStrangers {
		conn.Write(says[i%len(says)]) // an error: that one is lost
		if i%50 == 0 {
			time.Sleep(time.Millisecond) // or the socket's buffer drops them before they are read
		}
	}
	return nil
}

// pids returns the processes of ours on a host whose command line has a word.
func (s *sshHosts) pids(t *testing.T, host int, word string) (pids []int) {
	t.Helper()
	for _, text := range s.processes(t, host) {
		number, line, _ := strings.Cut(text, " ")
		if pid, err := strconv.Atoi(number); err == nil && strings.Contains(line+" ", " "+word+" ") &&
			!strings.Contains(line, "sshd") && !strings.Contains(line, "/bin/sh") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// memories are processes with the bytes that they had in memory at a time.
type memories map[int]int

// weigh lets the peaks of processes begin anew.
func weigh(t *testing.T, pids []int) memories {
	t.Helper()
	m := memories{}
	for _, pid := range pids {
		if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0); err != nil {
			t.Skip("the peak of the memory is not known: ", err)
		}
		m[pid] = memoryOf(t, pid, "VmHWM")
	}
	return m
}

// checkGrowth checks that no process has grown by more than strangers may make it.
func (m memories) checkGrowth(t *testing.T) {
	t.Helper()
	for pid, before := range m {
		growth := memoryOf(t, pid, "VmHWM") - before
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		name := strings.Fields(string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})) + " ? ?")[1]
		t.Logf("the peak of %s has grown by %d KiB, from %d MiB", name, growth>>10, before>>20)
		if growth > mostGrowth {
			t.Errorf("the memory of %s has grown by %d KiB, want at most %d", name, growth>>10,
				mostGrowth>>10)
		}
	}
}

// memoryOf returns a line of the status of a process in bytes.
func memoryOf(t *testing.T, pid int, name string) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			if kilobytes, err := strconv.Atoi(strings.Fields(rest)[0]); err == nil {
				return kilobytes << 10
			}
		}
	}
	t.Fatalf("%d has no %s", pid, name)
	return 0
}

// Hundreds of strangers at every port that a running job has, or had while it started, change neither its
// result nor the memory of its processes: once it runs, it takes datagrams alone, and those with its key.
// TestHostileConnections is about a job that starts.
func TestStrangersAtARunningJob(t *testing.T) {
	s := startHosts(t, 2)
	arguments := []string{"train", "--steps", "1000", "--shards", "2", "--json"}
	alone := append(arguments, "--quiet", "--out", filepath.Join(t.TempDir(), "one"))
	status, want, stderr := execute(alone...)
	if status != 0 {
		t.Fatal(stderr)
	}
	l := s.launch(t, append([]string{"--hosts", "h1:1,h2:1", "--"}, arguments...)...)
	known := map[string]bool{} // addresses that were listened on
	waitFor(t, "the job trains", func() bool {
		for host := 1; host <= 2; host++ {
			for _, address := range s.ports(t, host, "tcp") {
				known[address] = true
			}
		}
		return strings.Contains(l.stderr.String(), "step ")
	})
	ours := slices.Concat(s.pids(t, 1, "train"), s.pids(t, 1, "agent"), s.pids(t, 2, "agent"))
	workers := append(s.pids(t, 1, "worker"), s.pids(t, 2, "worker")...)
	if len(known) == 0 || len(ours) != 3 || len(workers) != 2 {
		t.Fatalf("the job listened on %v, has processes %v and workers %v", known, ours, workers)
	}
	m := weigh(t, append(ours, workers...))
	s.attack(t, known)
	if !isAlive(workers[0]) || !isAlive(workers[1]) {
		t.Fatalf("the job has ended before its strangers: %s", l.stderr.String())
	}
	m.checkGrowth(t)
	l.ends(t, 0)
	if got := hashIn(l.stdout.String()); got != hashIn(want) {
		t.Errorf("hash %s, want %s", got, hashIn(want))
	}
}

// attack sends strangers to all ports of a running job, and to those that it had.
func (s *sshHosts) attack(t *testing.T, known map[string]bool) {
	t.Helper()
	hearts := 0
	for host := 1; host <= 2; host++ {
		if open := s.ports(t, host, "tcp"); len(open) > 0 {
			t.Errorf("h%d: %v are open while the job runs", host, open)
		}
		for _, address := range s.ports(t, host, "udp") {
			hearts++
			s.inside(t, 0, func() error { return bombard(address) })
		}
	}
	if hearts == 0 {
		t.Error("no heartbeats are listened for")
	}
	for address := range known {
		s.inside(t, 0, func() error {
			if open := knock(address); open > 0 {
				return fmt.Errorf("%s let in %d strangers while the job ran", address, open)
			}
			return nil
		})
	}
}
