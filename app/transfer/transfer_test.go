package transfer_test

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lockstep/app/transfer"
)

// host receives into the last of some folders, over a connection of its own for each delivery.
type host struct {
	t       *testing.T
	folders []string
	cutAt   int64 // bytes after which the connection is cut; 0: never
	sent    atomic.Int64
}

// takes delivers a cargo to the host.
func (h *host) takes(c *transfer.Cargo, show func(transfer.Delivery)) (transfer.Delivery, error) {
	h.t.Helper()
	return c.Deliver(h.t.Context(), "b", h.dial(), show)
}

// dial starts Receive on the other end of a TCP connection.
func (h *host) dial() io.ReadWriteCloser {
	h.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		h.t.Fatal(err)
	}
	go func() {
		defer l.Close()
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		transfer.Receive(h.t.Context(), conn, conn, h.folders...) // the sender is told
		io.Copy(io.Discard, conn)                                 // a reset would take the last line away
	}()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		h.t.Fatal(err)
	}
	return &cutter{Conn: conn, left: h.cutAt, isCut: h.cutAt > 0, sent: &h.sent}
}

// cutter closes a connection after some bytes were written.
type cutter struct {
	net.Conn
	left  int64
	isCut bool
	sent  *atomic.Int64
}

func (c *cutter) Write(p []byte) (int, error) {
	if c.isCut && int64(len(p)) > c.left {
		n, _ := c.Conn.Write(p[:c.left])
		c.sent.Add(int64(n))
		c.Conn.(*net.TCPConn).CloseWrite() // what was sent arrives
		time.Sleep(300 * time.Millisecond) // and the receiver says so
		c.Conn.Close()
		return n, net.ErrClosed
	}
	c.left -= int64(len(p))
	n, err := c.Conn.Write(p)
	c.sent.Add(int64(n))
	return n, err
}

// noise returns bytes that cannot be compressed.
func noise(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}

// load writes files and loads them, by name.
func load(t *testing.T, contents map[string][]byte) *transfer.Cargo {
	t.Helper()
	folder := t.TempDir()
	files := map[string]string{}
	for name, content := range contents {
		path := filepath.Join(folder, filepath.FromSlash(name))
		put(t, path, content)
		files[name] = path
	}
	c, err := transfer.Load(t.Context(), files)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func put(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
}

// holds checks that a folder has these files and nothing else.
func holds(t *testing.T, folder string, contents map[string][]byte) {
	t.Helper()
	found := 0
	filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			found++
		}
		return nil
	})
	if found != len(contents) {
		t.Errorf("%d files in %s, want %d", found, folder, len(contents))
	}
	for name, want := range contents {
		got, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(name)))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, %v, want %d", name, len(got), err, len(want))
		}
	}
}

func TestDeliveryIsOnceAndCompressed(t *testing.T) {
	contents := map[string][]byte{"mnist/images": bytes.Repeat([]byte("0123456789"), 300_000),
		"svhn/train.mat": noise(1 << 20), "empty": nil}
	cargo := load(t, contents)
	folder := filepath.Join(t.TempDir(), "new", "data")
	h := &host{t: t, folders: []string{"", folder}}
	var last transfer.Delivery
	d, err := h.takes(cargo, func(d transfer.Delivery) { last = d })
	if err != nil {
		t.Fatal(err)
	}
	holds(t, folder, contents)
	want := transfer.Delivery{Done: 4_048_576, Total: 4_048_576}
	if d != want || last != want {
		t.Errorf("%+v, shown %+v, want %+v", d, last, want)
	}
	if sent := h.sent.Load(); sent > 1_200_000 {
		t.Errorf("%d bytes were sent for a MiB of noise and 3 MB of digits", sent)
	}
	h.sent.Store(0)
	if d, err := h.takes(cargo, nil); err != nil || d.Total != 0 || h.sent.Load() > 2000 {
		t.Errorf("again: %+v, %v, %d bytes", d, err, h.sent.Load())
	}
}

// After a delivery that is cut, whole files stay, and the next one sends the others.
func TestACutDelivery(t *testing.T) {
	contents := map[string][]byte{"a": noise(2 << 20), "b": noise(2 << 20)}
	cargo := load(t, contents)
	h := &host{t: t, folders: []string{t.TempDir()}, cutAt: 3 << 20}
	_, err := h.takes(cargo, nil)
	if cut := (*transfer.HostError)(nil); !errors.As(err, &cut) || !cut.IsCut || cut.Host != "b" {
		t.Fatal(err)
	}
	h.cutAt = 0
	if d, err := h.takes(cargo, nil); err != nil || d.Total != 2<<20 {
		t.Fatalf("%+v, %v", d, err)
	}
	holds(t, h.folders[0], contents)
}

func TestAnotherVersionIsAnErrorThatNamesBoth(t *testing.T) {
	ours, theirs := noise(1000), noise(2000)
	cargo := load(t, map[string][]byte{"x/a": ours})
	h := &host{t: t, folders: []string{t.TempDir(), t.TempDir()}}
	hash := func(b []byte) string { sum := sha256.Sum256(b); return hex.EncodeToString(sum[:6]) }
	for _, folder := range []string{h.folders[1], h.folders[0]} {
		at := filepath.Join(folder, "x", "a")
		put(t, at, theirs)
		_, err := h.takes(cargo, nil)
		want := fmt.Sprintf("host b: %s is another version: sha256 %s there, %s here; remove one of the two",
			at, hash(theirs), hash(ours))
		if version := (*transfer.HostError)(nil); !errors.As(err, &version) || version.IsCut ||
			err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		if got, _ := os.ReadFile(at); !bytes.Equal(got, theirs) {
			t.Error("the other version was changed")
		}
	}
}

// A folder of the host that has all files is used as it is.
func TestFilesInAnotherFolderAreUsed(t *testing.T) {
	contents := map[string][]byte{"x/a": noise(1000), "b": noise(10)}
	h := &host{t: t, folders: []string{t.TempDir(), filepath.Join(t.TempDir(), "none")}}
	for name, content := range contents {
		put(t, filepath.Join(h.folders[0], name), content)
	}
	d, err := h.takes(load(t, contents), nil)
	if err != nil || d.Total != 0 {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := os.Stat(h.folders[1]); err == nil {
		t.Error("a folder was made that nobody needs")
	}
}

// Two deliveries of the same files to one folder, as to hosts with a common home, do not disturb each other.
func TestDeliveriesToOneFolder(t *testing.T) {
	contents := map[string][]byte{}
	for i := range 8 {
		contents[fmt.Sprintf("f/%d", i)] = noise(200_000)
	}
	cargo := load(t, contents)
	folder := t.TempDir()
	ended := make(chan error, 3)
	for range cap(ended) {
		conn := (&host{t: t, folders: []string{folder}}).dial()
		go func() {
			_, err := cargo.Deliver(t.Context(), "b", conn, nil)
			ended <- err
		}()
	}
	for range cap(ended) {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	holds(t, folder, contents)
}

// A receiver that says nothing is given up.
func TestASilentReceiver(t *testing.T) {
	cargo := load(t, map[string][]byte{"a": noise(10)}).WithSilence(50 * time.Millisecond)
	ours, theirs := net.Pipe()
	go io.Copy(io.Discard, theirs)
	_, err := cargo.Deliver(t.Context(), "b", ours, nil)
	if cut := (*transfer.HostError)(nil); !errors.As(err, &cut) || !cut.IsCut {
		t.Error(err)
	}
}

// Whatever a host says, the sender returns.
func TestRepliesOfAStrangeHost(t *testing.T) {
	cargo := load(t, map[string][]byte{"a": noise(10)}).WithSilence(time.Second)
	random := mathrand.New(mathrand.NewPCG(1, 2))
	parts := []string{`{"want":0}`, `{"want":1}`, `{"want":-1}`, `{"ready":true}`, `{"done":5}`,
		`{"done":-1}`, `{"done":99999999999999}`, `{"ok":true}`, `{}`, `[`, "\x00",
		`{"cut":true,"failed":"x"}`, `{"failed":"` + "\\u001b[2J" + `"}}`,
		`{"failed":"` + "\\u001b[2J" + `"}`, strings.Repeat("x", 20_000)}
	for range 300 {
		var said strings.Builder
		for range 1 + random.IntN(5) {
			said.WriteString(parts[random.IntN(len(parts))])
			if random.IntN(20) > 0 {
				said.WriteString("\n")
			}
		}
		ours, theirs := net.Pipe()
		go io.Copy(io.Discard, theirs)
		go func() {
			io.WriteString(theirs, said.String())
			theirs.Close()
		}()
		_, err := cargo.Deliver(t.Context(), "b", ours, nil)
		if err != nil && strings.ContainsAny(err.Error(), "\x1b\x00") {
			t.Errorf("%q", err)
		}
	}
}
