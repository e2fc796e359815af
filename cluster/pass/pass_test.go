package pass_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"lockstep/cluster/pass"
)

func newAuthority(t testing.TB) *pass.Authority {
	t.Helper()
	a, err := pass.NewAuthority(time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func newToken(t testing.TB) pass.Token {
	t.Helper()
	token, err := pass.NewToken(time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestTokensSurviveTheirText(t *testing.T) {
	for _, token := range []pass.Token{newToken(t), newAuthority(t).Token()} {
		read, err := pass.Parse(token.Reveal())
		if err != nil || read != token {
			t.Errorf("%q: got %q, %v", token.Reveal(), read.Reveal(), err)
		}
		if left := time.Until(token.Run().Until()); left > time.Hour || left < 59*time.Minute-time.Minute {
			t.Errorf("valid for %v, want an hour", left)
		}
	}
}

func TestDamagedTokensAreRefusedWithoutTheirText(t *testing.T) {
	text := newToken(t).Reveal()
	part := strings.Split(text, ".")
	for name, bad := range map[string]string{
		"nothing": "", "the form of old": "00112233445566778899aabbccddeeff", "cut": text[:len(text)-1],
		"longer": text + "A", "another format": "ls2" + text[3:], "no run": "ls1.." + part[2] + "." + part[3],
		"month 13": strings.Replace(text, part[1][:6], "209913", 1), "a line": text + "\n",
		"a line within": text[:len(text)-2] + "\n" + text[len(text)-1:],
		"not canonical": text[:len(text)-1] + "_", "spaces": " " + text,
	} {
		_, err := pass.Parse(bad)
		if err == nil || !strings.Contains(err.Error(), "export LOCKSTEP_TOKEN=$(lockstep token)") ||
			strings.Contains(err.Error(), part[3][:8]) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want one line with the next command and without the secret", name, err)
		}
	}
}

// No way of printing a token, or what holds it, shows the secret.
func TestPrintingHidesTheSecret(t *testing.T) {
	token := newToken(t)
	holder := struct{ Token pass.Token }{token}
	secret := token.Reveal()[strings.LastIndex(token.Reveal(), ".")+1:]
	for _, form := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		for _, value := range []any{token, &token, holder} {
			if text := fmt.Sprintf(form, value); strings.Contains(text, secret) {
				t.Errorf("%s of a %T shows the secret", form, value)
			}
		}
	}
}

func TestTheTimeOfATokenIsBounded(t *testing.T) {
	now := time.Now()
	for end, want := range map[time.Time]error{
		now.Add(-2 * time.Minute): pass.ErrExpired, now.Add(48 * time.Hour): pass.ErrTooLong,
		now.Add(time.Hour): nil, now.Add(24 * time.Hour): nil,
	} {
		if err := pass.RunUntil(end).Check(now); !errors.Is(err, want) {
			t.Errorf("until %v at %v: got %v, want %v", end, now, err, want)
		}
	}
	for _, life := range []time.Duration{0, -time.Hour, 25 * time.Hour} {
		if _, err := pass.NewToken(life); err == nil {
			t.Errorf("a token of %v was made", life)
		}
	}
}

// Rank 0 derives the same authority from the token that all have, and only from that.
func TestTheAuthorityIsDerived(t *testing.T) {
	token, other := newToken(t), newToken(t)
	for range 2 {
		a, err := token.Authority()
		if err != nil || a.Token() != token {
			t.Fatalf("%v", err)
		}
	}
	for name, bad := range map[string]pass.Token{
		"a launcher's token": newAuthority(t).Token(), "another secret": token.WithSecretOf(other),
		"another hash": token.WithHashOf(other), "a longer life": token.WithRun(other.Run()),
	} {
		if _, err := bad.Authority(); !errors.Is(err, pass.ErrNotDerived) {
			t.Errorf("%s: got %v, want ErrNotDerived", name, err)
		}
	}
}

// joining is both sides of an attempt to join: what each says, and what the other side may read.
func joining(t *testing.T, a *pass.Authority, token pass.Token) (admitted, entered error) {
	t.Helper()
	here, there := tcpPair(t)
	var both sync.WaitGroup
	both.Go(func() {
		var inside net.Conn
		if inside, admitted = a.Admit(here); admitted == nil {
			_, admitted = inside.Write([]byte("welcome"))
		}
		here.Close()
	})
	inside, entered := token.Enter(there, time.Now())
	if entered == nil {
		if text, err := io.ReadAll(inside); string(text) != "welcome" {
			t.Errorf("read %q, %v", text, err)
		}
	}
	both.Wait()
	return admitted, entered
}

// tcpPair returns both ends of a connection with deadlines.
func tcpPair(t testing.TB) (here, there net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if there, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if here, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	for _, conn := range []net.Conn{here, there} {
		conn.SetDeadline(time.Now().Add(10 * time.Second))
		t.Cleanup(func() { conn.Close() })
	}
	return here, there
}

func TestJoining(t *testing.T) {
	token := newToken(t)
	a, err := token.Authority()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []*pass.Authority{a, newAuthority(t)} {
		if admitted, entered := joining(t, a, a.Token()); admitted != nil || entered != nil {
			t.Errorf("launcher: %v; joiner: %v", admitted, entered)
		}
	}
}

// Both sides of a join that fails see the same reason.
func TestBadJoins(t *testing.T) {
	a, other := newAuthority(t), newAuthority(t)
	token, past := a.Token(), pass.RunUntil(time.Now().Add(-2*time.Minute))
	tests := map[string]struct {
		a               *pass.Authority
		token           pass.Token
		launcher, other error
	}{
		"wrong secret":    {a, token.WithSecretOf(other.Token()), pass.ErrSecret, pass.ErrSecret},
		"another run":     {a, other.Token(), pass.ErrOtherRun, pass.ErrOtherRun},
		"wrong authority": {a, token.WithHashOf(other.Token()), pass.ErrAuthority, pass.ErrAuthority},
		"an impostor":     {other.Of(token), token, pass.ErrAuthority, pass.ErrAuthority},
		"expired":         {a.Of(token.WithRun(past)), token.WithRun(past), io.EOF, pass.ErrExpired},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if errors.Is(test.other, pass.ErrExpired) {
				if _, err := test.token.Enter(nil, time.Now()); !errors.Is(err, pass.ErrExpired) {
					t.Errorf("got %v before anything was sent, want ErrExpired", err)
				}
				return
			}
			admitted, entered := joining(t, test.a, test.token)
			if !errors.Is(admitted, test.launcher) || !errors.Is(entered, test.other) {
				t.Errorf("launcher: %v; joiner: %v", admitted, entered)
			}
			if !pass.IsFinal(entered) || strings.Contains(fmt.Sprint(admitted, entered), "\n") {
				t.Errorf("joiner: %v, want one line that ends the attempt", entered)
			}
		})
	}
}

// What strangers say first ends the connection, and the launcher says why where it knows.
func TestStrangersSayWhatTheyLike(t *testing.T) {
	a := newAuthority(t)
	past := pass.RunUntil(time.Now().Add(-2 * time.Minute))
	tests := map[string]struct {
		a      *pass.Authority
		said   string
		want   error
		answer string
	}{
		"another version": {a, pass.OtherVersion(a.Token().Run()), pass.ErrVersion, "lockstep/2 v\n"},
		"the old version": {a, "lockstep/1 00112233445566778899aabbccddeeff\n", pass.ErrVersion,
			"lockstep/2 v\n"},
		"expired": {a.Of(a.Token().WithRun(past)), "lockstep/2 " + string(past) + "\n", pass.ErrExpired,
			"lockstep/2 e\n"},
		"HTTP":    {a, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", pass.ErrStranger, ""},
		"nothing": {a, "", io.EOF, ""},
		"TLS":     {a, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", pass.ErrStranger, ""},
		"no TLS after the greeting": {a, "lockstep/2 " + string(a.Token().Run()) + "\n" +
			strings.Repeat("\xff", 100), tls.RecordHeaderError{}, "lockstep/2 y\n"},
		"a long hello": {a, "lockstep/2 " + string(a.Token().Run()) + "\n" +
			strings.Repeat("\x16\x03\x01\x40\x00\x01\x00\x40\x00"+strings.Repeat("\x00", 1<<14-4), 8),
			pass.ErrStranger, "lockstep/2 y\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := &speaker{said: strings.NewReader(test.said)}
			_, err := test.a.Admit(s)
			var header tls.RecordHeaderError
			if !errors.Is(err, test.want) && !errors.As(err, &header) {
				t.Errorf("got %v, want %v", err, test.want)
			}
			if answer := s.heard.String(); !strings.HasPrefix(answer, test.answer) ||
				test.answer == "" && answer != "" {
				t.Errorf("answered %q, want %q", answer, test.answer)
			}
			if read := len(test.said) - s.said.Len(); read > pass.MaxStranger {
				t.Errorf("%d bytes read, want at most %d", read, pass.MaxStranger)
			}
		})
	}
}

// speaker is a connection whose other side has said all that it will say.
type speaker struct {
	net.Conn // nil: nothing else is called
	said     *strings.Reader
	heard    bytes.Buffer
}

func (s *speaker) Read(b []byte) (int, error)  { return s.said.Read(b) }
func (s *speaker) Write(b []byte) (int, error) { return s.heard.Write(b) }
func (s *speaker) Close() error                { return nil }

// What a joiner has sent is worth nothing on another connection.
func TestAReplayedJoinIsRefused(t *testing.T) {
	a := newAuthority(t)
	here, there := tcpPair(t)
	recorded := &recorder{Conn: there}
	admitted := make(chan error)
	go func() {
		_, err := a.Admit(here)
		admitted <- err
	}()
	if _, err := a.Token().Enter(recorded, time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := <-admitted; err != nil {
		t.Fatal(err)
	}
	if _, err := a.Admit(&speaker{said: strings.NewReader(recorded.sent.String())}); err == nil {
		t.Error("what was recorded has joined again")
	}
}

// recorder keeps what is sent.
type recorder struct {
	net.Conn
	sent bytes.Buffer
}

func (r *recorder) Write(b []byte) (int, error) {
	r.sent.Write(b)
	return r.Conn.Write(b)
}

// Nothing that depends on the secret goes to a server whose certificate is of another authority.
func TestNothingGoesToAnImpostor(t *testing.T) {
	a, other := newAuthority(t), newAuthority(t)
	here, there := tcpPair(t)
	recorded := [2]recorder{{Conn: there}, {Conn: there}}
	go other.Of(a.Token()).Admit(here)
	if _, err := a.Token().Enter(&recorded[0], time.Now()); !errors.Is(err, pass.ErrAuthority) {
		t.Fatalf("got %v, want ErrAuthority", err)
	}
	here, there = tcpPair(t)
	recorded[1].Conn = there
	go a.Admit(here)
	if _, err := a.Token().Enter(&recorded[1], time.Now()); err != nil {
		t.Fatal(err)
	}
	if bad, good := recorded[0].sent.Len(), recorded[1].sent.Len(); bad >= good {
		t.Errorf("%d bytes sent to an impostor, %d to the launcher", bad, good)
	}
}

// identity returns the identity of a rank.
func identity(t testing.TB, a *pass.Authority, rank int) *pass.Identity {
	t.Helper()
	key := pass.NewKey()
	c, err := a.Certify(rank, key.Public())
	if err != nil {
		t.Fatal(err)
	}
	i, err := key.Identity(c)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// A link comes about between the two ranks that both sides expect, in one run.
func TestLinksCheckTheRank(t *testing.T) {
	a, other := newAuthority(t), newAuthority(t)
	tests := map[string]struct {
		server, client         *pass.Identity
		wantClient, wantServer int // ranks
		want                   [2]error
	}{
		"as it should be": {identity(t, a, 0), identity(t, a, 1), 1, 0, [2]error{}},
		"another client":  {identity(t, a, 0), identity(t, a, 2), 1, 0, [2]error{pass.ErrRank, nil}},
		"another server":  {identity(t, a, 2), identity(t, a, 1), 1, 0, [2]error{nil, pass.ErrRank}},
		"of another run": {identity(t, a, 0), identity(t, other, 1), 1, 0,
			[2]error{nil, pass.ErrAuthority}},
		"its own peer again": {identity(t, a, 0), identity(t, a, 0), 1, 0, [2]error{pass.ErrRank, nil}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			here, there := tcpPair(t)
			var got [2]error
			var both sync.WaitGroup
			both.Go(func() {
				got[0] = tls.Server(here, test.server.TLS(test.wantClient)).Handshake()
				here.Close()
			})
			client := tls.Client(there, test.client.TLS(test.wantServer))
			if got[1] = client.Handshake(); got[1] == nil {
				io.ReadAll(client) // until the server has judged the certificate
			}
			there.Close()
			both.Wait()
			for side, want := range test.want {
				if want != nil && !errors.Is(got[side], want) || test.want == [2]error{} && got[side] != nil {
					t.Errorf("side %d: got %v, want %v", side, got[side], want)
				}
			}
		})
	}
}

func TestCertificatesAreForOneKey(t *testing.T) {
	a := newAuthority(t)
	c, err := a.Certify(1, pass.NewKey().Public())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pass.NewKey().Identity(c); err == nil {
		t.Error("a certificate gave its identity to another key")
	}
	for _, public := range [][]byte{nil, make([]byte, 31), make([]byte, 1000)} {
		if _, err := a.Certify(1, public); err == nil {
			t.Errorf("a key of %d bytes was certified", len(public))
		}
	}
}
