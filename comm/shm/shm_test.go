//go:build unix

package shm_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"lockstep/comm"
	"lockstep/comm/commtest"
	"lockstep/comm/shm"
)

// connect links size ranks of this process.
func connect(t testing.TB, size int) []comm.Mesh {
	t.Helper()
	f, err := shm.Create(size)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
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
	return meshes
}

func TestSharedMemoryLinks(t *testing.T) { commtest.Run(t, connect) }

func BenchmarkSharedMemory(b *testing.B) { commtest.Benchmark(b, connect) }

// Shutdown may come at any time, even after Close.
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
		{"nobody else", 0, nil, "rank 1 has not come"},
		{"rank", 2, nil, "ranks 0 to 1"},
		{"negative rank", -1, nil, "ranks 0 to 1"},
		{"empty", 0, func(f file) error { return f.Truncate(0) }, "0 bytes"},
		{"short", 0, func(f file) error { return f.Truncate(4096) }, "no segment"},
		{"huge", 0, func(f file) error { return f.Truncate(1 << 41) }, "at most"},
		{"magic", 0, func(f file) error { _, err := f.WriteAt([]byte("?"), 0); return err }, "no segment"},
		{"ranks", 0, func(f file) error { _, err := f.WriteAt([]byte{3}, 4); return err }, "no segment"},
		{"rings", 0, func(f file) error { _, err := f.WriteAt([]byte{1}, 8); return err }, "no segment"},
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

// file is what a test damages a segment through.
type file interface {
	Truncate(size int64) error
	WriteAt(b []byte, at int64) (int, error)
}

// A place is taken once.
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

// Counters that make no sense are an error, not a copy from somewhere.
func TestDamagedRing(t *testing.T) {
	f, err := shm.Create(2)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	meshes := make([]comm.Mesh, 2)
	var all sync.WaitGroup
	for r := range meshes {
		all.Go(func() { meshes[r], _ = shm.Connect(context.Background(), f, r) })
	}
	all.Wait()
	for _, m := range meshes {
		defer m.Close()
	}
	// Behind the header and two desks: the ring 0 to 0 is not used, that from 0 to 1 is next.
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	rings := int64(128 + 2*128)
	if _, err := f.WriteAt([]byte{255, 255, 255}, rings+(info.Size()-rings)/4); err != nil {
		t.Fatal(err)
	}
	if n, err := meshes[1].Recv(0, nil, make([]byte, 8)); err == nil || n != 0 {
		t.Errorf("received %d bytes, %v from a damaged ring", n, err)
	}
	if n, err := meshes[0].Send(1, nil, make([]byte, 8)); err == nil || n != 0 {
		t.Errorf("sent %d bytes, %v into a damaged ring", n, err)
	}
}
