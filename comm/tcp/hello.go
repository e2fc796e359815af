package tcp

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"
)

// HelloBytes is how much an accepting rank reads before the other side has proved that it knows the
// token. HelloTimeout bounds the time until then.
const (
	HelloBytes   = helloBytes + proofBytes
	HelloTimeout = 5 * time.Second
)

const (
	helloMagic   = 0x4c534832 // "LSH2", also the version; in the machine's byte order
	nonceBytes   = 32
	helloBytes   = 20 + nonceBytes
	proofBytes   = sha256.Size
	replyBytes   = 1 + nonceBytes + proofBytes
	minTokenSize = 16
)

// HelloError reports a connection that is not from the expected peer.
type HelloError struct {
	Peer  string // address of the other side
	Field string // the wrong field: "magic", "generation", "world", "rank", "token"
	Got   uint32 // zero for the token
	Want  uint32
}

// Error implements error.
func (e *HelloError) Error() string {
	if e.Field == "token" {
		return fmt.Sprintf("tcp: handshake with %s: wrong token", e.Peer)
	}
	return fmt.Sprintf("tcp: handshake with %s: %s %d, want %d", e.Peer, e.Field, e.Got, e.Want)
}

// The dialer says hello; the acceptor replies with a verdict on the fields, its nonce and a proof
// that it knows the token; the dialer answers with its own proof; the acceptor confirms with one
// byte. The proofs cover the hello, both nonces and the direction.
type hello struct {
	magic, generation, world, from, to uint32
	nonce                              [nonceBytes]byte
}

func (h *hello) put(b []byte) {
	for i, v := range []uint32{h.magic, h.generation, h.world, h.from, h.to} {
		binary.NativeEndian.PutUint32(b[4*i:], v)
	}
	copy(b[20:], h.nonce[:])
}

func (h *hello) parse(b []byte) {
	for i, v := range []*uint32{&h.magic, &h.generation, &h.world, &h.from, &h.to} {
		*v = binary.NativeEndian.Uint32(b[4*i:])
	}
	copy(h.nonce[:], b[20:])
}

// Verdicts of the acceptor; each is also the index of the wrong field.
const (
	accepted = iota
	wrongMagic
	wrongGeneration
	wrongWorld
	wrongRank
)

// judge compares a hello with what the acceptor at rank expects.
func (h *hello) judge(c *Config) (verdict byte, err *HelloError) {
	world := uint32(len(c.Addrs))
	switch {
	case h.magic != helloMagic:
		return wrongMagic, &HelloError{Field: "magic", Got: h.magic, Want: helloMagic}
	case h.generation != c.Generation:
		return wrongGeneration, &HelloError{Field: "generation", Got: h.generation, Want: c.Generation}
	case h.world != world:
		return wrongWorld, &HelloError{Field: "world", Got: h.world, Want: world}
	case h.to != uint32(c.Rank):
		return wrongRank, &HelloError{Field: "rank", Got: h.to, Want: uint32(c.Rank)}
	case h.from <= uint32(c.Rank) || h.from >= world || !c.isLinked(int(h.from)):
		return wrongRank, &HelloError{Field: "rank", Got: h.from, Want: world - 1}
	}
	return accepted, nil
}

// proof returns the HMAC that proves knowledge of the token.
func proof(token []byte, side string, hello, nonce []byte) []byte {
	mac := hmac.New(sha256.New, token)
	io.WriteString(mac, "lockstep "+side)
	mac.Write(hello)
	mac.Write(nonce)
	return mac.Sum(nil)
}

// greet performs the dialer's side of the handshake.
func greet(conn net.Conn, c *Config, to int) error {
	conn.SetDeadline(time.Now().Add(HelloTimeout))
	h := hello{magic: helloMagic, generation: c.Generation, world: uint32(len(c.Addrs)),
		from: uint32(c.Rank), to: uint32(to)}
	rand.Read(h.nonce[:])
	var sent [helloBytes]byte
	h.put(sent[:])
	if _, err := conn.Write(sent[:]); err != nil {
		return fmt.Errorf("tcp: handshake with rank %d: %w", to, err)
	}
	var reply [replyBytes]byte
	if _, err := io.ReadFull(conn, reply[:1]); err != nil {
		return fmt.Errorf("tcp: handshake with rank %d: %w", to, err)
	}
	if verdict := reply[0]; verdict != accepted {
		fields := []string{"", "magic", "generation", "world", "rank"}
		if int(verdict) >= len(fields) {
			return &HelloError{Peer: conn.RemoteAddr().String(), Field: "magic"}
		}
		return &HelloError{Peer: conn.RemoteAddr().String(), Field: fields[verdict]}
	}
	if _, err := io.ReadFull(conn, reply[1:]); err != nil {
		return fmt.Errorf("tcp: handshake with rank %d: %w", to, err)
	}
	nonce, theirs := reply[1:1+nonceBytes], reply[1+nonceBytes:]
	if !hmac.Equal(theirs, proof(c.Token, "accept", sent[:], nonce)) {
		return &HelloError{Peer: conn.RemoteAddr().String(), Field: "token"}
	}
	if _, err := conn.Write(proof(c.Token, "dial", sent[:], nonce)); err != nil {
		return fmt.Errorf("tcp: handshake with rank %d: %w", to, err)
	}
	if _, err := io.ReadFull(conn, reply[:1]); err != nil {
		return fmt.Errorf("tcp: handshake with rank %d: %w", to, err)
	}
	return conn.SetDeadline(time.Time{})
}

// welcome performs the acceptor's side and returns the rank of the dialer.
func welcome(conn net.Conn, c *Config) (from int, err error) {
	conn.SetDeadline(time.Now().Add(HelloTimeout))
	var got [helloBytes]byte
	if _, err := io.ReadFull(conn, got[:]); err != nil {
		return 0, fmt.Errorf("tcp: handshake with %s: %w", conn.RemoteAddr(), err)
	}
	var h hello
	h.parse(got[:])
	verdict, wrong := h.judge(c)
	if wrong != nil {
		conn.Write([]byte{verdict})
		wrong.Peer = conn.RemoteAddr().String()
		return 0, wrong
	}
	var nonce [nonceBytes]byte
	rand.Read(nonce[:])
	reply := append([]byte{accepted}, nonce[:]...)
	reply = append(reply, proof(c.Token, "accept", got[:], nonce[:])...)
	if _, err := conn.Write(reply); err != nil {
		return 0, fmt.Errorf("tcp: handshake with %s: %w", conn.RemoteAddr(), err)
	}
	var theirs [proofBytes]byte
	if _, err := io.ReadFull(conn, theirs[:]); err != nil {
		return 0, fmt.Errorf("tcp: handshake with %s: %w", conn.RemoteAddr(), err)
	}
	if !hmac.Equal(theirs[:], proof(c.Token, "dial", got[:], nonce[:])) {
		return 0, &HelloError{Peer: conn.RemoteAddr().String(), Field: "token"}
	}
	if _, err := conn.Write([]byte{accepted}); err != nil {
		return 0, fmt.Errorf("tcp: handshake with %s: %w", conn.RemoteAddr(), err)
	}
	return int(h.from), conn.SetDeadline(time.Time{})
}
