package trace_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
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

// folder keeps the files of ranks in memory.
type folder map[int]*bytes.Buffer

func (f folder) create(rank int) func() (io.WriteCloser, error) {
	return func() (io.WriteCloser, error) {
		f[rank] = &bytes.Buffer{}
		return closing{f[rank]}, nil
	}
}

func (f folder) open(rank int) (io.ReadCloser, error) {
	if f[rank] == nil {
		return nil, errors.New("no such file")
	}
	return io.NopCloser(bytes.NewReader(f[rank].Bytes())), nil
}

type closing struct{ io.Writer }

func (closing) Close() error { return nil }

// spans reads all spans of a rank by the name of their track.
func (f folder) spans(t *testing.T, rank int) (trace.File, map[string][]trace.Span) {
	t.Helper()
	var found []trace.Span
	var of []int
	file, err := trace.Scan(bytes.NewReader(f[rank].Bytes()), func(track int, s *trace.Span) {
		own := *s
		if s.Exchange != nil {
			x := *s.Exchange
			own.Exchange = &x
		}
		found, of = append(found, own), append(of, track)
	})
	if err != nil {
		t.Fatal(err)
	}
	byTrack := map[string][]trace.Span{}
	for i, s := range found {
		name := file.Tracks[of[i]]
		byTrack[name] = append(byTrack[name], s)
	}
	return file, byTrack
}

// What is recorded is read again: names, numbers, times to the nanosecond, exchanges, the clock.
func TestSpansAreReadAsRecorded(t *testing.T) {
	f := folder{}
	r := trace.NewRecorder(3, f.create(3))
	first, second := r.Track("train"), r.Track("exchange")
	start := time.Now()
	at := func(ns int) time.Time { return start.Add(time.Duration(ns)) }
	x := trace.Exchange{Queued: 7, Waited: 20, Peer: 1, Added: 3, Coded: 4}
	second.Exchange("bucket", 2, at(50), at(90), x)
	first.Span("forward", 1, at(0), at(40))
	first.Span("step", 1, at(0), at(100))
	first.Span("forward", 2, at(100), at(1e9))
	second.Exchange("rows", 0, at(95), at(96), trace.Exchange{Peer: -1})
	r.SetSkew(trace.Skew{Offset: -3 * time.Millisecond, Error: 5, IsKnown: true})
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	file, got := f.spans(t, 3)
	if file.Rank != 3 || file.IsCut || file.Skew != (trace.Skew{Offset: -3e6, Error: 5, IsKnown: true}) ||
		start.Sub(file.Origin) > time.Second || start.Before(file.Origin) {
		t.Errorf("%+v", file)
	}
	zero := got["train"][0].Start
	for name, want := range map[string][]string{
		"train":    {"forward 1 0+40", "step 1 0+100", "forward 2 100+999999900"},
		"exchange": {"bucket 2 50+40 {7ns 20ns 1 3ns 4ns}", "rows 0 95+1 {0s 0s -1 0s 0s}"},
	} {
		for i, s := range got[name] {
			text := fmt.Sprintf("%s %d %d+%d", s.Name, s.Number, s.Start-zero, s.Length)
			if s.Exchange != nil {
				text += fmt.Sprintf(" %v", *s.Exchange)
			}
			if text != want[i] {
				t.Errorf("%s: %s, want %s", name, text, want[i])
			}
		}
		if len(got[name]) != len(want) {
			t.Errorf("%s: %d spans, want %d", name, len(got[name]), len(want))
		}
	}
}

// Recording allocates nothing, writes block by block, and counts what does not fit.
func TestRecordingIsBoundedAndAllocatesNothing(t *testing.T) {
	f := folder{}
	r := trace.NewRecorder(3, f.create(3))
	track := r.Track("train")
	now, n := time.Now(), 0
	span := func() {
		track.Exchange("bucket", n*1e6, now.Add(-time.Hour), now, trace.Exchange{Queued: 1e12, Waited: 1e12,
			Added: 1e12, Coded: 1e12})
		n++
	}
	if allocs := testing.AllocsPerRun(1000, span); allocs != 0 {
		t.Errorf("%v allocations per span", allocs)
	}
	for n < 1.2e6 {
		span()
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	file, got := f.spans(t, 3)
	kept, dropped := len(got["train"]), file.Dropped[0]
	if size := f[3].Len(); kept+dropped != n || dropped == 0 || size > trace.MaxBytes+1000 ||
		size < trace.MaxBytes/2 {
		t.Errorf("%d of %d spans in %d bytes, %d dropped", kept, n, f[3].Len(), dropped)
	}
}

func TestNilRecordsNothing(t *testing.T) {
	var r *trace.Recorder
	r.Track("train").Span("step", 0, time.Now(), time.Now())
	r.Track("exchange").Exchange("bucket", 0, time.Now(), time.Now(), trace.Exchange{})
	r.SetSkew(trace.Skew{})
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// A file that was cut, as of a rank that was killed, has the spans of its whole blocks; a damaged one has an
// error with the place.
func TestCutAndDamagedFiles(t *testing.T) {
	f := folder{}
	r := trace.NewRecorder(0, f.create(0))
	track := r.Track("train")
	for i := range 20_000 {
		track.Span("step", i, time.Now(), time.Now())
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	whole := f[0].Bytes()
	for _, size := range []int{0, 5, 20, len(whole) / 2, len(whole) - 1} {
		n := 0
		file, err := trace.Scan(bytes.NewReader(whole[:size]), func(int, *trace.Span) { n++ })
		isHeadless := size < 17
		if isHeadless != (err != nil) || !file.IsCut || size > len(whole)/2 && n == 0 {
			t.Errorf("%d of %d bytes: %d spans, %+v, %v", size, len(whole), n, file, err)
		}
	}
	for at, want := range map[int]string{0: "begins with", 17: "kind", 19: "want at most"} {
		damaged := bytes.Clone(whole)
		damaged[at] = 0xff
		_, err := trace.Scan(bytes.NewReader(damaged), func(int, *trace.Span) {})
		bad := (*trace.FormatError)(nil)
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), want) {
			t.Errorf("byte %d damaged: %v", at, err)
		}
	}
}

// FuzzScan reads what is no file of spans, and what is nearly one.
func FuzzScan(f *testing.F) {
	files := folder{}
	r := trace.NewRecorder(1, files.create(1))
	track := r.Track("train")
	track.Span("step", 1, time.Now(), time.Now())
	track.Exchange("bucket", 1, time.Now(), time.Now(), trace.Exchange{})
	r.Close()
	f.Add(files[1].Bytes())
	f.Fuzz(func(t *testing.T, text []byte) {
		n := 0
		file, err := trace.Scan(bytes.NewReader(text), func(track int, s *trace.Span) {
			if n++; s.Length < 0 || track < 0 {
				t.Errorf("track %d, %+v", track, s)
			}
		})
		if n > len(text) || err == nil && len(file.Dropped) != len(file.Tracks) {
			t.Errorf("%d spans of %d bytes, %+v", n, len(text), file)
		}
	})
}

// chromeEvent is what a viewer reads.
type chromeEvent struct {
	Ph, Name string
	Pid, Tid int
	Ts, Dur  float64
	Args     map[string]any
}

func write(t *testing.T, f folder) []chromeEvent {
	t.Helper()
	var b bytes.Buffer
	if err := trace.Write(&b, len(f), f.open); err != nil {
		t.Fatal(err)
	}
	var file struct{ TraceEvents []chromeEvent }
	if err := json.Unmarshal(b.Bytes(), &file); err != nil {
		t.Fatalf("%v in %s", err, b.Bytes())
	}
	return file.TraceEvents
}

// record records spans of one track, with times in microseconds after a common start, by a clock that is off.
func (f folder) record(t *testing.T, rank int, track string, off time.Duration, spans ...[2]int) {
	t.Helper()
	r := trace.NewRecorder(rank, f.create(rank))
	l := r.Track(track)
	for _, s := range spans {
		l.Span("s", 7, start.Add(time.Duration(s[0])*1000), start.Add(time.Duration(s[1])*1000))
	}
	r.SetSkew(trace.Skew{Offset: off, Error: 2 * time.Microsecond, IsKnown: true})
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

// start is what times of the tests count from.
var start = time.Now()

func TestWriteMergesRanks(t *testing.T) {
	f := folder{}
	f.record(t, 0, "train", 0, [2]int{1, 2})
	f.record(t, 1, "train", 3*time.Microsecond, [2]int{8, 10}) // by the launcher's clock 5 to 7
	names, processes := map[[2]int]string{}, map[int]string{}
	var spans []chromeEvent
	for _, e := range write(t, f) {
		switch {
		case e.Ph == "M" && e.Name == "thread_name":
			names[[2]int{e.Pid, e.Tid}] = e.Args["name"].(string)
		case e.Ph == "M" && e.Name == "process_name":
			processes[e.Pid] = e.Args["name"].(string)
		case e.Ph == "X":
			spans = append(spans, e)
		}
	}
	if processes[0] != "rank 0, clock to 2µs" || processes[1] != "rank 1, clock to 2µs" {
		t.Errorf("processes %v", processes)
	}
	if names[[2]int{0, 0}] != "train" || names[[2]int{1, 0}] != "train" {
		t.Errorf("threads %v", names)
	}
	if len(spans) != 2 || spans[0].Dur != 1 || spans[0].Args["number"] != 7.0 || spans[1].Dur != 2 ||
		math.Abs(spans[1].Ts-spans[0].Ts-4) > 0.5 || spans[1].Pid != 1 {
		t.Errorf("spans %+v", spans)
	}
}

func TestSpansOfAThreadNest(t *testing.T) {
	f, all := folder{}, [][2]int{{2, 3}, {1, 5}, {5, 9}, {1, 10}, {20, 30}, {25, 40}, {30, 31}, {26, 35},
		{41, 41}}
	// Inner before outer, as spans end; 20-30 and 25-40 overlap; 30-31 touches.
	f.record(t, 0, "exchange", 0, all...)
	rows := map[int][]chromeEvent{}
	total := 0
	for _, e := range write(t, f) {
		if e.Ph == "X" {
			rows[e.Tid] = append(rows[e.Tid], e)
			total++
		}
	}
	if total != len(all) || len(rows) != 2 {
		t.Errorf("%d spans in %d threads, want %d in 2", total, len(rows), len(all))
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

var errFull = errors.New("no space left")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }
func (fullDisk) Close() error              { return nil }

func TestErrorsAreReported(t *testing.T) {
	f := folder{}
	f.record(t, 0, "train", 0, [2]int{1, 2})
	if err := trace.Write(fullDisk{}, 1, f.open); !errors.Is(err, errFull) {
		t.Errorf("error %v", err)
	}
	r := trace.NewRecorder(0, func() (io.WriteCloser, error) { return fullDisk{}, nil })
	r.Track("train").Span("step", 1, start, start)
	if err := r.Close(); !errors.Is(err, errFull) {
		t.Errorf("error %v", err)
	}
	r = trace.NewRecorder(0, func() (io.WriteCloser, error) { return nil, errFull })
	r.Track("train").Span("step", 1, start, start)
	if err := r.Close(); !errors.Is(err, errFull) {
		t.Errorf("error %v", err)
	}
}
