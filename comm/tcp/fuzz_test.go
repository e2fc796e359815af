package tcp_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
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

// helloOf returns the fields of a hello from rank 1 to rank 0 of 2.
func helloOf(generation, security, streams, stream uint32) (hello []byte) {
	for _, field := range []uint32{0x4c534834, generation, 2, 1, 0, security, streams, stream} {
		hello = binary.NativeEndian.AppendUint32(hello, field)
	}
	return hello
}

// FuzzHello sends arbitrary data to an accepting rank, which refuses it after reading at most
// HelloBytes.
func FuzzHello(f *testing.F) {
	c := tcp.Config{Addrs: []string{"127.0.0.1:1", "127.0.0.1:2"}, Token: []byte(token), Generation: 4,
		Streams: 3}
	f.Add(make([]byte, tcp.HelloBytes))
	f.Add(append(helloOf(4, 0, 3, 2), make([]byte, 64)...))
	f.Add(append(helloOf(4, 0, 3, 3), make([]byte, 64)...))
	f.Add(append(helloOf(4, 0, 1<<31, 1<<31-1), make([]byte, 64)...))
	f.Add(helloOf(4, 0, 3, 0))
	f.Fuzz(func(t *testing.T, said []byte) {
		s := &stranger{said: bytes.NewReader(said)}
		_, _, _, err := tcp.Welcome(s, &c)
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
	f.Add([]byte{6, 4, 0, 0, 0})
	f.Add(make([]byte, 66))
	f.Fuzz(func(t *testing.T, said []byte) {
		_, err := tcp.Greet(&stranger{said: bytes.NewReader(said)}, &c, 0, 0)
		wantRefusal(t, err)
	})
}

// FuzzSealedHello sends arbitrary data after a hello that asks for encryption, to both sides. Nothing comes
// of it, and an accepting rank reads at most MaxStranger bytes.
func FuzzSealedHello(f *testing.F) {
	keys := identities(f, 2)
	hello := append(helloOf(0, 1, 1, 0), make([]byte, 32)...)
	f.Add([]byte("\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00"))
	f.Add([]byte("\x16\x03\x01\x40\x00\x01\x00\xff\xff" + strings.Repeat("\x00", 1<<14)))
	f.Add([]byte("\x17\x03\x03\x00\x00"))
	f.Fuzz(func(t *testing.T, said []byte) {
		c := tcp.Config{Addrs: []string{"127.0.0.1:1", "127.0.0.1:2"}, TLS: keys[0]}
		s := &stranger{said: bytes.NewReader(append(bytes.Clone(hello), said...))}
		_, _, _, err := tcp.Welcome(s, &c)
		if read := len(hello) + len(said) - s.said.Len(); err == nil || read > tcp.MaxStranger {
			t.Fatalf("the acceptor has read %d bytes and got %v", read, err)
		}
		c.Rank, c.TLS = 1, keys[1]
		s = &stranger{said: bytes.NewReader(append([]byte{0}, said...))}
		if _, err := tcp.Greet(s, &c, 0, 0); err == nil {
			t.Fatal("the dialer took a stranger for its peer")
		}
	})
}
