//go:build unix

package tcp

import "math"

// Note: streams
//
// A provider may cap one TCP connection below the rate of the line, and on a long line that loses packets one
// connection does not fill it. So a link may have several connections, its streams. The bytes of each
// direction are cut into chunks of chunkBytes, headers of frames included, and chunk c travels on stream
// c mod n. Both ends count the bytes of a direction, so they agree on every chunk's stream without a word on
// the wire, and nothing is put back in order: bytes that are early wait in the kernel's socket buffers, from
// where the streams move at the same time.
//
// The layer above sees one stream of bytes. It meets the end or the error of any stream when it gets there,
// at the latest n chunks on; until then everything before it is still delivered. A stream that stands still
// soon stops the link, which is what the time-out of the group watches. Each stream has its own seal.
//
// One system call moves at most a chunk. Longer chunks make fewer calls, but a stream whose socket buffer
// cannot hold a chunk keeps the others idle.

const chunkBytes = 64 << 10

// link is the streams to a peer; none to this rank itself, or to one that is linked otherwise.
type link struct {
	streams []stream
	out, in turn
}

// stream is a connection of a link, and what encrypts it; nil: nothing.
type stream struct {
	socket
	seal *seal
}

// turn is where a direction of a link is.
type turn struct {
	stream int // which one has the current chunk
	left   int // bytes of the chunk that are still to come
	of     int // streams
}

// newLink returns a link of n streams that have no socket yet.
func newLink(n int) link {
	l := link{streams: make([]stream, n)}
	for i := range l.streams {
		l.streams[i].fd = -1
	}
	l.out = turn{left: chunkBytes, of: n}
	if n == 1 {
		l.out.left = math.MaxInt // one stream has no chunks: it never gets there
	}
	l.in = l.out
	return l
}

// cut returns of head and body what belongs to the current chunk.
func (t *turn) cut(head, body []byte) ([]byte, []byte) {
	if len(head)+len(body) <= t.left {
		return head, body
	}
	head = head[:min(len(head), t.left)]
	return head, body[:t.left-len(head)]
}

// advance counts n bytes as moved.
func (t *turn) advance(n int) {
	if t.left -= n; t.left > 0 {
		return
	}
	t.left = chunkBytes
	if t.stream++; t.stream == t.of {
		t.stream = 0
	}
}

// send sends head followed by body as far as possible, at most to the end of the chunk.
func (l *link) send(head, body []byte) (n int, err error) {
	s := &l.streams[l.out.stream]
	head, body = l.out.cut(head, body)
	if s.seal != nil {
		n, err = s.seal.send(&s.socket, head, body)
	} else {
		n, err = s.socket.send(head, body)
	}
	l.out.advance(n)
	return n, err
}

// receive fills head and then body with what has arrived of the chunk.
func (l *link) receive(head, body []byte) (n int, err error) {
	s := &l.streams[l.in.stream]
	head, body = l.in.cut(head, body)
	if s.seal != nil {
		n, err = s.seal.receive(&s.socket, head, body)
	} else {
		n, err = s.socket.receive(head, body)
	}
	l.in.advance(n)
	return n, err
}
