package doctor

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// Note: the exchange of a probe. The source dials and sends the magic and 16 random bytes. The target
// answers with 16 of its own and the authentication code of both under the key, which proves that it is the
// host that the console has asked to listen. The source answers with a code of its own. Then the source
// asks: 'P' for the target's clock, or 'B', a length and so many bytes, which the target reads and answers
// with its clock. Before its code is right the target reads 56 bytes and sends 48.

const (
	magic      = "lsprobe1"
	keyBytes   = 32
	nonceBytes = 16

	opPing = 'P'
	opBulk = 'B'

	maxBulk = 64 << 20 // bytes of one request

	handshakeTime = 2 * time.Second // that a stranger has to show the key
	probeTime     = 8 * time.Second // that a connection may last
)

// Directions of a proof: neither side can send back what it got.
const (
	proofOfTarget = "target"
	proofOfSource = "source"
)

// errStranger is the error of an exchange with somebody who does not have the key.
var errStranger = errors.New("something else answers there")

// proof returns the authentication code of both nonces.
func proof(key []byte, direction string, source, target []byte) []byte {
	h := hmac.New(sha256.New, key)
	io.WriteString(h, direction)
	h.Write(source)
	h.Write(target)
	return h.Sum(nil)
}

// greet is the source's side of the exchange.
func greet(conn net.Conn, key []byte) error {
	nonce := make([]byte, nonceBytes)
	rand.Read(nonce) // never fails
	if _, err := conn.Write(append([]byte(magic), nonce...)); err != nil {
		return err
	}
	answer := make([]byte, nonceBytes+sha256.Size)
	if _, err := io.ReadFull(conn, answer); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return errStranger
		}
		return err
	}
	other := answer[:nonceBytes]
	if !hmac.Equal(answer[nonceBytes:], proof(key, proofOfTarget, nonce, other)) {
		return errStranger
	}
	_, err := conn.Write(proof(key, proofOfSource, nonce, other))
	return err
}

// admit is the target's side of the exchange.
func admit(conn net.Conn, key []byte) error {
	hello := make([]byte, len(magic)+nonceBytes)
	if _, err := io.ReadFull(conn, hello); err != nil {
		return err
	}
	if string(hello[:len(magic)]) != magic {
		return errStranger
	}
	nonce, other := hello[len(magic):], make([]byte, nonceBytes)
	rand.Read(other) // never fails
	if _, err := conn.Write(append(other, proof(key, proofOfTarget, nonce, other)...)); err != nil {
		return err
	}
	got := make([]byte, sha256.Size)
	if _, err := io.ReadFull(conn, got); err != nil {
		return err
	}
	if !hmac.Equal(got, proof(key, proofOfSource, nonce, other)) {
		return errStranger
	}
	return nil
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
