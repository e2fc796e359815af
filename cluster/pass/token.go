package pass

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
)

// MaxLife is how long a token may admit processes.
const MaxLife = 24 * time.Hour

// MaxSkew is how far the clocks of two hosts may differ: with more, certificates and tokens of one are not
// yet or no longer valid on the other.
const MaxSkew = time.Hour

const (
	format     = "ls1"
	secretSize = 16
	runLayout  = "20060102t1504z" // the minute until which processes may join, UTC
	runDigits  = 8
	runSize    = len(runLayout) + 1 + runDigits
)

// Run is the name of a run, such as 20261123t2215z-9f3a2c1b: the minute until which processes may join
// it, and a random number.
type Run string

func newRun(until time.Time) Run {
	var id [runDigits / 2]byte
	rand.Read(id[:]) // never fails: it ends the program when the system has no entropy
	return Run(until.UTC().Format(runLayout) + "-" + hex.EncodeToString(id[:]))
}

// Until returns the time until which processes may join; the zero time if the name is malformed.
func (r Run) Until() time.Time {
	if len(r) != runSize || r[len(runLayout)] != '-' {
		return time.Time{}
	}
	if id := string(r[len(runLayout)+1:]); strings.Trim(id, "0123456789abcdef") != "" {
		return time.Time{}
	}
	until, err := time.Parse(runLayout, string(r[:len(runLayout)]))
	if err != nil || until.Format(runLayout) != string(r[:len(runLayout)]) {
		return time.Time{}
	}
	return until
}

// Check returns an error if the run admits nobody at the time now: ErrExpired or ErrTooLong, wrapped.
func (r Run) Check(now time.Time) error {
	until := r.Until()
	switch left := until.Sub(now); {
	case left < 0:
		return fmt.Errorf("%w: it was valid until %s, now it is %s by the clock of this host; %s, or set "+
			"that clock", ErrExpired, until.Format("2006-01-02 15:04"),
			now.UTC().Format("2006-01-02 15:04 MST"), makeAnother)
	case left > MaxLife+MaxSkew:
		return fmt.Errorf("%w: until %s, want at most %v; %s, or set the clock of this host", ErrTooLong,
			until.Format("2006-01-02 15:04 MST"), MaxLife, makeAnother)
	}
	return nil
}

// Token admits processes to a run. Formatting it shows the run, never the secret. The zero value is no
// token.
type Token struct {
	run    Run
	hash   [sha256.Size]byte // of the authority's public key
	secret [secretSize]byte
}

// NewToken returns a token that is valid for life, at most MaxLife, whose authority is derived from its
// secret: see Token.Authority.
func NewToken(life time.Duration) (Token, error) {
	if life < time.Minute || life > MaxLife {
		return Token{}, fmt.Errorf("a token of %v: want from 1m to %v", life, MaxLife)
	}
	t := Token{run: newRun(time.Now().Add(life))}
	rand.Read(t.secret[:])
	key, err := t.derive()
	if err != nil {
		return Token{}, err
	}
	t.hash = hashOf(key.Public())
	return t, nil
}

// Parse reads a token from its text. Errors contain no part of the text.
func Parse(text string) (Token, error) {
	part := strings.Split(text, ".")
	var t Token
	switch {
	case len(part) != 4 || part[0] != format:
		return t, fmt.Errorf("want a token of the form %s.RUN.HASH.SECRET, got %d characters of another; %s",
			format, len(text), makeAnother)
	}
	t.run = Run(part[1])
	errs := errors.Join(decode(t.hash[:], part[2]), decode(t.secret[:], part[3]))
	if t.run.Until().IsZero() || errs != nil {
		return Token{}, fmt.Errorf("the token has been damaged: it has %d characters; copy all of it, or %s",
			len(text), makeAnother)
	}
	return t, nil
}

// decode fills b with the bytes that text stands for.
func decode(b []byte, text string) error {
	coding := base64.RawURLEncoding.Strict()
	if coding.DecodedLen(len(text)) != len(b) {
		return errors.New("wrong length")
	}
	if _, err := coding.Decode(b, []byte(text)); err != nil || strings.ContainsAny(text, "\r\n") {
		return errors.New("no base64")
	}
	return nil
}

// Reveal returns the text of the token, secret included, for those who are to join. It must reach them by
// a way that nobody else reads: the environment or a file of mode 600, never an argument or a log.
func (t Token) Reveal() string {
	coding := base64.RawURLEncoding
	return strings.Join([]string{format, string(t.run), coding.EncodeToString(t.hash[:]),
		coding.EncodeToString(t.secret[:])}, ".")
}

// String returns what of the token may be shown.
func (t Token) String() string { return "token of run " + string(t.run) }

// GoString is String: no form of printing shows the secret.
func (t Token) GoString() string { return t.String() }

// Run returns the run to which the token admits.
func (t Token) Run() Run { return t.run }

// IsZero reports whether t is no token.
func (t Token) IsZero() bool { return t == Token{} }
