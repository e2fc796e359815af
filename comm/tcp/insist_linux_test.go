package tcp

import (
	"net"
	"testing"

	"golang.org/x/sys/unix"
)

// Both ends of a connection retransmit once a second: what the listener has been told holds for what it
// accepts.
func TestBothEndsInsist(t *testing.T) {
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := (&net.Dialer{Control: Insist}).Dial("tcp", l.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	server, err := l.tcp.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for name, conn := range map[string]net.Conn{"dialled": client, "accepted": server} {
		raw, err := conn.(*net.TCPConn).SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		raw.Control(func(fd uintptr) {
			thin, err := unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_THIN_LINEAR_TIMEOUTS)
			if err != nil || thin != 1 {
				t.Errorf("%s: linear time-outs %d, %v", name, thin, err)
			}
			most, err := unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_RTO_MAX_MS)
			if err == nil && most != longestPause { // else a kernel before 6.15
				t.Errorf("%s: longest pause %d ms, want %d", name, most, longestPause)
			}
		})
	}
}
