package serve

import (
	"errors"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// ignoreNew makes the system drop the packets with which clients begin to connect to l, as if they were lost
// on the way: a client sends another one about a second later, to whoever listens then. Connections that have
// begun are completed. It drops what has the flag SYN in byte 13 of the TCP header, where a filter's packet
// begins.
func ignoreNew(l net.Listener) error {
	const flags, syn, whole = 13, 2, 1 << 18
	program := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: flags},
		{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, Jf: 1, K: syn},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0},
		{Code: unix.BPF_RET | unix.BPF_K, K: whole},
	}
	socket, isSocket := l.(syscall.Conn)
	if !isSocket {
		return errors.ErrUnsupported
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	fault := raw.Control(func(fd uintptr) {
		err = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
			&unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]})
	})
	return errors.Join(fault, err)
}
