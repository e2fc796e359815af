package trace

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// event is one entry of Chrome's Trace Event Format (the "X" and "M" kinds); times are in
// microseconds.
type event struct {
	Phase    string         `json:"ph"`
	Name     string         `json:"name"`
	Process  int            `json:"pid"`
	Thread   int            `json:"tid"`
	Start    *float64       `json:"ts,omitempty"`
	Duration *float64       `json:"dur,omitempty"`
	Args     map[string]any `json:"args,omitempty"`
}

// Write merges the recordings of several ranks into one Chrome trace.
//
// A rank is a process, a track a thread, and metadata events name both. Recordings are aligned by
// the wall-clock time of their origins; the earliest is zero. The format requires the spans of one
// thread to nest strictly: a span that overlaps another without containing it moves to an extra
// thread with the track's name and a number.
func Write(w io.Writer, recordings ...Recording) error {
	out := &eventWriter{w: bufio.NewWriter(w)}
	origin := firstOrigin(recordings)
	out.text(`{"displayTimeUnit":"ms","traceEvents":[`)
	for _, rec := range recordings {
		out.event(event{Phase: "M", Name: "process_name", Process: rec.Rank,
			Args: map[string]any{"name": fmt.Sprintf("rank %d", rec.Rank)}})
		out.event(event{Phase: "M", Name: "process_sort_index", Process: rec.Rank,
			Args: map[string]any{"sort_index": rec.Rank}})
		thread := 0
		for _, track := range rec.Tracks {
			for i, row := range nest(track.Spans) {
				out.row(rec.Rank, thread, rowName(track, i), rec.Origin-origin, row)
				thread++
			}
		}
	}
	out.text("\n]}\n")
	if out.err == nil {
		out.err = out.w.Flush()
	}
	if out.err != nil {
		return fmt.Errorf("trace: write: %w", out.err)
	}
	return nil
}

func firstOrigin(recordings []Recording) int64 {
	var first int64
	for i, rec := range recordings {
		if i == 0 || rec.Origin < first {
			first = rec.Origin
		}
	}
	return first
}

// rowName names row i of a track; the first row's name says how many spans were dropped.
func rowName(track TrackRecording, i int) string {
	switch {
	case i > 0:
		return fmt.Sprintf("%s (%d)", track.Name, i+1)
	case track.Dropped > 0:
		return fmt.Sprintf("%s (%d spans dropped)", track.Name, track.Dropped)
	}
	return track.Name
}

// nest sorts spans by start, outer before inner, and distributes them over rows so that within a
// row any two are either disjoint or nested. There is at least one row.
func nest(spans []Span) [][]Span {
	sorted := slices.Clone(spans)
	slices.SortStableFunc(sorted, func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.Length, a.Length))
	})
	rows := [][]Span{nil}
	open := [][]int64{nil} // ends of the spans that enclose the current time, outermost first
next:
	for _, s := range sorted {
		end := s.Start + s.Length
		for i := range rows {
			for n := len(open[i]); n > 0 && open[i][n-1] <= s.Start; n-- {
				open[i] = open[i][:n-1]
			}
			if n := len(open[i]); n == 0 || end <= open[i][n-1] {
				rows[i], open[i] = append(rows[i], s), append(open[i], end)
				continue next
			}
		}
		rows, open = append(rows, []Span{s}), append(open, []int64{end})
	}
	return rows
}

// eventWriter writes a JSON array of events and keeps the first error.
type eventWriter struct {
	w     *bufio.Writer
	count int
	err   error
}

func (o *eventWriter) text(s string) {
	if o.err == nil {
		_, o.err = o.w.WriteString(s)
	}
}

func (o *eventWriter) event(e event) {
	line, err := json.Marshal(e)
	if o.err == nil {
		o.err = err
	}
	if o.count++; o.count > 1 {
		o.text(",")
	}
	o.text("\n" + string(line))
}

func (o *eventWriter) row(rank, thread int, name string, shift int64, spans []Span) {
	o.event(event{Phase: "M", Name: "thread_name", Process: rank, Thread: thread,
		Args: map[string]any{"name": name}})
	for _, s := range spans {
		start, length := float64(s.Start+shift)/1e3, float64(s.Length)/1e3
		o.event(event{Phase: "X", Name: s.Name, Process: rank, Thread: thread,
			Start: &start, Duration: &length, Args: map[string]any{"number": s.Number}})
	}
}
