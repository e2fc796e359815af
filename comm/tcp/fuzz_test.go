package tcp_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"lockstep/comm/tcp"
)

// stranger is a connection whose other side has sent all its data.
type stranger struct {
	net.Conn // nil: nothing else is called
	said     *bytes.Reader
	heard    int
}

func (s *stranger) Read(b []byte) (int, error)  { return s.said.Read(b) }
func (s *stranger) Write(b []byte) (int, error) { s.heard += len(b); return len(b), nil }
func (s *stranger) SetDeadline(time.Time) error { return nil }
func (s *stranger) RemoteAddr() net.Addr        { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

// wantRefusal fails unless err is the error of a handshake with a stranger.
func wantRefusal(t *testing.T, err error) {
	t.Helper()
	var wrong *tcp.HelloError
	if !errors.As(err, &wrong) && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("got %v", err)
	}
}

// FuzzHello sends arbitrary data to an accepting rank, which refuses it after reading at most
// HelloBytes.
func FuzzHello(f *testing.F) {
	c := tcp.Config{Addrs: []string{"127.0.0.1:1", "127.0.0.1:2"}, Token: []byte(token), Generation: 4}
	var hello []byte
	for _, field := range []uint32{0x4c534831, 4, 2, 1, 0} {
		hello = binary.NativeEndian.AppendUint32(hello, field)
	}
	f.Add(make([]byte, tcp.HelloBytes))
	f.Add(append(hello, make([]byte, 64)...))
	f.Add(hello)
	f.Fuzz(func(t *testing.T, said []byte) {
		s := &stranger{said: bytes.NewReader(said)}
		_, err := tcp.Welcome(s, &c)
		wantRefusal(t, err)
		if read := len(said) - s.said.Len(); read > tcp.HelloBytes || s.heard > 65 {
			t.Fatalf("read %d bytes and said %d", read, s.heard)
		}
	})
}

// FuzzReply sends arbitrary data to a dialing rank.
func FuzzReply(f *testing.F) {
	c := tcp.Config{Rank: 1, Addrs: []string{"127.0.0.1:1", "127.0.0.1:2"}, Token: []byte(token)}
	f.Add([]byte{0})
	f.Add([]byte{2})
	f.Add(make([]byte, 66))
	f.Fuzz(func(t *testing.T, said []byte) {
		wantRefusal(t, tcp.Greet(&stranger{said: bytes.NewReader(said)}, &c, 0))
	})
}
