package trace

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Names of spans and tracks that a Timeline reads.
const (
	// TrainTrack has the spans of a training goroutine.
	TrainTrack = "train"
	// StepSpan holds all spans of a step; its number is the step's.
	StepSpan = "step"
)

// Waits returns the names of the spans in which the training goroutine waits for other ranks.
func Waits() []string { return []string{"wait", "average", "weights", "counts"} }

// Timeline is the spans of all workers on one axis: the time in nanoseconds since the first of them began.
// It holds a few numbers for each step, and reads the spans of a step when asked.
type Timeline struct {
	open  Source
	files []File
	shift []int64     // by rank: what is added to the time of a span
	steps []StepTimes // by number, of all ranks
}

// StepTimes is a step on every rank. Times are by rank, those of begin and end on the axis.
type StepTimes struct {
	Step       int
	Begin, End []int64
	// Waited is for how long exchanges that ended in the step waited for the first bytes of others.
	Waited []time.Duration
}

// Length returns the time of the rank that took longest.
func (l StepTimes) Length() time.Duration {
	longest := int64(0)
	for rank := range l.Begin {
		longest = max(longest, l.End[rank]-l.Begin[rank])
	}
	return time.Duration(longest)
}

// NewTimeline reads the files of the workers. Steps that some rank's file does not have, as it was cut or
// full, are left out; it is an error if none is left, and where [Scan] fails.
func NewTimeline(workers int, open Source) (*Timeline, error) {
	t := &Timeline{open: open}
	var laps [][]lap // by rank
	for rank := range workers {
		file, found, err := open.laps(rank)
		if err != nil {
			return nil, err
		}
		t.files, laps = append(t.files, file), append(laps, found)
	}
	if workers == 0 {
		return nil, fmt.Errorf("trace: a time line of no worker")
	}
	first := slices.MinFunc(t.files, func(a, b File) int { return a.aligned().Compare(b.aligned()) })
	for _, f := range t.files {
		t.shift = append(t.shift, int64(f.aligned().Sub(first.aligned())))
	}
	at := make([]int, workers)
	for _, own := range laps[0] {
		joined := StepTimes{Step: own.step}
		for rank := range workers {
			for at[rank] < len(laps[rank]) && laps[rank][at[rank]].step < own.step {
				at[rank]++
			}
			if at[rank] == len(laps[rank]) || laps[rank][at[rank]].step != own.step {
				break
			}
			l := laps[rank][at[rank]]
			joined.Begin = append(joined.Begin, l.begin+t.shift[rank])
			joined.End = append(joined.End, l.end+t.shift[rank])
			joined.Waited = append(joined.Waited, l.waited)
		}
		if len(joined.Begin) == workers {
			t.steps = append(t.steps, joined)
		}
	}
	if len(t.steps) == 0 {
		return nil, fmt.Errorf("trace: no step is in the spans of all %d workers", workers)
	}
	return t, nil
}

// lap is a step on one rank.
type lap struct {
	step       int
	begin, end int64
	waited     time.Duration
}

// byEnd compares the end of a step with a time.
func byEnd(l lap, end int64) int { return cmp.Compare(l.end, end) }

// laps reads the steps of a rank, by number, and adds up the waits of the exchanges that ended in each.
func (open Source) laps(rank int) (File, []lap, error) {
	var laps []lap
	file, err := open.scan(rank, func(_ int, s *Span) {
		if s.Name == StepSpan && s.Exchange == nil {
			laps = append(laps, lap{step: s.Number, begin: s.Start, end: s.End()})
		}
	})
	if err != nil {
		return file, nil, err
	}
	// In order of their ends, as one goroutine writes them.
	_, err = open.scan(rank, func(_ int, s *Span) {
		if s.Exchange == nil {
			return
		}
		i, _ := slices.BinarySearchFunc(laps, s.End(), byEnd)
		if i < len(laps) && laps[i].begin < s.End() {
			laps[i].waited += s.Exchange.Waited
		}
	})
	slices.SortStableFunc(laps, func(a, b lap) int { return cmp.Compare(a.step, b.step) })
	return file, laps, err
}

// Median returns the step whose length is the median of all but the first two.
func (t *Timeline) Median() StepTimes {
	sorted := slices.Clone(t.steps[min(2, len(t.steps)-1):])
	slices.SortStableFunc(sorted, func(a, b StepTimes) int { return cmp.Compare(a.Length(), b.Length()) })
	return sorted[len(sorted)/2]
}

// Error returns by how much the times of two ranks may be misaligned; negative if that is not known of one.
func (t *Timeline) Error() time.Duration {
	var most, second time.Duration
	for _, f := range t.files {
		switch e := f.Skew.Error; {
		case !f.Skew.IsKnown:
			return -1
		case e > most:
			most, second = e, most
		case e > second:
			second = e
		}
	}
	return most + second
}

// Arrival says how often a rank was the last to arrive at the exchanges of a step: the one that waited least
// for the others, whatever its clock shows.
type Arrival struct {
	Rank  int
	Steps [2]int // in which it was the last, in the first and in the second half of the run
	// Behind is by how much less it waited than the others did on average, in these steps on average.
	Behind time.Duration
}

// Arrivals returns how often each rank was the last, by rank, over all steps but the first two in which some
// rank waited, and their number in each half of the run.
func (t *Timeline) Arrivals() (all []Arrival, steps [2]int) {
	all = make([]Arrival, len(t.files))
	const first = 2
	for i, l := range t.steps[min(first, len(t.steps)):] {
		last, sum := 0, time.Duration(0)
		for rank, w := range l.Waited {
			sum += w
			if w < l.Waited[last] {
				last = rank
			}
		}
		if sum == 0 || len(all) < 2 {
			continue
		}
		half := 2 * i / (len(t.steps) - first)
		steps[half]++
		all[last].Steps[half]++
		all[last].Behind += (sum-l.Waited[last])/time.Duration(len(all)-1) - l.Waited[last]
	}
	for rank := range all {
		a := &all[rank]
		a.Rank, a.Behind = rank, a.Behind/time.Duration(max(1, a.Steps[0]+a.Steps[1]))
	}
	return all, steps
}

// Lane is what a rank did in a step: spans of its tracks that lie in the step at least partly, in order of
// their starts, outer ones first, on the axis of the time line.
type Lane struct {
	Rank       int
	Begin, End int64
	Tracks     map[string][]Span
}

// Lanes reads the spans of a step of all workers.
func (t *Timeline) Lanes(l StepTimes) ([]Lane, error) {
	var lanes []Lane
	for rank, file := range t.files {
		lane := Lane{Rank: rank, Begin: l.Begin[rank], End: l.End[rank], Tracks: map[string][]Span{}}
		found := map[int][]Span{}
		_, err := t.open.scan(rank, func(track int, s *Span) {
			start, end := s.Start+t.shift[rank], s.End()+t.shift[rank]
			if end > lane.Begin && start < lane.End {
				own := s.clone()
				own.Start = start
				found[track] = append(found[track], own)
			}
		})
		if err != nil {
			return nil, err
		}
		for _, track := range slices.Sorted(maps.Keys(found)) {
			spans := found[track]
			slices.SortStableFunc(spans, bySpan)
			lane.Tracks[file.Tracks[track]] = append(lane.Tracks[file.Tracks[track]], spans...)
		}
		lanes = append(lanes, lane)
	}
	return lanes, nil
}
