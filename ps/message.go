package ps

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"lockstep/comm"
)

// Note: messages
//
// All messages go from a worker to a server or back. A tag has the kind, the direction, the number of
// the server, an index and the number of the piece. Once a step, worker w sends to server s:
//
//	announce  number, rate and samples of the step
//	push      a piece of the sum over a span, for every span of s and every piece of w
//	pull      (from s) the new weights of a span
//	rows      w's rows, to server 0, which returns the rows of all shards
//
// sum adds up counts at server 0, as rows do. load, collect and vector initialise a server and read
// its state, by worker 0 between steps. leave says that the worker sends nothing more.
//
// Receivers start before what they receive can have been sent, so no message holds up others on its
// link: those of pushes at the start and whenever the span was updated, which is before the worker
// can have its weights; those of pulls and rows before the worker pushes. Announcements wait in the
// link at a server that has not finished the step before, and all that the server needs to finish it
// is ahead of them.
const (
	kindAnnounce = iota
	kindPush
	kindPull
	kindRows
	kindSum
	kindLoad
	kindCollect
	kindVector
	kindLeave
)

// Limits of the fields of a tag.
const (
	maxServers = 1 << 8
	maxSpans   = 1 << 13
	maxPieces  = 1 << 6
)

// fromServer marks the messages of servers: those of one process share a rank with those of its
// worker.
const fromServer = 1 << 27

func tag(kind, server, index, piece int) uint32 {
	return uint32(kind<<28 | server<<19 | index<<6 | piece)
}

// announcement is what a worker tells every server about a step.
type announcement struct {
	step    int
	rate    float64
	samples int
}

const announcementBytes = 24

func (a announcement) put(b []byte) {
	le := binary.LittleEndian
	le.PutUint64(b[0:], uint64(a.step))
	le.PutUint64(b[8:], math.Float64bits(a.rate))
	le.PutUint64(b[16:], uint64(a.samples))
}

func (a *announcement) read(b []byte) {
	le := binary.LittleEndian
	a.step = int(le.Uint64(b[0:]))
	a.rate = math.Float64frombits(le.Uint64(b[8:]))
	a.samples = int(le.Uint64(b[16:]))
}

// sumElems is how many counts are added up at once.
const sumElems = 2048

// named adds to the loss of a peer what that peer is.
func (l *Layout) named(err error) error {
	var lost *comm.PeerError
	if err == nil || !errors.As(err, &lost) {
		return err
	}
	return fmt.Errorf("ps: lost %s (rank %d): %w", l.Role(lost.Rank), lost.Rank, err)
}
