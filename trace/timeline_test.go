package trace_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"lockstep/trace"
)

// world records steps of ranks that compute for some time each and then exchange a bucket, which takes 2 ms
// from when the last has come and names whom a rank waited for.
func world(t *testing.T, steps [][]int) *trace.Timeline {
	t.Helper()
	f, recorders := folder{}, []*trace.Recorder{}
	for rank := range steps[0] {
		recorders = append(recorders, trace.NewRecorder(rank, f.create(rank)))
	}
	began := start
	for step, busy := range steps {
		last := 0
		for rank, ms := range busy {
			if ms > busy[last] {
				last = rank
			}
		}
		ms := func(n int) time.Time { return began.Add(time.Duration(n) * time.Millisecond) }
		for rank, r := range recorders {
			if step == 0 {
				r.Track("train")
				r.Track("exchange")
			}
			train, exchange := r.Tracks()[0], r.Tracks()[1]
			train.Span("forward", step, began, ms(busy[rank]/2))
			train.Span("conv", step, ms(1), ms(2))
			train.Span("backward", step, ms(busy[rank]/2), ms(busy[rank]))
			x := trace.Exchange{Waited: ms(busy[last]).Sub(ms(busy[rank])), Peer: last}
			if rank == last {
				x = trace.Exchange{Waited: 1000, Peer: (last + 1) % len(busy)}
			}
			exchange.Exchange("bucket", 0, ms(busy[rank]), ms(busy[last]+2), x)
			train.Span("wait", step, ms(busy[rank]), ms(busy[last]+2))
			end := ms(busy[last] + 4 - min(rank, 1)) // rank 0 is the last to end
			train.Span("optimizer", step, ms(busy[last]+2), end)
			train.Span(trace.StepSpan, step, began, end)
		}
		began = ms(busy[last] + 5)
	}
	for _, r := range recorders {
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	line, err := trace.NewTimeline(len(recorders), f.open)
	if err != nil {
		t.Fatal(err)
	}
	return line
}

// The critical path goes through the rank that came last, and from it over the exchange to the end.
func TestCriticalPathGoesThroughTheLastRank(t *testing.T) {
	line := world(t, [][]int{{10, 10}, {10, 10}, {10, 30}, {20, 10}, {50, 10}})
	for step, want := range []string{2: "1 forward, 1 backward, 0 bucket, 0 optimizer",
		3: "0 forward, 0 backward, 0 bucket, 0 optimizer"} {
		if want == "" {
			continue
		}
		lap := line.Steps()[step]
		lanes, err := line.Lanes(lap)
		if err != nil {
			t.Fatal(err)
		}
		var path []string
		links := trace.CriticalPath(lanes)
		for i, l := range links {
			path = append(path, fmt.Sprint(l.Rank, " ", l.Name))
			if i > 0 && l.Begin != links[i-1].End {
				t.Errorf("step %d: %+v follows %+v", step, l, links[i-1])
			}
		}
		if got := strings.Join(path, ", "); got != want {
			t.Errorf("step %d: %s, want %s", step, got, want)
		}
		took := time.Duration(links[len(links)-1].End - links[0].Begin)
		if took-lap.Length() > time.Microsecond || lap.Length()-took > time.Microsecond {
			t.Errorf("step %d: the path takes %v, the step %v", step, took, lap.Length())
		}
	}
	if m := line.Median(); m.Step != 2 && m.Step != 3 {
		t.Errorf("median step %d", m.Step)
	}
}

// A path ends, and never goes forward, through exchanges that take no time and through waits that are longer
// than their exchanges, as a damaged file has them; of tracks that are alike it takes the first.
func TestAPathEndsInDamagedSpans(t *testing.T) {
	lane := func(rank int, spans map[string][]trace.Span) trace.Lane {
		return trace.Lane{Rank: rank, Begin: 0, End: 100, Tracks: spans}
	}
	bucket := func(number int, start, length, waited int64, peer int) trace.Span {
		x := trace.Exchange{Waited: time.Duration(waited), Queued: time.Second, Peer: peer}
		return trace.Span{Name: "bucket", Number: number, Start: start, Length: length, Exchange: &x}
	}
	wait := []trace.Span{{Name: "forward", Length: 10}, {Name: "wait", Start: 10, Length: 90}}
	for name, lanes := range map[string][]trace.Lane{
		"no length": {lane(0, map[string][]trace.Span{"train": wait, "exchange": {bucket(0, 50, 0, 0, -1),
			bucket(1, 100, 0, 0, -1)}})},
		"long waits": {
			lane(0, map[string][]trace.Span{"train": wait, "exchange": {bucket(0, 90, 10, 500, 1),
				bucket(1, 400, 10, 0, 1)}}),
			lane(1, map[string][]trace.Span{"train": wait, "exchange": {bucket(1, 90, 10, 500, 0),
				bucket(0, 400, 10, 0, 0)}})},
		"alike": {lane(0, map[string][]trace.Span{"train": wait, "a": {bucket(0, 50, 50, 0, -1)},
			"b": {bucket(1, 40, 60, 0, -1)}, "c": {bucket(2, 30, 70, 0, -1)}})},
	} {
		for range 20 { // as maps are ranged over in no order
			found := make(chan []trace.Hop, 1)
			go func() { found <- trace.CriticalPath(lanes) }()
			select {
			case path := <-found:
				for i, l := range path {
					if l.Begin >= l.End || l.End > 100 || i > 0 && l.Begin != path[i-1].End {
						t.Errorf("%s: %+v", name, path)
					}
				}
				if at := path[len(path)-1]; name == "alike" && at.Number != 0 {
					t.Errorf("%s: %+v, want that of the first track", name, at)
				}
			case <-time.After(10 * time.Second):
				t.Fatalf("%s: the path has no end", name)
			}
		}
	}
}

// Each step has one last rank, in the half of the run in which it is.
func TestArrivalsAreCountedByHalves(t *testing.T) {
	const steps = 60
	for name, test := range map[string]struct {
		busy func(step int) []int
		want [3][2]int
	}{
		"always": {func(int) []int { return []int{10, 14, 12} }, [3][2]int{1: {29, 29}}},
		"at first": {func(step int) []int { return []int{10 + step/31*10, 14, 12} },
			[3][2]int{{0, 29}, {29, 0}}},
		"in turns": {func(step int) []int {
			return []int{10 + step%3, 10 + (step+1)%3, 10 + (step+2)%3}
		}, [3][2]int{{10, 10}, {9, 10}, {10, 9}}},
	} {
		var all [][]int
		for step := range steps {
			all = append(all, test.busy(step))
		}
		arrivals, n := world(t, all).Arrivals()
		if n != [2]int{(steps - 2) / 2, (steps - 2) / 2} {
			t.Errorf("%s: %d steps, want %d", name, n, steps-2)
		}
		for rank, a := range arrivals {
			if a.Rank != rank || a.Steps != test.want[rank] {
				t.Errorf("%s: %+v, want %v of rank %d", name, a, test.want[rank], rank)
			}
			if a.Steps != [2]int{} && (a.Behind < time.Millisecond || a.Behind > 10*time.Millisecond) {
				t.Errorf("%s: %v behind", name, a.Behind)
			}
		}
	}
}

// Without a common step there is no time line.
func TestNoTimelineWithoutSteps(t *testing.T) {
	f := folder{}
	f.record(t, 0, "train", 0, [2]int{1, 2})
	if _, err := trace.NewTimeline(1, f.open); err == nil || !strings.Contains(err.Error(), "no step") {
		t.Errorf("error %v", err)
	}
	if _, err := trace.NewTimeline(2, f.open); err == nil || !strings.Contains(err.Error(), "rank 1") {
		t.Errorf("error %v", err)
	}
}
