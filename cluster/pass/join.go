package pass

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// MaxStranger is how many bytes are read from a process before it has proved that it may join.
const MaxStranger = 4 << 10

// Note: joining
//
// The joiner says "lockstep/2 RUN\n" and the launcher answers "lockstep/2 V\n" with a verdict V: go on, or
// why not. Both are in the clear: they let both sides say what is wrong with a version or a token, and
// have nothing worth hiding. The first eleven bytes are the same in all versions. Then TLS 1.3, in which
// the joiner checks the launcher's certificate; the joiner's proof; a last verdict.
const (
	greeting     = "lockstep/"
	version      = greeting + "2 "
	preambleSize = len(version) + runSize + 1
	answerSize   = len(version) + 2
)

// The launcher's verdicts.
const (
	verdictGoOn     = 'y'
	verdictOtherRun = 'r'
	verdictExpired  = 'e'
	verdictSecret   = 's'
	verdictVersion  = 'v'
)

// reasons maps the verdicts to errors of the joiner.
func reasons() map[byte]error {
	return map[byte]error{verdictOtherRun: ErrOtherRun, verdictExpired: ErrExpired,
		verdictSecret: ErrSecret, verdictVersion: ErrVersion}
}

// judge returns the error of a verdict.
func judge(verdict byte) error {
	if verdict == verdictGoOn {
		return nil
	}
	if err := reasons()[verdict]; err != nil {
		return err
	}
	return ErrStranger
}

// readGreeting fills b, which begins with the version of the other side.
func readGreeting(conn io.Reader, b []byte) error {
	head := b[:len(version)]
	if _, err := io.ReadFull(conn, head); err != nil {
		return err
	}
	switch {
	case !strings.HasPrefix(string(head), greeting):
		return ErrStranger
	case string(head) != version:
		return fmt.Errorf("%w: this side speaks %sthe other %.80q", ErrVersion, version, head)
	}
	_, err := io.ReadFull(conn, b[len(version):])
	return err
}

// Enter performs the joiner's side on a new connection to the rendezvous and returns the encrypted one,
// over which the launcher listens. The time is now by the joiner's clock. Errors are those of this package
// (see IsFinal) and of the connection, which stays open.
func (t Token) Enter(conn net.Conn, now time.Time) (net.Conn, error) {
	if err := t.run.Check(now); err != nil {
		return nil, err
	}
	if _, err := io.WriteString(conn, version+string(t.run)+"\n"); err != nil {
		return nil, err
	}
	var answer [answerSize]byte
	if err := readGreeting(conn, answer[:]); err != nil {
		return nil, fmt.Errorf("no answer to the token: %w", err)
	}
	if err := judge(answer[len(version)]); err != nil {
		return nil, err
	}
	sealed := tls.Client(conn, t.client(now))
	if err := sealed.Handshake(); err != nil {
		return nil, fmt.Errorf("handshake: %w", err)
	}
	proof, err := t.proof(sealed)
	if err != nil {
		return nil, err
	}
	if _, err := sealed.Write(proof); err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(sealed, answer[:1]); err != nil {
		return nil, fmt.Errorf("no answer to the token's secret: %w", err)
	}
	return sealed, judge(answer[0])
}

// client returns the configuration of the joiner, which accepts the token's authority alone.
func (t Token) client(now time.Time) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, SessionTicketsDisabled: true,
		InsecureSkipVerify: true, // VerifyConnection does that: the only root is the one of the token
		VerifyConnection: func(s tls.ConnectionState) error {
			for _, root := range s.PeerCertificates {
				if sha256.Sum256(root.RawSubjectPublicKeyInfo) == t.hash {
					return verify(s, root, t.run, launcher, now)
				}
			}
			return ErrAuthority
		},
	}
}

// proof returns the hash that proves knowledge of the secret on this connection and no other.
func (t Token) proof(conn *tls.Conn) ([]byte, error) {
	state := conn.ConnectionState()
	bound, err := state.ExportKeyingMaterial("EXPORTER-lockstep-join", []byte(t.run), sha256.Size)
	if err != nil {
		return nil, fmt.Errorf("pass: bind the proof: %w", err)
	}
	mac := hmac.New(sha256.New, t.secret[:])
	mac.Write(bound)
	return mac.Sum(nil), nil
}

// Admit performs the launcher's side on an accepted connection and returns the encrypted one to a process
// that has proved the secret. Of any other at most MaxStranger bytes are read. Errors are as those of
// Enter; the connection stays open.
func (a *Authority) Admit(conn net.Conn) (net.Conn, error) {
	meter := &metered{Conn: conn, left: MaxStranger}
	var said [preambleSize]byte
	err := readGreeting(meter, said[:])
	verdict := byte(verdictGoOn)
	switch run := a.token.run; {
	case errors.Is(err, ErrVersion):
		verdict = verdictVersion
	case err != nil:
		return nil, err
	case string(said[len(version):]) != string(run)+"\n":
		verdict, err = verdictOtherRun, ErrOtherRun
	default:
		if err = run.Check(time.Now()); err != nil {
			verdict = verdictExpired
		}
	}
	if _, failed := io.WriteString(conn, version+string(verdict)+"\n"); err != nil || failed != nil {
		return nil, errors.Join(err, failed)
	}
	sealed := tls.Server(meter, a.server)
	if err := sealed.Handshake(); err != nil {
		return nil, remote(err)
	}
	if err := a.examine(sealed); err != nil {
		return nil, err
	}
	meter.left = unlimited
	return sealed, nil
}

// examine reads the proof and answers it.
func (a *Authority) examine(sealed *tls.Conn) error {
	want, err := a.token.proof(sealed)
	if err != nil {
		return err
	}
	got := make([]byte, len(want))
	if _, err := io.ReadFull(sealed, got); err != nil {
		return remote(err)
	}
	verdict := byte(verdictGoOn)
	if !hmac.Equal(got, want) {
		verdict, err = verdictSecret, ErrSecret
	}
	_, failed := sealed.Write([]byte{verdict})
	return errors.Join(err, failed)
}

// remote words that the joiner has refused the certificate.
func remote(err error) error {
	if op := (*net.OpError)(nil); errors.As(err, &op) && op.Op == "remote error" {
		return fmt.Errorf("%w (%v)", ErrAuthority, err)
	}
	return err
}

// unlimited lifts the limit of a metered connection.
const unlimited = -1

// metered is a connection from which only so many bytes can be read.
type metered struct {
	net.Conn
	left int
}

func (m *metered) Read(b []byte) (int, error) {
	switch {
	case m.left == unlimited:
		return m.Conn.Read(b)
	case m.left == 0:
		return 0, fmt.Errorf("more than %d bytes before the token: %w", MaxStranger, ErrStranger)
	}
	n, err := m.Conn.Read(b[:min(len(b), m.left)])
	m.left -= n
	return n, err
}
