package tcp_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"lockstep/comm"
	"lockstep/comm/tcp"
)

func TestListenWantsOneInterface(t *testing.T) {
	for _, address := range []string{":0", "0.0.0.0:0", "[::]:0", "[::ffff:0.0.0.0]:0"} {
		l, err := tcp.Listen(address)
		if err == nil {
			l.Close()
			t.Errorf("%s: no error", address)
		}
	}
}

// join connects ranks 0 and 1 with the given configurations and returns both errors.
func join(t *testing.T, timeout time.Duration, change func(rank int, c *tcp.Config)) [2]error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	listeners, addrs := listen(t, 2)
	var errs [2]error
	done := make(chan struct{})
	connectOne := func(rank int) {
		defer listeners[rank].Close()
		c := tcp.Config{Rank: rank, Addrs: addrs, Token: []byte(token), Generation: 4}
		change(rank, &c)
		mesh, err := tcp.Connect(ctx, listeners[rank], c)
		if errs[rank] = err; err == nil {
			mesh.Close()
		}
	}
	go func() {
		defer close(done)
		connectOne(1)
		cancel()
	}()
	connectOne(0)
	<-done
	return errs
}

func TestPeersThatDoNotBelongAreRefusedByName(t *testing.T) {
	tests := []struct {
		field  string
		change func(rank int, c *tcp.Config)
	}{
		{"token", func(rank int, c *tcp.Config) {
			if rank == 1 {
				c.Token = []byte("another token of the same length")
			}
		}},
		{"generation", func(rank int, c *tcp.Config) { c.Generation += uint32(rank) }},
		{"world", func(rank int, c *tcp.Config) {
			if rank == 1 {
				c.Addrs = append([]string{c.Addrs[0], c.Addrs[1]}, "127.0.0.1:1")
			}
		}},
		{"streams", func(rank int, c *tcp.Config) { c.Streams = 2 + rank }},
	}
	for _, test := range tests {
		errs := join(t, 10*time.Second, test.change)
		var hello *tcp.HelloError
		if !errors.As(errs[1], &hello) || hello.Field != test.field {
			t.Errorf("%s: the dialer got %v", test.field, errs[1])
		} else if test.field != "token" && hello.Want != hello.Got+1 {
			t.Errorf("%s: the dialer got %v, want both values", test.field, errs[1])
		}
		if errs[0] == nil || !strings.Contains(errs[0].Error(), "ranks [1] missing") {
			t.Errorf("%s: the acceptor got %v", test.field, errs[0])
		}
	}
}

func TestWrongConfigurationsAreUsageErrors(t *testing.T) {
	for _, c := range []tcp.Config{
		{Rank: 0, Addrs: []string{"127.0.0.1:1"}, Token: []byte("short")},
		{Rank: 2, Addrs: []string{"a", "b"}, Token: []byte(token)},
		{Addrs: []string{"a", "b"}, Token: []byte(token), Streams: tcp.MaxStreams + 1},
		{Addrs: []string{"a", "b"}, Token: []byte(token), Streams: -1},
	} {
		if _, err := tcp.Connect(context.Background(), nil, c); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
}

// Strangers that connect before the peers do are closed after at most HelloBytes and disturb
// nobody.
func TestStrangersDoNotDisturb(t *testing.T) {
	listeners, addrs := listen(t, 2)
	garbage := [][]byte{nil, []byte("GET / HTTP/1.1\r\n\r\n"), bytes.Repeat([]byte{0xff}, 4096),
		{0x16, 0x03, 0x01, 0x02, 0x00}, make([]byte, 1<<20)}
	var strangers []net.Conn
	for _, g := range garbage {
		conn, err := net.Dial("tcp", addrs[0])
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		go conn.Write(g)
		strangers = append(strangers, conn)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	meshes := make(chan comm.Mesh, 2)
	for r, l := range listeners {
		go func() {
			defer l.Close()
			m, err := tcp.Connect(ctx, l, tcp.Config{Rank: r, Addrs: addrs, Token: []byte(token)})
			if err != nil {
				t.Error(err)
			}
			meshes <- m
		}()
	}
	for range listeners {
		if m := <-meshes; m != nil {
			defer m.Close()
		}
	}
	for i, conn := range strangers {
		conn.SetReadDeadline(time.Now().Add(30 * time.Second))
		answer, err := io.ReadAll(conn)
		if errors.Is(err, context.DeadlineExceeded) || len(answer) > 1 {
			t.Errorf("stranger %d: got %d bytes, %v, want at most a verdict and the end", i,
				len(answer), err)
		}
	}
}

func TestMissingRanksAreNamed(t *testing.T) {
	listeners, addrs := listen(t, 3)
	for _, l := range listeners {
		defer l.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err := tcp.Connect(ctx, listeners[0], tcp.Config{Addrs: addrs, Token: []byte(token)})
	if !errors.Is(err, context.DeadlineExceeded) ||
		!strings.Contains(err.Error(), "ranks [1 2] missing") {
		t.Errorf("got %v", err)
	}
}

// An acceptor names the number of a stream that it does not have, and both numbers of streams.
func TestStreamsOfAHello(t *testing.T) {
	c := tcp.Config{Addrs: []string{"127.0.0.1:1", "127.0.0.1:2"}, Token: []byte(token), Streams: 3}
	for _, test := range []struct {
		streams, stream uint32
		want            tcp.HelloError
	}{
		{3, 3, tcp.HelloError{Field: "stream", Got: 3, Want: 2}},
		{3, 1 << 31, tcp.HelloError{Field: "stream", Got: 1 << 31, Want: 2}},
		{1, 0, tcp.HelloError{Field: "streams", Got: 1, Want: 3}},
		{4, 3, tcp.HelloError{Field: "streams", Got: 4, Want: 3}},
	} {
		said := append(helloOf(0, 0, test.streams, test.stream), make([]byte, 32)...)
		s := &stranger{said: bytes.NewReader(said)}
		_, _, _, err := tcp.Welcome(s, &c)
		test.want.Peer = s.RemoteAddr().String()
		var got *tcp.HelloError
		if !errors.As(err, &got) || *got != test.want {
			t.Errorf("stream %d of %d: got %v, want %v", test.stream, test.streams, err, &test.want)
		}
	}
}
