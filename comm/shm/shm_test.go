//go:build unix

package shm_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"lockstep/comm"
	"lockstep/comm/commtest"
	"lockstep/comm/shm"
)

// connect links size ranks of this process.
func connect(t testing.TB, size int) []comm.Mesh {
	t.Helper()
	f, meshes := connectFile(t, size)
	f.Close()
	return meshes
}

// connectFile also returns their segment.
func connectFile(t testing.TB, size int) (*os.File, []comm.Mesh) {
	t.Helper()
	f, err := shm.Create(size)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	meshes := make([]comm.Mesh, size)
	var all sync.WaitGroup
	for r := range meshes {
		all.Go(func() {
			var err error
			if meshes[r], err = shm.Connect(ctx, f, r); err != nil {
				t.Errorf("rank %d: %v", r, err)
			}
		})
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return f, meshes
}

// ringAt01 is the offset of the ring from rank 0 to rank 1 of two: after the header, two slots and
// the unused ring from rank 0 to itself.
const ringAt01 = 128 + 2*128 + 384 + 256<<10

func TestSharedMemoryLinks(t *testing.T) { commtest.Run(t, connect) }

func BenchmarkSharedMemory(b *testing.B) { commtest.Benchmark(b, connect) }

// Shutdown may be called at any time, even after Close.
func TestShutdownAfterClose(t *testing.T) {
	for _, m := range connect(t, 2) {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		m.Shutdown()
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestConnectRefuses(t *testing.T) {
	soon, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	for _, c := range []struct {
		name   string
		rank   int
		damage func(f file) error
		want   string
	}{
		{"nobody else", 0, nil, "rank 1 has not connected"},
		{"rank", 2, nil, "ranks 0 to 1"},
		{"negative rank", -1, nil, "ranks 0 to 1"},
		{"empty", 0, func(f file) error { return f.Truncate(0) }, "0 bytes"},
		{"short", 0, func(f file) error { return f.Truncate(4096) }, "not a segment"},
		{"huge", 0, func(f file) error { return f.Truncate(1 << 41) }, "at most"},
		{"magic", 0, func(f file) error { _, err := f.WriteAt([]byte("?"), 0); return err }, "not a segment"},
		{"ranks", 0, func(f file) error { _, err := f.WriteAt([]byte{3}, 4); return err }, "not a segment"},
		{"arenas", 0, func(f file) error { _, err := f.WriteAt([]byte{1}, 16); return err }, "not a segment"},
		{"rings", 0, func(f file) error { _, err := f.WriteAt([]byte{1}, 8); return err }, "not a segment"},
	} {
		f, err := shm.Create(2)
		if err != nil {
			t.Fatal(err)
		}
		if c.damage != nil {
			if err := c.damage(f); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := shm.Connect(soon, f, c.rank); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", c.name, err, c.want)
		}
		f.Close()
	}
	if _, err := shm.Create(0); err == nil {
		t.Error("a segment of no ranks")
	}
}

// file is the access of a test to a segment that it damages.
type file interface {
	Truncate(size int64) error
	WriteAt(b []byte, at int64) (int, error)
}

// A rank can be taken once.
func TestTakenRank(t *testing.T) {
	f, err := shm.Create(1)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := shm.Connect(context.Background(), f, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if _, err := shm.Connect(context.Background(), f, 0); err == nil ||
		!strings.Contains(err.Error(), "taken by process") {
		t.Errorf("second rank 0: %v", err)
	}
}

// Inconsistent counters are an error, not a copy from elsewhere.
func TestDamagedRing(t *testing.T) {
	f, meshes := connectFile(t, 2)
	defer f.Close()
	for _, m := range meshes {
		defer m.Close()
	}
	if _, err := f.WriteAt([]byte{255, 255, 255}, ringAt01); err != nil {
		t.Fatal(err)
	}
	if n, err := meshes[1].Recv(0, nil, make([]byte, 8)); err == nil || n != 0 {
		t.Errorf("received %d bytes, %v from a damaged ring", n, err)
	}
	if n, err := meshes[0].Send(1, nil, make([]byte, 8)); err == nil || n != 0 {
		t.Errorf("sent %d bytes, %v into a damaged ring", n, err)
	}
}

// skipWithoutArenas skips the test where ranks have no arenas.
func skipWithoutArenas(t *testing.T) {
	meshes := connect(t, 2)
	for _, m := range meshes {
		defer m.Close()
	}
	if meshes[0].(comm.Allocator).Alloc(1) == nil {
		t.Skip("no arenas on this system, or address space is limited (ulimit -v, -f)")
	}
}

// A zero-copy message is read in place, in pieces, in order with what is written before and after
// it. The sender has sent it when it is read, and can write nothing else meanwhile.
func TestZeroCopy(t *testing.T) {
	skipWithoutArenas(t)
	meshes := connect(t, 2)
	for _, m := range meshes {
		defer m.Close()
	}
	const floats = 100 << 10
	vector := comm.Alloc(meshes[0], floats)
	for i := range vector {
		vector[i] = float32(i)
	}
	body := comm.Bytes(vector)
	head, got := []byte("head"), make([]byte, len(body))
	for _, message := range [][]byte{body, body[4:], body[:128<<10]} {
		sent, err := meshes[0].Send(1, head, message)
		if sent != len(head) || err != nil {
			t.Fatalf("sent %d, %v, want only the head", sent, err)
		}
		if n, err := meshes[0].Send(1, head, nil); n != 0 || err != nil {
			t.Fatalf("sent %d, %v after an unread zero-copy message", n, err)
		}
		start := make([]byte, len(head))
		received := 0
		for received < len(message) {
			n, err := meshes[1].Recv(0, start, got[received:len(message)])
			if err != nil || n == 0 {
				t.Fatalf("received %d, %v after %d", n, err, received)
			}
			received += n - len(start)
			start = nil
			n, err = meshes[0].Send(1, nil, message[sent-len(head):])
			if sent += n; err != nil || sent-len(head) != received {
				t.Fatalf("sent %d, %v, want %d", sent, err, received)
			}
		}
		if !bytes.Equal(got[:len(message)], message) {
			t.Fatal("other bytes")
		}
	}
	if n, err := meshes[0].Send(1, []byte("next"), nil); n != 4 || err != nil {
		t.Errorf("sent %d, %v after the zero-copy messages", n, err)
	}
}

// A reader that has copied a whole zero-copy message may leave before the writer has noticed; one
// that leaves earlier leaves it unsent.
func TestZeroCopyToLostPeer(t *testing.T) {
	skipWithoutArenas(t)
	for _, isRead := range []bool{true, false} {
		meshes := connect(t, 2)
		body := comm.Bytes(comm.Alloc(meshes[0], 40<<10))
		if n, err := meshes[0].Send(1, nil, body); n != 0 || err != nil {
			t.Fatalf("sent %d, %v", n, err)
		}
		if isRead {
			if n, err := meshes[1].Recv(0, nil, make([]byte, len(body))); n != len(body) || err != nil {
				t.Fatalf("received %d, %v", n, err)
			}
		}
		if err := meshes[1].Close(); err != nil {
			t.Fatal(err)
		}
		n, err := meshes[0].Send(1, nil, body)
		if isRead && (n != len(body) || err != nil) || !isRead && (n != 0 || err == nil) {
			t.Errorf("taken %v: sent %d, %v", isRead, n, err)
		}
		meshes[0].Close()
	}
}

// An arena is bounded, page-aligned, and refused after Close.
func TestAlloc(t *testing.T) {
	skipWithoutArenas(t)
	meshes := connect(t, 2)
	defer meshes[1].Close()
	m := meshes[0].(comm.Allocator)
	a, b := m.Alloc(3), m.Alloc(5)
	if len(a) != 3 || len(b) != 5 || uintptr(unsafe.Pointer(&b[0]))%4096 != 0 {
		t.Errorf("%d and %d floats at %p", len(a), len(b), b)
	}
	if v := m.Alloc(math.MaxInt); v != nil {
		t.Errorf("%d floats", len(v))
	}
	meshes[0].Close()
	if v := m.Alloc(1); v != nil {
		t.Error("memory after Close")
	}
}

// A descriptor outside the writer's arena is an error.
func TestDamagedDescriptor(t *testing.T) {
	skipWithoutArenas(t)
	const placeOffset = 32 // in the head of a ring: after written, isEnded, and two fields of the descriptor
	for _, place := range []uint64{1 << 31, 1<<31 - 1<<16, 1 << 63, 1<<64 - 1} {
		f, meshes := connectFile(t, 2)
		vector := comm.Alloc(meshes[0], 1<<16)
		if n, err := meshes[0].Send(1, nil, comm.Bytes(vector)); n != 0 || err != nil {
			t.Fatalf("sent %d, %v", n, err)
		}
		b := binary.LittleEndian.AppendUint64(nil, place)
		if _, err := f.WriteAt(b, ringAt01+placeOffset); err != nil {
			t.Fatal(err)
		}
		n, err := meshes[1].Recv(0, nil, make([]byte, 8))
		if err == nil || !strings.Contains(err.Error(), "descriptor") {
			t.Errorf("place %#x: received %d bytes, %v", place, n, err)
		}
		for _, m := range meshes {
			m.Close()
		}
		f.Close()
	}
}
