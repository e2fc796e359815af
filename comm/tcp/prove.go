package tcp

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"io"
	"net"
)

// Note: proofs
//
// Two ends of a connection prove to each other that they know a secret, without showing it. The dialer has
// sent a hello with random bytes in it. The acceptor answers with a nonce and the HMAC-SHA256 of its side,
// the hello and the nonce under the secret. The dialer answers with the HMAC of the other side, so that
// neither can send back what it got, and the acceptor confirms with one byte.

const (
	nonceBytes = 32
	proofBytes = sha256.Size
	confirmed  = 0
)

// Prove is the dialer's side of the proofs, after it has sent hello, which has at least 16 random bytes. The
// error is a *HelloError if the other side does not know the secret, else that of conn, whose deadline
// bounds it.
func Prove(conn net.Conn, secret, hello []byte) error {
	var answer [nonceBytes + proofBytes]byte
	if _, err := io.ReadFull(conn, answer[:]); err != nil {
		return err
	}
	nonce, theirs := answer[:nonceBytes], answer[nonceBytes:]
	if !hmac.Equal(theirs, proof(secret, "accept", hello, nonce)) {
		return &HelloError{Peer: conn.RemoteAddr().String(), Field: "token"}
	}
	if _, err := conn.Write(proof(secret, "dial", hello, nonce)); err != nil {
		return err
	}
	_, err := io.ReadFull(conn, answer[:1])
	return err
}

// AskProof is the acceptor's side of the proofs, after it has read hello. It reads 32 bytes more. The error
// is as that of Prove.
func AskProof(conn net.Conn, secret, hello []byte) error {
	nonce := make([]byte, nonceBytes)
	rand.Read(nonce) // never fails
	if _, err := conn.Write(append(nonce, proof(secret, "accept", hello, nonce)...)); err != nil {
		return err
	}
	var theirs [proofBytes]byte
	if _, err := io.ReadFull(conn, theirs[:]); err != nil {
		return err
	}
	if !hmac.Equal(theirs[:], proof(secret, "dial", hello, nonce)) {
		return &HelloError{Peer: conn.RemoteAddr().String(), Field: "token"}
	}
	_, err := conn.Write([]byte{confirmed})
	return err
}

// proof returns the HMAC that proves knowledge of the secret.
func proof(secret []byte, side string, hello, nonce []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	io.WriteString(mac, "lockstep "+side)
	mac.Write(hello)
	mac.Write(nonce)
	return mac.Sum(nil)
}
