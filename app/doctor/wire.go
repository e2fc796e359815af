package doctor

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"lockstep/comm/tcp"
)

// Note: the exchange of a probe
//
// The source dials and says hello: the magic and random bytes. Both sides then prove that they know the key,
// as the ranks of a run do (package tcp), so that the target is the host that the console has asked to
// listen. Then the source sends a length and so many bytes, any number of times, and the target answers each
// with its clock. Before its proof is right the target reads 72 bytes.

const (
	magic      = "lsprobe3"
	keyBytes   = 32
	helloBytes = len(magic) + 32

	maxBulk = 64 << 20 // bytes of one request

	handshakeTime = 2 * time.Second // that a stranger has to show the key
	probeTime     = 8 * time.Second // that a connection may last
)

// errStranger is the error of an exchange with somebody who does not have the key.
var errStranger = errors.New("something else answers there")

// greet is the source's side of the exchange.
func greet(conn net.Conn, key []byte) error {
	var hello [helloBytes]byte
	rand.Read(hello[copy(hello[:], magic):]) // never fails
	if _, err := conn.Write(hello[:]); err != nil {
		return err
	}
	err := tcp.Prove(conn, key, hello[:])
	isCut := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	if wrong := (*tcp.HelloError)(nil); isCut || errors.As(err, &wrong) {
		return errStranger
	}
	return err
}

// admit is the target's side of the exchange.
func admit(conn net.Conn, key []byte) error {
	var hello [helloBytes]byte
	if _, err := io.ReadFull(conn, hello[:]); err != nil {
		return err
	}
	if string(hello[:len(magic)]) != magic {
		return errStranger
	}
	return tcp.AskProof(conn, key, hello[:])
}

// serve answers the requests of a source that has shown the key, until it hangs up.
func serve(conn net.Conn, now func() time.Time) error {
	var head [4]byte
	for {
		if _, err := io.ReadFull(conn, head[:]); err != nil {
			return err
		}
		n := binary.BigEndian.Uint32(head[:])
		if n > maxBulk {
			return fmt.Errorf("doctor: %d bytes in a probe, want at most %d", n, maxBulk)
		}
		if _, err := io.CopyN(io.Discard, conn, int64(n)); err != nil {
			return err
		}
		clock := binary.BigEndian.AppendUint64(nil, uint64(now().UnixNano()))
		if _, err := conn.Write(clock); err != nil {
			return err
		}
	}
}

// request sends n bytes of some content, again and again, and returns the clock in the answer.
func request(conn net.Conn, n int, content []byte) (time.Time, error) {
	if _, err := conn.Write(binary.BigEndian.AppendUint32(nil, uint32(n))); err != nil {
		return time.Time{}, err
	}
	for n > 0 {
		sent, err := conn.Write(content[:min(n, len(content))])
		if err != nil {
			return time.Time{}, err
		}
		n -= sent
	}
	var answer [8]byte
	if _, err := io.ReadFull(conn, answer[:]); err != nil {
		return time.Time{}, err
	}
	return time.Unix(0, int64(binary.BigEndian.Uint64(answer[:]))), nil
}
