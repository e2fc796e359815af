package serve

import (
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
)

// Note: the memory of bodies
//
// A body takes its length, JSON a multiple while it is read, and pixels four times theirs until they are
// computed. So bodies share a room of so many bytes. Each takes what has come of it, and gives that back when
// it has its answer. Nobody waits for room, because that would be waiting for other clients, who may be slow:
// who finds none is told to try again.

// largestBodies is how many bodies of the greatest length the room has bytes for.
const largestBodies = 8

// body is the body of a request, of at most so many bytes. What has come of it counts among the bytes of all.
type body struct {
	io.ReadCloser
	most, own int64
	all       *atomic.Int64
}

// Read implements io.Reader. It fails if the room is full.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.own += int64(n)
	if all := b.all.Add(int64(n)); (all-1)/largestBodies >= b.most { // eight times most may be no number
		err = &statusError{http.StatusTooManyRequests, fmt.Sprintf(
			"the bodies of requests take %d bytes, more than %d of the greatest length; try again", all,
			largestBodies)}
	}
	return n, err
}

// leave gives the room back.
func (b *body) leave() {
	b.all.Add(-b.own)
	b.own = 0
}
