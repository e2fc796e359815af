//go:build unix && !linux

package tcp

import "golang.org/x/sys/unix"

// socket is a descriptor.
type socket struct{ fd int }

// send writes head and then body.
func (s *socket) send(head, body []byte) (int, error) {
	return both(head, body, func(b []byte) (int, error) { return unix.Write(s.fd, b) })
}

// receive reads into head and then body; 0 and no error means the end of the stream.
func (s *socket) receive(head, body []byte) (int, error) {
	return both(head, body, func(b []byte) (int, error) { return unix.Read(s.fd, b) })
}

// both calls move for head and, if all of head was moved, for body. An error of the second call is
// returned by the next call.
func both(head, body []byte, move func([]byte) (int, error)) (int, error) {
	n := 0
	if len(head) > 0 {
		var err error
		if n, err = move(head); err != nil || n < len(head) {
			return max(n, 0), err
		}
	}
	if len(body) == 0 {
		return n, nil
	}
	k, err := move(body)
	if err != nil && n == 0 {
		return 0, err
	}
	return n + max(k, 0), nil
}
