package pass

import (
	"strings"
	"time"
)

// WithRun returns the token with another run, for tests of what may not be changed.
func (t Token) WithRun(r Run) Token {
	t.run = r
	return t
}

// WithSecretOf returns the token with another's secret.
func (t Token) WithSecretOf(other Token) Token {
	t.secret = other.secret
	return t
}

// WithHashOf returns the token with the hash of another's authority.
func (t Token) WithHashOf(other Token) Token {
	t.hash = other.hash
	return t
}

// RunUntil returns a run with an end that NewToken would refuse.
func RunUntil(end time.Time) Run { return newRun(end) }

// Of returns an authority like a with another token, as a launcher with a wrong clock or another version
// would have.
func (a *Authority) Of(t Token) *Authority {
	c := *a
	c.token = t
	return &c
}

// OtherVersion returns a preamble of another version.
func OtherVersion(r Run) string { return strings.Replace(version, "2", "3", 1) + string(r) + "\n" }
