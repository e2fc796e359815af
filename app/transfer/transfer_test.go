package transfer_test

import (
	"bytes"
	"context"
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

// host receives into folders over a connection of its own for each attempt.
type host struct {
	t      *testing.T
	folder string
	others []string
	dials  int
	cutAt  []int64 // bytes after which the connection of an attempt is cut; 0: never
	sent   atomic.Int64
}

// dial starts Receive on the other end of a TCP connection.
func (h *host) dial(ctx context.Context) (io.ReadWriteCloser, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	go func() {
		defer l.Close()
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		transfer.Receive(h.t.Context(), conn, conn, h.folder, h.others...) // the sender is told
		io.Copy(io.Discard,
			conn) // a reset would take the last line away
	}()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		return nil, err
	}
	limit := int64(0)
	if h.dials < len(h.cutAt) {
		limit = h.cutAt[h.dials]
	}
	h.dials++
	return &cutter{Conn: conn, left: limit, isCut: limit > 0, sent: &h.sent}, nil
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
	var files []transfer.File
	for name, content := range contents {
		path := filepath.Join(folder, filepath.FromSlash(name))
		put(t, path, content)
		files = append(files, transfer.File{Path: path, Name: name})
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
	h := &host{t: t, folder: filepath.Join(t.TempDir(), "new", "data")}
	var shown []transfer.Progress
	to := transfer.Destination{Host: "b", Dial: h.dial,
		Progress: func(p transfer.Progress) { shown = append(shown, p) }}
	d, err := cargo.Deliver(t.Context(), to)
	if err != nil {
		t.Fatal(err)
	}
	holds(t, h.folder, contents)
	if d.Folder != h.folder || d.Sent != cargo.Bytes() || cargo.Bytes() != 4_048_576 {
		t.Errorf("%+v of %d bytes", d, cargo.Bytes())
	}
	if sent := h.sent.Load(); sent > 1_200_000 {
		t.Errorf("%d bytes were sent for a MiB of noise and 3 MB of digits", sent)
	}
	if last := shown[len(shown)-1]; last.Done != last.Total || last.Total != 4_048_576 || last.Host != "b" {
		t.Errorf("last progress %+v", last)
	}
	h.sent.Store(0)
	if d, err := cargo.Deliver(t.Context(), to); err != nil || d.Sent != 0 || h.sent.Load() > 2000 {
		t.Errorf("again: %+v, %v, %d bytes", d, err, h.sent.Load())
	}
}

// A delivery that is cut goes on with the files that are not there yet, by itself and in the next start.
func TestACutDeliveryGoesOn(t *testing.T) {
	contents := map[string][]byte{"a": noise(2 << 20), "b": noise(2 << 20)}
	cargo := load(t, contents)
	h := &host{t: t, folder: t.TempDir(), cutAt: []int64{1 << 20, 3 << 20}}
	d, err := cargo.Deliver(t.Context(), transfer.Destination{Host: "b", Dial: h.dial})
	if err != nil || h.dials != 3 || d.Folder != h.folder || d.Sent != 4<<20 {
		t.Fatalf("%+v, %v, %d connections", d, err, h.dials)
	}
	holds(t, h.folder, contents)
	if sent := h.sent.Load(); sent > 6<<20+400<<10 {
		t.Errorf("%d bytes were sent of %d, so the first file was sent again", sent, cargo.Bytes())
	}

	h = &host{t: t, folder: t.TempDir(), cutAt: []int64{3 << 20, 1 << 19, 1 << 19, 1 << 19, 0}}
	to := transfer.Destination{Host: "b", Dial: h.dial}
	_, err = cargo.Deliver(t.Context(), to)
	cut := (*transfer.CutError)(nil)
	if !errors.As(err, &cut) || cut.Host != "b" || h.dials != 4 {
		t.Fatalf("%v after %d connections", err, h.dials)
	}
	if d, err := cargo.Deliver(t.Context(), to); err != nil || d.Sent != 2<<20 {
		t.Fatalf("%+v, %v", d, err)
	}
	holds(t, h.folder, contents)
}

func TestAnotherVersionIsAnErrorThatNamesBoth(t *testing.T) {
	ours, theirs := noise(1000), noise(2000)
	cargo := load(t, map[string][]byte{"x/a": ours, "b": noise(10)})
	for _, isOther := range []bool{false, true} {
		h := &host{t: t, folder: t.TempDir(), others: []string{"", t.TempDir()}}
		at := h.folder
		if isOther {
			at = h.others[1]
			put(t, filepath.Join(at, "b"), noise(10))
		}
		put(t, filepath.Join(at, "x/a"), theirs)
		_, err := cargo.Deliver(t.Context(), transfer.Destination{Host: "b", Dial: h.dial})
		version := (*transfer.HostError)(nil)
		if !errors.As(err, &version) {
			t.Fatal(err)
		}
		hash := func(b []byte) string { sum := sha256.Sum256(b); return hex.EncodeToString(sum[:6]) }
		want := fmt.Sprintf("%s is another version: sha256 %s there, %s here; remove one of the two",
			filepath.Join(at, "x", "a"), hash(theirs), hash(ours))
		isB := strings.HasPrefix(version.Text, filepath.Join(at, "b")) // the list has no order
		if version.Text != want && !(isOther && isB) {
			t.Errorf("%v, want %s", version, want)
		}
		got, _ := os.ReadFile(filepath.Join(at, "x/a"))
		if !bytes.Equal(got, theirs) {
			t.Error("the other version was changed")
		}
	}
}

// A folder of the host that has all files is used as it is.
func TestFilesInAnotherFolderAreUsed(t *testing.T) {
	contents := map[string][]byte{"x/a": noise(1000), "b": noise(10)}
	h := &host{t: t, folder: filepath.Join(t.TempDir(), "none"), others: []string{t.TempDir()}}
	for name, content := range contents {
		put(t, filepath.Join(h.others[0], name), content)
	}
	d, err := load(t, contents).Deliver(t.Context(), transfer.Destination{Host: "b", Dial: h.dial})
	if err != nil || d.Folder != h.others[0] || d.Sent != 0 {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := os.Stat(h.folder); err == nil {
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
		go func() {
			h := &host{t: t, folder: folder}
			_, err := cargo.Deliver(t.Context(), transfer.Destination{Host: "b", Dial: h.dial})
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
	_, err := cargo.Deliver(t.Context(), transfer.Destination{Host: "b",
		Dial: func(context.Context) (io.ReadWriteCloser, error) {
			ours, theirs := net.Pipe()
			go io.Copy(io.Discard, theirs)
			return ours, nil
		}})
	cut := (*transfer.CutError)(nil)
	if !errors.As(err, &cut) || cut.Host != "b" {
		t.Error(err)
	}
}

// Whatever a host says, the sender returns.
func TestRepliesOfAStrangeHost(t *testing.T) {
	cargo := load(t, map[string][]byte{"a": noise(10)}).WithSilence(time.Second)
	random := mathrand.New(mathrand.NewPCG(1, 2))
	parts := []string{`{"want":0}`, `{"want":1}`, `{"want":-1}`, `{"folder":""}`, `{"done":5}`, `{"done":-1}`,
		`{"done":99999999999999}`, `{"ok":true}`, `{}`, `[`, "\x00", `{"cut":"x"}`,
		`{"failed":"` + "\\u001b[2J" + `"}}`, `{"failed":"` + "\\u001b[2J" + `"}`, strings.Repeat("x",
			20_000)}
	for range 300 {
		var said strings.Builder
		for range 1 + random.IntN(5) {
			said.WriteString(parts[random.IntN(len(parts))])
			if random.IntN(20) > 0 {
				said.WriteString("\n")
			}
		}
		_, err := cargo.Deliver(t.Context(), transfer.Destination{Host: "b",
			Dial: func(context.Context) (io.ReadWriteCloser, error) {
				ours, theirs := net.Pipe()
				go io.Copy(io.Discard, theirs)
				go func() {
					io.WriteString(theirs, said.String())
					theirs.Close()
				}()
				return ours, nil
			}})
		if err != nil && strings.ContainsAny(err.Error(), "\x1b\x00") {
			t.Errorf("%q", err)
		}
	}
}
