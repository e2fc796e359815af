package lab

import (
	"encoding/binary"
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// netlink is a socket by which the interfaces of one network namespace are made and asked. Its messages
// are those of rtnetlink(7).
type netlink struct {
	fd       int
	sequence uint32
}

// openNetlink opens a socket to the namespace.
func openNetlink(ns namespace) (*netlink, error) {
	n := &netlink{}
	return n, ns.do(func() (err error) {
		n.fd, err = unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
		return os.NewSyscallError("netlink socket", err)
	})
}

func (n *netlink) close() error { return unix.Close(n.fd) }

// request is a message in the making: a header, a fixed body that depends on the kind, then attributes.
type request []byte

func newRequest(kind, flags uint16, body any) request {
	r := make(request, unix.SizeofNlMsghdr)
	binary.NativeEndian.PutUint16(r[4:], kind)
	binary.NativeEndian.PutUint16(r[6:], flags|unix.NLM_F_REQUEST|unix.NLM_F_ACK)
	return r.append(body)
}

// append adds a value of fixed size as it lies in memory.
func (r request) append(value any) request {
	r, err := binary.Append(r, binary.NativeEndian, value)
	if err != nil {
		panic(err) // not of fixed size
	}
	return r
}

// attribute adds a value: bytes, text with a final zero, or anything of fixed size.
func (r request) attribute(kind uint16, value any) request {
	return r.nest(kind, func(r request) request {
		if text, ok := value.(string); ok {
			return append(append(r, text...), 0)
		}
		return r.append(value)
	})
}

// nest adds an attribute that holds what fill adds.
func (r request) nest(kind uint16, fill func(request) request) request {
	start := len(r)
	r = fill(append(r, 0, 0, 0, 0))
	binary.NativeEndian.PutUint16(r[start:], uint16(len(r)-start))
	binary.NativeEndian.PutUint16(r[start+2:], kind)
	for len(r)%unix.NLMSG_ALIGNTO != 0 {
		r = append(r, 0)
	}
	return r
}

// ask sends a request and calls found, if not nil, with each message that comes back, until the kernel has
// acknowledged it. The error is the kernel's.
func (n *netlink) ask(r request, found func(syscall.NetlinkMessage)) error {
	n.sequence++
	binary.NativeEndian.PutUint32(r, uint32(len(r)))
	binary.NativeEndian.PutUint32(r[8:], n.sequence)
	if err := unix.Sendto(n.fd, r, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return os.NewSyscallError("netlink send", err)
	}
	buffer := make([]byte, 1<<16)
	for {
		size, _, err := unix.Recvfrom(n.fd, buffer, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return os.NewSyscallError("netlink receive", err)
		}
		messages, err := syscall.ParseNetlinkMessage(buffer[:size])
		if err != nil {
			return os.NewSyscallError("netlink receive", err)
		}
		for _, m := range messages {
			if kind := m.Header.Type; kind == unix.NLMSG_ERROR || kind == unix.NLMSG_DONE {
				if code := int32(binary.NativeEndian.Uint32(m.Data)); code != 0 {
					return unix.Errno(-code)
				}
				return nil
			}
			if found != nil {
				found(m)
			}
		}
	}
}
