package comm_test

import (
	"errors"
	"testing"
	"time"

	"lockstep/comm"
)

func TestFramesWithAFlippedBitAreRefused(t *testing.T) {
	good := comm.AppendFrame(nil, comm.AllReduce, 3, 4, 5)
	if err := comm.ParseFrame(good); err != nil {
		t.Fatal(err)
	}
	for bit := range 8 * len(good) {
		bad := append([]byte(nil), good...)
		bad[bit/8] ^= 1 << (bit % 8)
		var frame *comm.FrameError
		if err := comm.ParseFrame(bad); !errors.As(err, &frame) {
			t.Errorf("bit %d flipped: got %v, want a *FrameError", bit, err)
		}
	}
}

func TestOversizedFramesAreRefused(t *testing.T) {
	bad := comm.AppendFrame(nil, comm.AllReduce, 3, 4, comm.MaxFrame+1)
	var frame *comm.FrameError
	if err := comm.ParseFrame(bad); !errors.As(err, &frame) || frame.Field != "length" {
		t.Errorf("got %v, want a *FrameError about the length", err)
	}
}

// The error for an unexpected frame names the peer and the wrong field.
func TestUnexpectedFramesNameTheField(t *testing.T) {
	const generation = 3
	tests := []struct {
		field string
		frame []byte
	}{
		{"magic", []byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")},
		{"generation", comm.AppendFrame(nil, comm.Barrier, generation-1, 1, 0)},
		{"sequence", comm.AppendFrame(nil, comm.Barrier, generation, 2, 0)},
		{"type", comm.AppendFrame(nil, comm.AllReduce, generation, 1, 0)},
		{"length", comm.AppendFrame(nil, comm.Barrier, generation, 1, 8)},
		{"length", comm.AppendFrame(nil, comm.Barrier, generation, 1, 1<<40)},
		{"lost rank", comm.AppendReport(nil, generation, 0)}, // the receiver itself
		{"lost rank", comm.AppendReport(nil, generation, 1<<31)},
	}
	for _, test := range tests {
		meshes := comm.NewLocal(2)
		g, err := comm.NewGroup(meshes[0], comm.Config{Generation: generation, Timeout: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := meshes[1].Send(0, test.frame, nil); err != nil {
			t.Fatal(err)
		}
		err = g.Barrier()
		var peer *comm.PeerError
		var frame *comm.FrameError
		if !errors.As(err, &peer) || peer.Rank != 1 || !errors.As(err, &frame) ||
			frame.Field != test.field {
			t.Errorf("%s: got %v", test.field, err)
		}
		g.Close()
		meshes[1].Close()
	}
}

// FuzzParseFrame parses arbitrary headers with a valid checksum.
func FuzzParseFrame(f *testing.F) {
	f.Add(comm.AppendFrame(nil, comm.Gather, 1, 2, 3), uint32(1), uint32(2))
	f.Add(comm.AppendReport(nil, 1, 1<<31), uint32(1), uint32(2))
	f.Fuzz(func(t *testing.T, b []byte, generation, sequence uint32) {
		if len(b) < 32 {
			return
		}
		var frame *comm.FrameError
		length, err := comm.CheckFrame(comm.SealFrame(b[:32]), comm.Gather, generation, sequence, 3)
		if err != nil && !errors.As(err, &frame) || err == nil && length > comm.MaxFrame {
			t.Fatalf("body of %d bytes, %v", length, err)
		}
	})
}
