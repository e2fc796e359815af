package trace

import (
	"sync"
	"time"
)

// Recorder keeps the spans of one rank.
//
// Track may be called from any goroutine. Call Recording after the goroutines that own the tracks
// have finished.
type Recorder struct {
	rank     int
	capacity int
	origin   time.Time

	mu     sync.Mutex
	tracks []*Track
}

// NewRecorder returns a recorder for a rank that keeps up to capacity spans per track.
func NewRecorder(rank, capacity int) *Recorder {
	return &Recorder{rank: rank, capacity: capacity, origin: time.Now()}
}

// Track adds a track called name, such as "train" or "exchange". Each track belongs to one
// goroutine.
func (r *Recorder) Track(name string) *Track {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	l := &Track{name: name, origin: r.origin, spans: make([]Span, 0, r.capacity)}
	r.tracks = append(r.tracks, l)
	return l
}

// Track is one row of the trace: the spans of one goroutine, nested or one after another.
type Track struct {
	name    string
	origin  time.Time
	spans   []Span
	dropped int
}

// Span is a named interval of time.
type Span struct {
	// Name says what took the time, such as "forward".
	Name string `json:"name"`
	// Number says which one: a step, a bucket, a shard.
	Number int `json:"number"`
	// Start and Length are in nanoseconds; Start counts from the recording's Origin.
	Start  int64 `json:"start"`
	Length int64 `json:"length"`
}

// Span records an interval with a name and a number. If the track is full, it counts the span as
// dropped. It does not allocate: name should be a constant.
func (l *Track) Span(name string, number int, begin, end time.Time) {
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

// Recording is the spans of a recorder, for encoding as JSON and merging by Write.
type Recording struct {
	// Rank is the rank that recorded.
	Rank int `json:"rank"`
	// Origin is the wall-clock time of the spans' zero, in nanoseconds since 1970.
	Origin int64 `json:"origin"`
	// Tracks holds the spans by track, in the order in which they ended.
	Tracks []TrackRecording `json:"lanes"`
}

// TrackRecording holds the spans of one track.
type TrackRecording struct {
	Name string `json:"name"`
	// Dropped is the number of spans that did not fit.
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
	for _, l := range r.tracks {
		rec.Tracks = append(rec.Tracks,
			TrackRecording{Name: l.name, Dropped: l.dropped, Spans: l.spans})
	}
	return rec
}
