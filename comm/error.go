package comm

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// PeerError reports that a collective failed because of one peer: it closed its link, stopped
// making progress, or sent an unexpected frame.
type PeerError struct {
	Rank int   // the peer that was lost
	Op   Op    // the collective that failed
	Wait *Wait // what this rank was waiting for, or nil if unknown
	// Err is io.EOF, ErrTimeout, a *FrameError, *BodyError, *MismatchError, *ReportError or the transport's
	// error.
	Err error
}

// Error implements error.
func (e *PeerError) Error() string {
	text := fmt.Sprintf("comm: %v: peer rank %d: %v", e.Op, e.Rank, e.Err)
	if e.Wait != nil && e.Wait.what() != "" {
		text += fmt.Sprintf(" (%s)", e.Wait.what())
	}
	return text
}

// Unwrap returns the cause.
func (e *PeerError) Unwrap() error { return e.Err }

// ReportError is the cause in a PeerError if another rank noticed the loss and reported it.
type ReportError struct {
	From int // the rank that reported it
	// IsMismatch says that the peer is not lost, but was in another collective than that rank.
	IsMismatch bool
}

// Error implements error.
func (e *ReportError) Error() string {
	if e.IsMismatch {
		return fmt.Sprintf("in another collective than rank %d, which reported it", e.From)
	}
	return fmt.Sprintf("reported lost by rank %d", e.From)
}

// MismatchError is the cause in a PeerError if the two ranks were in different collectives, or in the
// same one with different sizes. Both ranks return one.
type MismatchError struct {
	Own, Peer string // what each was in; "" if the peer did not say
	// Err is the difference in the peer's frame; nil if the peer noticed it.
	Err error

	length int    // of that frame's body
	beyond []byte // what was received after its header
}

// Error implements error.
func (e *MismatchError) Error() string {
	text := fmt.Sprintf("it is in another collective: this rank in %s, that one in %s", e.Own, e.Peer)
	if e.Peer == "" {
		text = fmt.Sprintf("it is in another collective: this rank is in %s", e.Own)
	}
	if e.Err != nil {
		text += fmt.Sprintf(": %v", e.Err)
	}
	return text
}

// Unwrap returns the difference.
func (e *MismatchError) Unwrap() error { return e.Err }

// Mismatched returns what this rank was in if the cause is that two ranks, of which it need not be one, were
// in different collectives; else "".
func (e *PeerError) Mismatched() string {
	report, mismatch := (*ReportError)(nil), (*MismatchError)(nil)
	switch {
	case errors.As(e.Err, &mismatch):
		return mismatch.Own
	case errors.As(e.Err, &report) && report.IsMismatch:
		return e.doing()
	}
	return ""
}

// doing describes what this rank was in, for the peer.
func (e *PeerError) doing() string {
	text := e.Op.String()
	if w := e.Wait; w != nil {
		text = fmt.Sprintf("%v %d", w.Op, w.Number)
		if what := (&Wait{Name: w.Name, Bytes: w.Bytes}).what(); what != "" {
			text += " (" + what + ")"
		}
	}
	return text[:min(len(text), maxAbout)]
}

// printable makes bytes of a peer fit for a terminal.
func printable(text []byte) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(string(text), "?"))
}

// BodyError reports a frame whose body was changed in transit or is not a valid encoding.
type BodyError struct {
	Codec string // "" if there is none
	Bytes int    // length of the body
	Err   error  // a *ChecksumError or the codec's error
}

// Error implements error.
func (e *BodyError) Error() string { return fmt.Sprintf("bad body of %d bytes: %v", e.Bytes, e.Err) }

// Unwrap returns the cause.
func (e *BodyError) Unwrap() error { return e.Err }

// ChecksumError reports that the bytes received differ from those sent.
type ChecksumError struct {
	Got, Want uint32 // CRC-32C
}

// Error implements error.
func (e *ChecksumError) Error() string {
	return fmt.Sprintf("checksum %#08x, want %#08x: the bytes were changed in transit", e.Got, e.Want)
}

// FrameError reports a frame that is corrupt, of another generation or out of order.
type FrameError struct {
	Field     string // the first wrong field of the header
	Got, Want uint64
}

// Error implements error.
func (e *FrameError) Error() string {
	return fmt.Sprintf("bad frame: %s %#x, want %#x", e.Field, e.Got, e.Want)
}
