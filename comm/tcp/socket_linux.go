package tcp

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// socket is a descriptor with preallocated arguments of its vectored calls, so that a call
// allocates nothing.
type socket struct {
	fd      int
	message unix.Msghdr
	vector  [2]unix.Iovec
}

// send writes head and body with one sendmsg.
func (s *socket) send(head, body []byte) (int, error) {
	return s.call(unix.SYS_SENDMSG, unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT, head, body)
}

// receive reads into head and body with one recvmsg; 0 and no error means the end of the stream.
func (s *socket) receive(head, body []byte) (int, error) {
	return s.call(unix.SYS_RECVMSG, unix.MSG_DONTWAIT, head, body)
}

func (s *socket) call(number, flags uintptr, head, body []byte) (int, error) {
	num := 0
	for _, b := range [...][]byte{head, body} {
		if len(b) > 0 {
			s.vector[num].Base = &b[0]
			s.vector[num].SetLen(len(b))
			num++
		}
	}
	s.message.Iov = &s.vector[0]
	s.message.SetIovlen(num)
	n, _, errno := unix.Syscall(number, uintptr(s.fd), uintptr(unsafe.Pointer(&s.message)), flags)
	s.vector = [2]unix.Iovec{}
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
