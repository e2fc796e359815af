package comm

import "fmt"

// PeerError reports that a collective failed because of one peer: it closed its link, stopped
// making progress, or sent an unexpected frame.
type PeerError struct {
	Rank int   // the peer that was lost
	Op   Op    // the collective that failed
	Wait *Wait // what this rank was waiting for, or nil if unknown
	Err  error // io.EOF, ErrTimeout, a *FrameError, *BodyError, *ReportError or the transport's error
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
}

// Error implements error.
func (e *ReportError) Error() string { return fmt.Sprintf("reported lost by rank %d", e.From) }

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
