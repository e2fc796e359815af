package tcp

import (
	"crypto/rand"
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
	helloMagic   = 0x4c534834 // "LSH4", also the version; in the machine's byte order
	helloBytes   = 32 + nonceBytes
	minTokenSize = 16
)

// HelloError reports a connection that is not from the expected peer.
type HelloError struct {
	Peer  string // address of the other side
	Field string // what is wrong: one of the fields, token, or certificate
	Got   uint32 // what the other side has; zero for token and certificate
	Want  uint32 // what this side has
	Err   error  // of the certificate; nil: the other side does not accept the one of this side
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

// The dialer says hello; the acceptor replies with a verdict on the fields, and its own value of one that it
// refuses. Without TLS both then prove that they know the token (Note: proofs). With TLS a handshake follows
// the verdict, and the acceptor confirms with the first record of the stream.
type hello struct {
	magic, generation, world, from, to, security, streams, stream uint32

	nonce [nonceBytes]byte
}

// numbers are the fields but for the nonce, in their order.
func (h *hello) numbers() [8]*uint32 {
	return [...]*uint32{&h.magic, &h.generation, &h.world, &h.from, &h.to, &h.security, &h.streams, &h.stream}
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
	wrongStreams
	wrongStream
	numVerdicts
)

// fields names the fields that a hello may be refused for, by verdict.
var fields = [numVerdicts]string{"", "magic", "generation", "world", "rank", "encryption", "streams",
	"stream"}

// refusalBytes is the length of a verdict with the acceptor's value.
const refusalBytes = 1 + 4

// judge compares a hello with what the acceptor at rank expects.
func (h *hello) judge(c *Config) (verdict byte, err *HelloError) {
	world, streams := uint32(len(c.Addrs)), uint32(c.numStreams())
	refuse := func(verdict byte, got, want uint32) (byte, *HelloError) {
		return verdict, &HelloError{Field: fields[verdict], Got: got, Want: want}
	}
	switch {
	case h.magic != helloMagic:
		return refuse(wrongMagic, h.magic, helloMagic)
	case h.generation != c.Generation:
		return refuse(wrongGeneration, h.generation, c.Generation)
	case h.world != world:
		return refuse(wrongWorld, h.world, world)
	case h.to != uint32(c.Rank):
		return refuse(wrongRank, h.to, uint32(c.Rank))
	case h.from <= uint32(c.Rank) || h.from >= world || !c.isLinked(int(h.from)):
		return refuse(wrongRank, h.from, world-1)
	case h.security != c.security():
		return refuse(wrongSecurity, h.security, c.security())
	case h.streams != streams:
		return refuse(wrongStreams, h.streams, streams)
	case h.stream >= streams:
		return refuse(wrongStream, h.stream, streams-1)
	}
	return accepted, nil
}

// refusal returns the dialer's error after a verdict, which the acceptor's value follows unless it is of
// another version.
func (h *hello) refusal(conn net.Conn, verdict byte) error {
	wrong := &HelloError{Peer: conn.RemoteAddr().String(), Field: "magic", Want: h.magic}
	if verdict == wrongMagic || verdict >= numVerdicts {
		return wrong
	}
	var value [refusalBytes - 1]byte
	if _, err := io.ReadFull(conn, value[:]); err != nil {
		return fmt.Errorf("tcp: handshake with rank %d: refused for its %s: %w", h.to, fields[verdict], err)
	}
	wrong.Field, wrong.Got = fields[verdict], binary.NativeEndian.Uint32(value[:])
	own := [numVerdicts]uint32{wrongGeneration: h.generation, wrongWorld: h.world, wrongRank: h.to,
		wrongSecurity: h.security, wrongStreams: h.streams, wrongStream: h.stream}
	wrong.Want = own[verdict]
	return wrong
}

// greet performs the dialer's side of the handshake of a stream. It returns its seal, or nil without TLS.
func greet(conn net.Conn, c *Config, to, stream int) (*seal, error) {
	conn.SetDeadline(time.Now().Add(HelloTimeout))
	h := hello{magic: helloMagic, generation: c.Generation, world: uint32(len(c.Addrs)),
		from: uint32(c.Rank), to: uint32(to), security: c.security(),
		streams: uint32(c.numStreams()), stream: uint32(stream)}
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
	if verdict[0] != accepted {
		return nil, h.refusal(conn, verdict[0])
	}
	var s *seal
	var err error
	if c.TLS != nil {
		s, err = dialTLS(conn, c.TLS(to), sent[:])
	} else {
		err = Prove(conn, c.Token, sent[:])
	}
	if wrong := (*HelloError)(nil); err != nil && !errors.As(err, &wrong) {
		err = fmt.Errorf("tcp: handshake with rank %d: %w", to, err)
	}
	if err != nil {
		return nil, err
	}
	return s, conn.SetDeadline(time.Time{})
}

// dialTLS performs the handshake of an encrypted stream and waits until the acceptor confirms it.
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

// welcome performs the acceptor's side. It returns the rank of the dialer and which stream of the link this
// is, and its seal or nil without TLS.
func welcome(conn net.Conn, c *Config) (from, stream int, s *seal, err error) {
	conn.SetDeadline(time.Now().Add(HelloTimeout))
	var got [helloBytes]byte
	if _, err := io.ReadFull(conn, got[:]); err != nil {
		return 0, 0, nil, fmt.Errorf("tcp: handshake with %s: %w", conn.RemoteAddr(), err)
	}
	var h hello
	h.parse(got[:])
	verdict, wrong := h.judge(c)
	if wrong != nil {
		answer := []byte{verdict}
		if verdict != wrongMagic {
			answer = binary.NativeEndian.AppendUint32(answer, wrong.Want)
		}
		conn.Write(answer)
		wrong.Peer = conn.RemoteAddr().String()
		return 0, 0, nil, wrong
	}
	if _, err = conn.Write([]byte{accepted}); err == nil && c.TLS != nil {
		s, err = acceptTLS(conn, c.TLS(int(h.from)), got[:])
	} else if err == nil {
		err = AskProof(conn, c.Token, got[:])
	}
	if other := (*HelloError)(nil); err != nil && !errors.As(err, &other) {
		err = fmt.Errorf("tcp: handshake with %s: %w", conn.RemoteAddr(), err)
	}
	if err != nil {
		return 0, 0, nil, err
	}
	return int(h.from), int(h.stream), s, conn.SetDeadline(time.Time{})
}

// acceptTLS performs the handshake of an encrypted stream and confirms it.
func acceptTLS(conn net.Conn, config *tls.Config, hello []byte) (*seal, error) {
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
