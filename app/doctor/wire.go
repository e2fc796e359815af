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
// listen. Then the source asks: 'P' for the target's clock, or 'B', a length and so many bytes, which the
// target reads and answers with its clock. Before its proof is right the target reads 72 bytes.

const (
	magic      = "lsprobe2"
	keyBytes   = 32
	helloBytes = len(magic) + 32

	opPing = 'P'
	opBulk = 'B'

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
	buffer := make([]byte, 256<<10)
	for {
		if _, err := io.ReadFull(conn, buffer[:1]); err != nil {
			return err
		}
		switch buffer[0] {
		case opPing:
		case opBulk:
			if _, err := io.ReadFull(conn, buffer[:4]); err != nil {
				return err
			}
			n := binary.BigEndian.Uint32(buffer)
			if n > maxBulk {
				return fmt.Errorf("doctor: %d bytes in a probe, want at most %d", n, maxBulk)
			}
			if err := discard(conn, int(n), buffer); err != nil {
				return err
			}
		default:
			return fmt.Errorf("doctor: request %q in a probe", buffer[0])
		}
		clock := binary.BigEndian.AppendUint64(nil, uint64(now().UnixNano()))
		if _, err := conn.Write(clock); err != nil {
			return err
		}
	}
}

// discard reads n bytes.
func discard(r io.Reader, n int, buffer []byte) error {
	for n > 0 {
		got, err := r.Read(buffer[:min(n, len(buffer))])
		if n -= got; err != nil && n > 0 {
			return err
		}
	}
	return nil
}
