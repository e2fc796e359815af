//go:build !race

// The race detector takes memory of its own.

package cluster_test

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"lockstep/cluster"
	"lockstep/cluster/foreign"
)

// A thousand strangers at the rendezvous of a job, among them some that know its name, neither keep the job
// from starting nor make the launcher's memory grow. Once it runs, no port is open.
func TestHostileConnections(t *testing.T) {
	const numStrangers, mostGrowth = 1000, 8 << 20
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	token := newToken(t)
	e := variables(fmt.Sprintf("RANK=0 WORLD_SIZE=2 LOCAL_WORLD_SIZE=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=%s "+
		"LOCKSTEP_TOKEN=%s", address[strings.LastIndex(address, ":")+1:], token.Reveal()))
	place, err := foreign.Place(e)
	if err != nil {
		t.Fatal(err)
	}
	member, err := place.Member(e)
	if err != nil {
		t.Fatal(err)
	}
	meeting, err := cluster.Host(place, member)
	if err != nil {
		t.Fatal(err)
	}
	launched := launchAt(t, meeting)
	before, isExact := peakMemory(t)
	closeAll := besiege(t, address, string(token.Run()), numStrangers)
	defer closeAll()
	guest := member
	guest.Rank = 1
	session, err := cluster.Join(t.Context(), guest, cluster.Hello{Host: "elsewhere"})
	if err != nil {
		t.Fatal(err)
	}
	after, _ := memoryOf("VmHWM")
	t.Logf("the memory has grown from %d by %d KiB", before>>10, (after-before)>>10)
	if growth := after - before; isExact && growth > mostGrowth {
		t.Errorf("the memory has grown by %d KiB, want at most %d", growth>>10, mostGrowth>>10)
	}
	mesh, err := session.Connect(t.Context())
	if err != nil || session.Welcome.Encryption != cluster.EncryptTLS {
		t.Fatalf("encryption %q, %v", session.Welcome.Encryption, err)
	}
	defer mesh.Close()
	for _, port := range append(session.Welcome.Addresses, address) {
		untilClosed(t, port)
	}
	session.Done(result{})
	if err := <-launched; err != nil {
		t.Error(err)
	}
	go meeting.End(0)
	session.Status()
	session.Close()
}

// untilClosed waits until nobody listens at an address.
func untilClosed(t *testing.T, address string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return
		}
		conn.Close()
		if time.Now().After(deadline) {
			t.Errorf("%s is still open", address)
			return
		}
	}
}

// launchAt launches a job of two at the meeting and sends how it ends.
func launchAt(t *testing.T, m *cluster.Meeting) <-chan error {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, ended := t.TempDir(), make(chan error, 1)
	go func() {
		_, err := cluster.Launch(t.Context(), cluster.LaunchConfig{World: 2, Command: []string{self},
			Meeting: m, JoinTimeout: 20 * time.Second,
			Environment: cluster.ProcessEnvironment().With(cluster.Environment{behaviour: "well"}),
			Log:         func(rank int) string { return filepath.Join(dir, strconv.Itoa(rank)) }})
		ended <- err
	}()
	return ended
}

// besiege opens connections that say what strangers say, and holds them open. It returns what closes them.
func besiege(t *testing.T, address, run string, number int) (closeAll func()) {
	t.Helper()
	noise := make([]byte, 1<<10)
	rand.Read(noise)
	greeting := []byte("lockstep/2 " + run + "\n")
	hello := []byte("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
	says := [][]byte{nil, noise, []byte("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), hello,
		bytes.Repeat([]byte{0xff}, 64), greeting, append(bytes.Clone(greeting), hello...),
		append(bytes.Clone(greeting), "\x16\x03\x03\x40\x00\x01\xff\xff\xff"...),
		append(bytes.Clone(greeting), bytes.Repeat([]byte{0x16, 3, 3, 0x40, 0}, 800)...)}
	var conns []net.Conn
	var slow sync.WaitGroup
	for i := range number {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, conn)
		if i%100 == 0 { // a byte at a time
			slow.Go(func() {
				for b := range bytes.SplitSeq(bytes.Repeat(greeting, 4), nil) {
					if _, err := conn.Write(b); err != nil {
						return
					}
					time.Sleep(10 * time.Millisecond)
				}
			})
			continue
		}
		conn.Write(says[i%len(says)]) // fails if it was thrown out
	}
	return func() {
		for _, conn := range conns {
			conn.Close()
		}
		slow.Wait()
	}
}

// peakMemory makes this process's peak begin anew, and returns its resident memory in bytes. It reports
// whether that was possible.
func peakMemory(t *testing.T) (now int, ok bool) {
	t.Helper()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		t.Logf("the peak of the memory is not known: %v", err)
		return 0, false
	}
	return memoryOf("VmRSS")
}

// memoryOf returns a line of /proc/self/status in bytes.
func memoryOf(name string) (int, bool) {
	text, _ := os.ReadFile("/proc/self/status") // there is no such line then
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			kilobytes, err := strconv.Atoi(strings.Fields(rest)[0])
			return kilobytes << 10, err == nil
		}
	}
	return 0, false
}
