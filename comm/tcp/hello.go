package tcp

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// HelloBytes is how much an accepting rank reads before the other side has proved that it knows the
// token; with TLS it reads MaxStranger bytes before the other side has shown its certificate.
// HelloTimeout bounds the time until then.
const (
	HelloBytes   = helloBytes + proofBytes
	MaxStranger  = 4 << 10
	HelloTimeout = 5 * time.Second
)

const (
	helloMagic   = 0x4c534833 // "LSH3", also the version; in the machine's byte order
	nonceBytes   = 32
	helloBytes   = 24 + nonceBytes
	proofBytes   = sha256.Size
	replyBytes   = 1 + nonceBytes + proofBytes
	minTokenSize = 16
)

// HelloError reports a connection that is not from the expected peer.
type HelloError struct {
	Peer  string // address of the other side
	Field string // what is wrong: magic, generation, world, rank, encryption, token, certificate
	Got   uint32 // zero for token and certificate
	Want  uint32
	Err   error // of the certificate; nil: the other side does not accept the one of this side
}

// Error implements error.
func (e *HelloError) Error() string {
	switch {
	case e.Field == "token":
		return fmt.Sprintf("tcp: handshake with %s: wrong token", e.Peer)
	case e.Field == "certificate" && e.Err != nil:
		return fmt.Sprintf("tcp: handshake with %s: %v", e.Peer, e.Err)
	case e.Field == "certificate":
		return fmt.Sprintf("tcp: handshake with %s: it does not accept this rank's certificate", e.Peer)
	}
	return fmt.Sprintf("tcp: handshake with %s: %s %d, want %d", e.Peer, e.Field, e.Got, e.Want)
}

// Unwrap returns the error of the certificate.
func (e *HelloError) Unwrap() error { return e.Err }

// security returns the field of the hello that both sides must agree on: 1 with TLS, else 0.
func (c *Config) security() uint32 {
	if c.TLS != nil {
		return 1
	}
	return 0
}

// The dialer says hello; the acceptor replies with a verdict on the fields. Without TLS it adds its nonce
// and a proof that it knows the token; the dialer answers with its own proof; the acceptor confirms
// with one byte. The proofs cover the hello, both nonces and the direction. With TLS a handshake
// follows the verdict, and the acceptor confirms with the first record of the link.
type hello struct {
	magic, generation, world, from, to, security uint32
	nonce                                        [nonceBytes]byte
}

// numbers are the fields but for the nonce, in their order.
func (h *hello) numbers() [6]*uint32 {
	return [...]*uint32{&h.magic, &h.generation, &h.world, &h.from, &h.to, &h.security}
}

func (h *hello) put(b []byte) {
	for i, v := range h.numbers() {
		binary.NativeEndian.PutUint32(b[4*i:], *v)
	}
	copy(b[helloBytes-nonceBytes:], h.nonce[:])
}

func (h *hello) parse(b []byte) {
	for i, v := range h.numbers() {
		*v = binary.NativeEndian.Uint32(b[4*i:])
	}
	copy(h.nonce[:], b[helloBytes-nonceBytes:])
}

// Verdicts of the acceptor; each is also the index of the wrong field.
const (
	accepted = iota
	wrongMagic
	wrongGeneration
	wrongWorld
	wrongRank
	wrongSecurity
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
	case h.security != c.security():
		return wrongSecurity, &HelloError{Field: "encryption", Got: h.security, Want: c.security()}
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

// greet performs the dialer's side of the handshake. It returns the seal of the link, or nil without TLS.
func greet(conn net.Conn, c *Config, to int) (*seal, error) {
	conn.SetDeadline(time.Now().Add(HelloTimeout))
	h := hello{magic: helloMagic, generation: c.Generation, world: uint32(len(c.Addrs)),
		from: uint32(c.Rank), to: uint32(to), security: c.security()}
	rand.Read(h.nonce[:])
	var sent [helloBytes]byte
	h.put(sent[:])
	if _, err := conn.Write(sent[:]); err != nil {
		return nil, fmt.Errorf("tcp: handshake with rank %d: %w", to, err)
	}
	var verdict [1]byte
	if _, err := io.ReadFull(conn, verdict[:]); err != nil {
		return nil, fmt.Errorf("tcp: handshake with rank %d: %w", to, err)
	}
	if verdict := verdict[0]; verdict != accepted {
		fields := []string{"", "magic", "generation", "world", "rank", "encryption"}
		if int(verdict) >= len(fields) {
			return nil, &HelloError{Peer: conn.RemoteAddr().String(), Field: "magic"}
		}
		return nil, &HelloError{Peer: conn.RemoteAddr().String(), Field: fields[verdict]}
	}
	var s *seal
	var err error
	if c.TLS != nil {
		s, err = dialTLS(conn, c.TLS(to), sent[:])
	} else {
		err = proveTo(conn, c.Token, sent[:])
	}
	if wrong := (*HelloError)(nil); err != nil && !errors.As(err, &wrong) {
		err = fmt.Errorf("tcp: handshake with rank %d: %w", to, err)
	}
	if err != nil {
		return nil, err
	}
	return s, conn.SetDeadline(time.Time{})
}

// proveTo exchanges proofs of the token with the acceptor.
func proveTo(conn net.Conn, token, hello []byte) error {
	var reply [replyBytes - 1]byte
	if _, err := io.ReadFull(conn, reply[:]); err != nil {
		return err
	}
	nonce, theirs := reply[:nonceBytes], reply[nonceBytes:]
	if !hmac.Equal(theirs, proof(token, "accept", hello, nonce)) {
		return &HelloError{Peer: conn.RemoteAddr().String(), Field: "token"}
	}
	if _, err := conn.Write(proof(token, "dial", hello, nonce)); err != nil {
		return err
	}
	_, err := io.ReadFull(conn, reply[:1])
	return err
}

// dialTLS performs the handshake of an encrypted link and waits until the acceptor confirms it.
func dialTLS(conn net.Conn, config *tls.Config, hello []byte) (*seal, error) {
	s, err := handshake(conn, config, hello, true)
	if err != nil {
		return nil, err
	}
	var confirmation [overhead + 1]byte
	if _, err := io.ReadFull(conn, confirmation[:]); err != nil {
		return nil, err
	}
	s.to = copy(s.arrived, confirmation[:])
	if _, isOpen, err := s.open(nil, confirmation[:1]); err != nil || !isOpen {
		return nil, &HelloError{Peer: conn.RemoteAddr().String(), Field: "certificate"}
	}
	return s, nil
}

// handshake performs one side of a TLS handshake and leaves the connection to the seal.
func handshake(conn net.Conn, config *tls.Config, hello []byte, isDialer bool) (*seal, error) {
	var refused error
	verify, config := config.VerifyConnection, config.Clone()
	config.VerifyConnection = func(s tls.ConnectionState) error {
		refused = verify(s)
		return refused
	}
	side := tls.Server
	if isDialer {
		side = tls.Client
	}
	inside := side(conn, config)
	err := inside.Handshake()
	if refused != nil {
		return nil, &HelloError{Peer: conn.RemoteAddr().String(), Field: "certificate", Err: refused}
	}
	if err != nil {
		return nil, err
	}
	return newSeal(inside.ConnectionState(), hello, isDialer)
}

// stranger is a connection from which only so many bytes can be read.
type stranger struct {
	net.Conn
	reader io.LimitedReader
}

func (s *stranger) Read(b []byte) (int, error) { return s.reader.Read(b) }

// welcome performs the acceptor's side. It returns the rank of the dialer, and the seal of the link or nil
// without TLS.
func welcome(conn net.Conn, c *Config) (from int, s *seal, err error) {
	conn.SetDeadline(time.Now().Add(HelloTimeout))
	var got [helloBytes]byte
	if _, err := io.ReadFull(conn, got[:]); err != nil {
		return 0, nil, fmt.Errorf("tcp: handshake with %s: %w", conn.RemoteAddr(), err)
	}
	var h hello
	h.parse(got[:])
	verdict, wrong := h.judge(c)
	if wrong != nil {
		conn.Write([]byte{verdict})
		wrong.Peer = conn.RemoteAddr().String()
		return 0, nil, wrong
	}
	if c.TLS != nil {
		s, err = acceptTLS(conn, c.TLS(int(h.from)), got[:])
	} else {
		err = askProof(conn, c.Token, got[:])
	}
	if other := (*HelloError)(nil); err != nil && !errors.As(err, &other) {
		err = fmt.Errorf("tcp: handshake with %s: %w", conn.RemoteAddr(), err)
	}
	if err != nil {
		return 0, nil, err
	}
	return int(h.from), s, conn.SetDeadline(time.Time{})
}

// askProof accepts the hello, proves the token and checks the dialer's proof.
func askProof(conn net.Conn, token, hello []byte) error {
	var nonce [nonceBytes]byte
	rand.Read(nonce[:])
	reply := append([]byte{accepted}, nonce[:]...)
	reply = append(reply, proof(token, "accept", hello, nonce[:])...)
	if _, err := conn.Write(reply); err != nil {
		return err
	}
	var theirs [proofBytes]byte
	if _, err := io.ReadFull(conn, theirs[:]); err != nil {
		return err
	}
	if !hmac.Equal(theirs[:], proof(token, "dial", hello, nonce[:])) {
		return &HelloError{Peer: conn.RemoteAddr().String(), Field: "token"}
	}
	_, err := conn.Write([]byte{accepted})
	return err
}

// acceptTLS accepts the hello, performs the handshake of an encrypted link and confirms it.
func acceptTLS(conn net.Conn, config *tls.Config, hello []byte) (*seal, error) {
	if _, err := conn.Write([]byte{accepted}); err != nil {
		return nil, err
	}
	limited := &stranger{conn, io.LimitedReader{R: conn, N: MaxStranger - helloBytes}}
	s, err := handshake(limited, config, hello, false)
	if err != nil {
		return nil, err
	}
	if _, err := s.add(nil, []byte{accepted}); err != nil {
		return nil, err
	}
	_, err = conn.Write(s.buffer)
	s.buffer = s.buffer[:0]
	return s, err
}
