package cluster

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
)

// Token is the secret of one run: 128 random bits as 32 hexadecimal digits. It is passed to workers
// in the environment, never in their arguments, which every user of the machine can read.
type Token string

const tokenLen = 32

// NewToken returns a token from the system's secure random source.
func NewToken() Token {
	var secret [tokenLen / 2]byte
	rand.Read(secret[:]) // never fails: it ends the program when the system has no entropy
	return Token(hex.EncodeToString(secret[:]))
}

// ParseToken checks the format of a token. Its error does not contain the secret.
func ParseToken(text string) (Token, error) {
	if _, err := hex.DecodeString(text); err != nil || len(text) != tokenLen {
		return "", fmt.Errorf("want a token of %d hexadecimal digits, got %d characters",
			tokenLen, len(text))
	}
	return Token(text), nil
}

const (
	greeting    = "lockstep/1 "
	preambleLen = len(greeting) + tokenLen + 1
)

// preamble is the first line that a worker sends.
func (t Token) preamble() string { return greeting + string(t) + "\n" }

// admits reports whether a stranger's preamble has the token, in constant time.
func (t Token) admits(preamble []byte) bool {
	return subtle.ConstantTimeCompare(preamble, []byte(t.preamble())) == 1
}
