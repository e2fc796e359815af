package trace

import (
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// Skew says how a rank's clock stands to the launcher's.
type Skew struct {
	// Offset is what the rank's clock shows beyond the launcher's; Error is by how much that may be
	// wrong. Both are 0 on the launcher's own host.
	Offset, Error time.Duration
	// IsKnown says that they were measured.
	IsKnown bool
}

// Exchange says what the time of an exchange went into.
type Exchange struct {
	// Queued is how long before its begin it was asked for.
	Queued time.Duration
	// Waited is how long it waited for the first bytes of peers, of whom Peer came last; -1: it waited
	// for none.
	Waited time.Duration
	Peer   int
	// Added is how long it added vectors, Coded how long it encoded and decoded them.
	Added, Coded time.Duration
}

// Limits of what is recorded.
const (
	// MaxBytes is the most that the file of a rank holds. What does not fit is counted as dropped.
	MaxBytes = 32 << 20
	// bufferBytes is what a track holds back; flushEvery is for how long at most, while spans are
	// recorded.
	bufferBytes = 64 << 10
	flushEvery  = 5 * time.Second
)

// Recorder writes the spans of one rank to a file while they are recorded.
//
// Track may be called from any goroutine. Call Close after the goroutines that own the tracks have finished.
type Recorder struct {
	rank   int
	origin time.Time
	open   func() (io.WriteCloser, error)
	isOver atomic.Bool // nothing more is written: the file is full, or there was an error

	mu      sync.Mutex
	tracks  []*Track
	file    io.WriteCloser // nil before the first block
	written int
	head    []byte // scratch
	skew    Skew
	err     error // the first
}

// NewRecorder returns a recorder for a rank. It calls open before it writes for the first time, so that a run
// that ends before has no file.
func NewRecorder(rank int, open func() (io.WriteCloser, error)) *Recorder {
	return &Recorder{rank: rank, origin: time.Now(), open: open, head: make([]byte, 0, 4*maxName)}
}

// Track adds a track called name, such as "train" or "exchange". Each track belongs to one goroutine.
func (r *Recorder) Track(name string) *Track {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	l := &Track{recorder: r, name: name, number: len(r.tracks), buffer: make([]byte, 0, bufferBytes+maxSpan),
		names: make([]named, 0, 64)}
	r.tracks = append(r.tracks, l)
	return l
}

// SetSkew says how the rank's clock stands to the launcher's; of several calls the last one counts.
func (r *Recorder) SetSkew(c Skew) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.skew = c
}

// Close writes what is left and closes the file. It returns the first error of the recorder.
func (r *Recorder) Close() error {
	if r == nil {
		return nil
	}
	for _, l := range r.tracks {
		l.flush()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	head := r.head[:0]
	if r.file == nil && r.err == nil { // there was no span
		head = r.begin(head)
	}
	if r.file == nil {
		return r.err
	}
	if r.err == nil {
		_, r.err = r.file.Write(appendEnd(head, r.skew, r.tracks))
	}
	if err := r.file.Close(); r.err == nil {
		r.err = err
	}
	return r.err
}

// begin opens the file and appends its header to b.
func (r *Recorder) begin(b []byte) []byte {
	if r.file, r.err = r.open(); r.err != nil {
		r.file = nil
		r.isOver.Store(true)
		return b
	}
	return appendHeader(b, r.rank, r.origin)
}

// write writes a block of a track, and reports whether it could.
func (r *Recorder) write(l *Track) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.written+len(l.buffer) > MaxBytes {
		r.isOver.Store(true)
	}
	if r.isOver.Load() {
		return false
	}
	head := r.head[:0]
	if r.file == nil {
		if head = r.begin(head); r.err != nil {
			return false
		}
	}
	head = appendBlock(head, l)
	for _, part := range [][]byte{head, l.buffer} {
		if _, r.err = r.file.Write(part); r.err != nil {
			r.isOver.Store(true)
			return false
		}
	}
	r.written, r.head = r.written+len(head)+len(l.buffer), head
	return true
}

// Track is one row of the trace: the spans of one goroutine, nested or one after another.
type Track struct {
	recorder *Recorder
	name     string
	number   int
	isKnown  bool // the file has its name

	buffer  []byte // spans that are not written, and how many
	held    int
	flushed int64 // when it was last empty
	names   []named
	end     int64 // of the last span
	dropped int
}

// named is a name in the table of a track, with the number of its last span.
type named struct {
	name   string
	number int
}

// Span records an interval with a name and a number. If the file is full, it counts the span as dropped. It
// does not allocate: name should be a constant.
func (l *Track) Span(name string, number int, begin, end time.Time) {
	if l == nil {
		return
	}
	l.add(name, number, begin, end, nil)
}

// Exchange records the interval of an exchange with what it went into.
func (l *Track) Exchange(name string, number int, begin, end time.Time, x Exchange) {
	if l == nil {
		return
	}
	l.add(name, number, begin, end, &x)
}

// add encodes a span.
func (l *Track) add(name string, number int, begin, end time.Time, x *Exchange) {
	if l.recorder.isOver.Load() {
		l.dropped++
		return
	}
	at := int64(end.Sub(l.recorder.origin))
	l.buffer = l.encode(l.buffer, name, number, at, int64(end.Sub(begin)), x)
	if l.held++; len(l.buffer) > bufferBytes || at-l.flushed > int64(flushEvery) {
		l.flush()
		l.flushed = at
	}
}

// flush writes the buffer.
func (l *Track) flush() {
	if l.held > 0 && !l.recorder.write(l) {
		l.dropped += l.held
	}
	l.buffer, l.held = l.buffer[:0], 0
}
