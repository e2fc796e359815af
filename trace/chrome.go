package trace

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// Source opens the file of a rank's spans.
type Source func(rank int) (io.ReadCloser, error)

// scan scans the file of a rank.
func (open Source) scan(rank int, visit func(track int, s *Span)) (File, error) {
	f, err := open(rank)
	if err != nil {
		return File{}, fmt.Errorf("trace: spans of rank %d: %w", rank, err)
	}
	file, err := Scan(f, visit)
	if err = errors.Join(err, f.Close()); err != nil {
		return file, fmt.Errorf("trace: spans of rank %d: %w", rank, err)
	}
	return file, nil
}

// load returns a rank's file with all its spans by track.
func (open Source) load(rank int) (File, [][]Span, error) {
	var tracks [][]Span
	file, err := open.scan(rank, func(track int, s *Span) {
		for len(tracks) <= track {
			tracks = append(tracks, nil)
		}
		tracks[track] = append(tracks[track], s.clone())
	})
	for len(tracks) < len(file.Tracks) {
		tracks = append(tracks, nil)
	}
	return file, tracks, err
}

// clone returns a copy that is valid after the visit.
func (s *Span) clone() Span {
	out := *s
	if s.Exchange != nil {
		x := *s.Exchange
		out.Exchange = &x
	}
	return out
}

// aligned returns the time of the file's origin by the launcher's clock.
func (f File) aligned() time.Time { return f.Origin.Add(-f.Skew.Offset) }

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

// Write writes the spans of several ranks as one Chrome trace, which Perfetto opens. It holds those of one
// rank at a time.
//
// A rank is a process, a track a thread, and metadata events name both, with the error of a rank's clock.
// Ranks are aligned by the launcher's clock; the earliest is zero. The format requires the spans of one
// thread to nest strictly: a span that overlaps another without containing it moves to an extra thread with
// the track's name and a number.
func Write(w io.Writer, ranks int, open Source) error {
	var origin time.Time
	for rank := range ranks {
		file, err := open.scan(rank, func(int, *Span) {})
		if err != nil {
			return err
		}
		if at := file.aligned(); rank == 0 || at.Before(origin) {
			origin = at
		}
	}
	out := &eventWriter{w: bufio.NewWriter(w)}
	out.text(`{"displayTimeUnit":"ms","traceEvents":[`)
	for rank := range ranks {
		file, tracks, err := open.load(rank)
		if err != nil {
			return err
		}
		out.rank(file, tracks, int64(file.aligned().Sub(origin)))
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

// rank writes the spans of a rank.
func (o *eventWriter) rank(file File, tracks [][]Span, shift int64) {
	name := fmt.Sprintf("rank %d", file.Rank)
	if file.Skew.Error > 0 {
		name += fmt.Sprintf(", clock to %v", file.Skew.Error.Round(time.Microsecond))
	}
	o.event(event{Phase: "M", Name: "process_name", Process: file.Rank, Args: map[string]any{"name": name}})
	o.event(event{Phase: "M", Name: "process_sort_index", Process: file.Rank,
		Args: map[string]any{"sort_index": file.Rank}})
	thread := 0
	for i, spans := range tracks {
		for j, row := range nest(spans) {
			o.row(file.Rank, thread, file.rowName(i, j), shift, row)
			thread++
		}
	}
}

// rowName names row i of a track; the first row's name says how many spans were dropped.
func (f File) rowName(track, i int) string {
	name, dropped := f.Tracks[track], f.Dropped[track]
	switch {
	case i > 0:
		return fmt.Sprintf("%s (%d)", name, i+1)
	case dropped > 0:
		return fmt.Sprintf("%s (%d spans dropped)", name, dropped)
	}
	return name
}

// nest sorts spans by start, outer before inner, and distributes them over rows so that within a
// row any two are either disjoint or nested. There is at least one row.
func nest(spans []Span) [][]Span {
	sorted := slices.Clone(spans)
	slices.SortStableFunc(sorted, bySpan)
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

// bySpan orders spans by start, outer before inner.
func bySpan(a, b Span) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.Length, a.Length))
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
		args := map[string]any{"number": s.Number}
		if x := s.Exchange; x != nil {
			args["queued"], args["waited"], args["added"], args["coded"] = x.Queued.String(),
				x.Waited.String(), x.Added.String(), x.Coded.String()
			if x.Peer >= 0 {
				args["peer"] = x.Peer
			}
		}
		o.event(event{Phase: "X", Name: s.Name, Process: rank, Thread: thread,
			Start: &start, Duration: &length, Args: args})
	}
}
