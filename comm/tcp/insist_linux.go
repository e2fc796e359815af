package tcp

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// In milliseconds: the longest pause between two retransmissions of a packet, and after which time without an
// acknowledgement the kernel ends a connection, which otherwise is a number of retransmissions.
const (
	longestPause  = 1000
	kernelGivesUp = 15 * 60 * 1000
)

// Insist makes a socket retransmit a lost packet at least once a second. By default the pause doubles each
// time: with 30 % loss in each direction one packet in a hundred takes 25 seconds, and what is behind it
// waits. It is the Control of a net.Dialer or net.ListenConfig, whose connections inherit it, and changes
// nothing where the kernel cannot: before Linux 6.15 only the first six pauses of a stream with few
// packets under way do not grow.
func Insist(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) {
		unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_RTO_MAX_MS, longestPause)
		unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, kernelGivesUp)
		unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_THIN_LINEAR_TIMEOUTS, 1)
	})
}
