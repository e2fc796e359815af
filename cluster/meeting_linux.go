package cluster

import (
	"fmt"
	"net"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// peerProcess returns the process at the other end of a Unix socket, which must be of this user.
func peerProcess(conn net.Conn) (pid int, err error) {
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return 0, err
	}
	var peer *unix.Ucred
	failed := raw.Control(func(fd uintptr) {
		peer, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if failed != nil || err != nil {
		return 0, os.NewSyscallError("getsockopt", err)
	}
	if int(peer.Uid) != os.Getuid() {
		return 0, fmt.Errorf("the process at the other end is of user %d, this one of user %d", peer.Uid,
			os.Getuid())
	}
	return int(peer.Pid), nil
}

func duplicate(from, to int) error { return unix.Dup3(from, to, 0) }

// pathOf is a path by which other processes of this user open the same file.
func pathOf(f *os.File) string {
	return "/proc/" + strconv.Itoa(os.Getpid()) + "/fd/" + strconv.Itoa(int(f.Fd()))
}
