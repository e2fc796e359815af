package trace_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"lockstep/trace"
)

func TestClockAttributesEveryNanosecond(t *testing.T) {
	start := time.Now()
	c := trace.StartClock()
	first, end := c.Lap(trace.Other)
	var sum time.Duration
	for i := range 1000 {
		p := trace.Phase(i % int(trace.NumPhases))
		if i%100 == 0 {
			time.Sleep(50 * time.Microsecond)
		}
		before := c.Phases()
		begin, stop := c.Lap(p)
		if begin != end {
			t.Fatalf("lap %d begins at %v, the last ended at %v", i, begin, end)
		}
		if got := c.Phases().Minus(before); got[p] != stop.Sub(begin) || got.Total() != got[p] {
			t.Fatalf("lap %d of %v: %v, want %v there alone", i, p, got, stop.Sub(begin))
		}
		sum, end = sum+stop.Sub(begin), stop
	}
	if got, want := c.Phases().Total(), end.Sub(first); got != want {
		t.Errorf("phases add up to %v, the clock ran %v", got, want)
	}
	if wall := time.Since(start); c.Phases().Total() > wall {
		t.Errorf("phases %v exceed the wall time %v", c.Phases().Total(), wall)
	}
	var names []string
	for p := range trace.NumPhases {
		names = append(names, p.String())
	}
	if got := strings.Join(names, " "); got !=
		"data forward backward sync_exposed optimizer evaluation other" {
		t.Errorf("phases %s", got)
	}
}

func TestRecordingIsBoundedAndAllocatesNothing(t *testing.T) {
	r := trace.NewRecorder(3, 10)
	track := r.Track("train")
	now := time.Now()
	if n := testing.AllocsPerRun(24, func() { track.Span("step", 1, now, now) }); n != 0 {
		t.Errorf("%v allocations per span", n)
	}
	rec := r.Recording()
	if got := rec.Tracks[0]; len(got.Spans) != 10 || got.Dropped != 15 {
		t.Errorf("%d spans kept, %d dropped, want 10 and 15", len(got.Spans), got.Dropped)
	}
	if rec.Rank != 3 {
		t.Errorf("rank %d", rec.Rank)
	}
}

func TestNilRecordsNothing(t *testing.T) {
	var r *trace.Recorder
	r.Track("train").Span("step", 0, time.Now(), time.Now())
	if rec := r.Recording(); len(rec.Tracks) != 0 {
		t.Errorf("%+v", rec)
	}
}

// chromeEvent is what a viewer reads.
type chromeEvent struct {
	Ph, Name string
	Pid, Tid int
	Ts, Dur  float64
	Args     map[string]any
}

func write(t *testing.T, recordings ...trace.Recording) []chromeEvent {
	t.Helper()
	var b bytes.Buffer
	if err := trace.Write(&b, recordings...); err != nil {
		t.Fatal(err)
	}
	var file struct{ TraceEvents []chromeEvent }
	if err := json.Unmarshal(b.Bytes(), &file); err != nil {
		t.Fatalf("%v in %s", err, b.Bytes())
	}
	return file.TraceEvents
}

func TestWriteMergesRanks(t *testing.T) {
	span := func(name string, number int, start, length int64) trace.Span {
		return trace.Span{Name: name, Number: number, Start: start, Length: length}
	}
	a := trace.Recording{Rank: 0, Origin: 5_000_000, Tracks: []trace.TrackRecording{
		{Name: "train", Spans: []trace.Span{span("forward", 7, 1000, 500)}, Dropped: 2},
		{Name: "exchange", Spans: nil},
	}}
	b := trace.Recording{Rank: 1, Origin: 5_002_000, Tracks: []trace.TrackRecording{
		{Name: "train", Spans: []trace.Span{span("forward", 7, 0, 1500)}},
	}}
	// A recording survives its file.
	text, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	b = trace.Recording{}
	if err := json.Unmarshal(text, &b); err != nil {
		t.Fatal(err)
	}
	names := map[[2]int]string{}
	processes := map[int]string{}
	var spans []chromeEvent
	for _, e := range write(t, a, b) {
		switch {
		case e.Ph == "M" && e.Name == "thread_name":
			names[[2]int{e.Pid, e.Tid}] = e.Args["name"].(string)
		case e.Ph == "M" && e.Name == "process_name":
			processes[e.Pid] = e.Args["name"].(string)
		case e.Ph == "X":
			spans = append(spans, e)
		}
	}
	if processes[0] != "rank 0" || processes[1] != "rank 1" {
		t.Errorf("processes %v", processes)
	}
	if names[[2]int{0, 0}] != "train (2 spans dropped)" || names[[2]int{0, 1}] != "exchange" ||
		names[[2]int{1, 0}] != "train" {
		t.Errorf("threads %v", names)
	}
	if len(spans) != 2 || spans[0].Ts != 1 || spans[0].Dur != 0.5 || spans[0].Args["number"] != 7.0 ||
		spans[1].Ts != 2 || spans[1].Dur != 1.5 || spans[1].Pid != 1 {
		t.Errorf("spans %+v", spans)
	}
}

func TestSpansOfAThreadNest(t *testing.T) {
	var track trace.TrackRecording
	track.Name = "exchange"
	// Inner before outer, as spans end; 20-30 and 25-40 overlap; 30-31 touches.
	for _, s := range [][2]int64{{2, 3}, {1, 5}, {5, 9}, {1, 10}, {20, 30}, {25, 40}, {30, 31},
		{26, 35}, {41, 41}} {
		track.Spans = append(track.Spans, trace.Span{Name: "s", Start: s[0] * 1000,
			Length: (s[1] - s[0]) * 1000})
	}
	rows := map[int][]chromeEvent{}
	total := 0
	for _, e := range write(t, trace.Recording{Tracks: []trace.TrackRecording{track}}) {
		if e.Ph == "X" {
			rows[e.Tid] = append(rows[e.Tid], e)
			total++
		}
	}
	if total != len(track.Spans) || len(rows) != 2 {
		t.Errorf("%d spans in %d threads, want %d in 2", total, len(rows), len(track.Spans))
	}
	for tid, row := range rows {
		for i, a := range row {
			for _, b := range row[i+1:] {
				isApart := a.Ts+a.Dur <= b.Ts
				isInside := b.Ts >= a.Ts && b.Ts+b.Dur <= a.Ts+a.Dur
				if !isApart && !isInside {
					t.Errorf("thread %d: %v+%v and %v+%v", tid, a.Ts, a.Dur, b.Ts, b.Dur)
				}
			}
		}
	}
}

type fullDisk struct{}

var errFull = errors.New("no space left")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestWriteReportsErrors(t *testing.T) {
	if err := trace.Write(fullDisk{}, trace.Recording{}); !errors.Is(err, errFull) {
		t.Errorf("error %v", err)
	}
}
