package trace

import (
	"sync"
	"time"
)

// Recorder keeps the spans of one rank.
//
// Lane may be called from any goroutine. Recording must have no readers: take the Recording after
// the goroutines that own the lanes have finished.
type Recorder struct {
	rank     int
	capacity int
	origin   time.Time

	mu    sync.Mutex
	lanes []*Lane
}

// NewRecorder returns a recorder for a rank that keeps up to capacity spans per lane.
func NewRecorder(rank, capacity int) *Recorder {
	return &Recorder{rank: rank, capacity: capacity, origin: time.Now()}
}

// Lane adds a lane called name, such as "train" or "exchange". Each lane belongs to one goroutine.
func (r *Recorder) Lane(name string) *Lane {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	l := &Lane{name: name, origin: r.origin, spans: make([]Span, 0, r.capacity)}
	r.lanes = append(r.lanes, l)
	return l
}

// Lane is one row of the picture: the spans of one goroutine, nested or one after another.
type Lane struct {
	name    string
	origin  time.Time
	spans   []Span
	dropped int
}

// Span is something that took time.
type Span struct {
	// Name says what, such as "forward".
	Name string `json:"name"`
	// Number says which: a step, a bucket, a shard.
	Number int `json:"number"`
	// Start and Length are in nanoseconds; Start counts from the recording's Origin.
	Start  int64 `json:"start"`
	Length int64 `json:"length"`
}

// Span records that name number took from begin to end. When the lane is full it counts the span
// as dropped. It does not allocate: name should be a constant.
func (l *Lane) Span(name string, number int, begin, end time.Time) {
	if l == nil {
		return
	}
	if len(l.spans) == cap(l.spans) {
		l.dropped++
		return
	}
	l.spans = append(l.spans, Span{
		Name: name, Number: number,
		Start: int64(begin.Sub(l.origin)), Length: int64(end.Sub(begin)),
	})
}

// Recording is what a recorder kept, ready to be written as JSON and merged elsewhere.
type Recording struct {
	// Rank is the rank that recorded.
	Rank int `json:"rank"`
	// Origin is the wall-clock time of the spans' zero, in nanoseconds since 1970.
	Origin int64 `json:"origin"`
	// Lanes holds the spans by lane, in the order in which they ended.
	Lanes []LaneRecording `json:"lanes"`
}

// LaneRecording holds the spans of one lane.
type LaneRecording struct {
	Name string `json:"name"`
	// Dropped counts the spans that found the lane full.
	Dropped int    `json:"dropped"`
	Spans   []Span `json:"spans"`
}

// Recording returns everything recorded so far; it shares the spans' memory. A nil recorder
// returns an empty recording.
func (r *Recorder) Recording() Recording {
	if r == nil {
		return Recording{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	rec := Recording{Rank: r.rank, Origin: r.origin.UnixNano()}
	for _, l := range r.lanes {
		rec.Lanes = append(rec.Lanes,
			LaneRecording{Name: l.name, Dropped: l.dropped, Spans: l.spans})
	}
	return rec
}
