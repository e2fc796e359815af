package comm_test

import (
	"errors"
	"hash/crc32"
	"strings"
	"testing"
	"time"

	"lockstep/comm"
	"lockstep/comm/commtest"
)

// faulty is a mesh with checked links that flips one bit of what a rank sends.
type faulty struct {
	comm.Mesh
	bit  int // to be flipped, -1 for none
	sent int // bytes
	copy []byte
}

func (*faulty) IsChecked(int) bool { return true }

func (m *faulty) Send(peer int, head, body []byte) (int, error) {
	m.copy = append(append(m.copy[:0], head...), body...)
	if at := m.bit/8 - m.sent; m.bit >= 0 && at >= 0 && at < len(m.copy) {
		m.copy[at] ^= 1 << (m.bit % 8)
	}
	n, err := m.Mesh.Send(peer, m.copy, nil)
	m.sent += n
	return n, err
}

// A bit that flips on a checked link, in header or body, ends the collective with an error that
// names the sender and the operation, with a codec or without.
func TestFlippedBitsAreRefused(t *testing.T) {
	const elems = 50
	for _, codec := range []comm.Codec{nil, rounding{}} {
		first := 32 + 4*elems/2 // bytes of rank 1's first frame
		if codec != nil {
			first = 32 + 2*elems/2
		}
		for at := range first {
			err := sumOverFault(t, codec, elems, 8*at+at%8)
			var lost *comm.PeerError
			if !errors.As(err, &lost) || lost.Rank != 1 || lost.Op != comm.AllReduce {
				t.Fatalf("codec %v, byte %d flipped: %v", codec, at, err)
			}
			var frame *comm.FrameError
			var body *comm.BodyError
			if errors.As(err, &frame) != (at < 32) || errors.As(err, &body) != (at >= 32) {
				t.Errorf("codec %v, byte %d flipped: %v", codec, at, err)
			}
			const want = "all-reduce: peer rank 1: bad body of"
			if at >= 32 && !strings.Contains(err.Error(), want) {
				t.Errorf("byte %d flipped: %v, want %q in it", at, err, want)
			}
		}
		if err := sumOverFault(t, codec, elems, -1); err != nil {
			t.Errorf("codec %v, nothing flipped: %v", codec, err)
		}
	}
}

// sumOverFault returns rank 0's error of an all-reduce in which rank 1 sends one wrong bit.
func sumOverFault(t *testing.T, codec comm.Codec, elems, bit int) error {
	t.Helper()
	connect := func(_ testing.TB, size int) []comm.Mesh {
		meshes := comm.NewLocal(size)
		return []comm.Mesh{&faulty{Mesh: meshes[0], bit: -1}, &faulty{Mesh: meshes[1], bit: bit}}
	}
	plan := commtest.Cut(t, 2, 2)
	c := comm.Config{Algorithm: "direct", Timeout: 30 * time.Second}
	return commtest.Ranks(t, connect, plan, c, func(g *comm.Group) error {
		pieces := [][]float32{make([]float32, elems)}
		return g.Start(comm.Call{Op: comm.AllReduce, Codec: codec, Out: pieces[0], Pieces: pieces}).Wait()
	})[0]
}

// The cost of checksums for each end, per byte.
func BenchmarkChecksum(b *testing.B) {
	table := crc32.MakeTable(crc32.Castagnoli)
	body := make([]byte, 1<<20)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		crc32.Checksum(body, table)
	}
}
