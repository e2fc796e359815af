package report

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/stat"
	"lockstep/app/report/plot"
	"lockstep/internal/spelling"
	"lockstep/trace"
)

// mostLanes is how many ranks are drawn.
const mostLanes = 16

// lanesFigure draws the median step of all ranks: what each did when, for whom it waited, and what the end of
// the step waited for. A run without spans of common steps, such as one whose workers do not meet, has none.
func lanesFigure(t *compare.Training) figure {
	if t.Spans == nil || t.Workers < 2 {
		return figure{}
	}
	line, err := trace.NewTimeline(t.Workers, t.Spans)
	if err != nil {
		return figure{}
	}
	step := line.Median()
	lanes, err := line.Lanes(step)
	if err != nil {
		return figure{}
	}
	zero := slices.Min(step.Begin)
	at := func(ns int64) float64 { return float64(ns-zero) / 1e6 }
	isWait := func(name string) bool { return name == compare.CoreWait } // which no span has
	names := append(slices.DeleteFunc(compare.Phases(), isWait), "evaluation")
	p := plot.Lanes{X: "ms", Parts: slices.Clone(names), Path: "what the end of the step waited for"}
	p.Parts[slices.Index(names, "sync_exposed")] = "exchange"
	for _, lane := range lanes[:min(len(lanes), mostLanes)] {
		p.Rows = append(p.Rows, laneOf(lane, names, at))
	}
	for _, l := range trace.CriticalPath(lanes) {
		if l.Rank < len(p.Rows) {
			p.Steps = append(p.Steps, plot.Step{Row: l.Rank, From: at(l.Begin), To: at(l.End)})
		}
	}
	head := plot.Head{ID: "lanes", Title: fmt.Sprintf("What waited for what in step %d", step.Step)}
	caption := "The step of median time. Above: the training thread of a rank; below: its exchanges, " +
		"hatched while nothing had come yet from the rank that is named. " + alignedText(line) +
		arrivalsText(line)
	return figure{head, caption, p}
}

// laneOf returns the row of a rank.
func laneOf(lane trace.Lane, phases []string, at func(int64) float64) plot.Lane {
	row := plot.Lane{Name: fmt.Sprintf("rank %d", lane.Rank)}
	box := func(part int, from, to int64, text string) plot.Box {
		return plot.Box{Part: part, From: at(max(from, lane.Begin)), To: at(min(to, lane.End)), Text: text}
	}
	last := lane.Begin // the end of the outermost span so far
	for i := range lane.Tracks[trace.TrainTrack] {
		s := &lane.Tracks[trace.TrainTrack][i]
		if s.Name == trace.StepSpan || s.End() <= last {
			continue
		}
		last = s.End()
		row.Main = append(row.Main, box(slices.Index(phases, phaseOf(s.Name)), s.Start, last, s.Name))
	}
	for _, track := range slices.Sorted(maps.Keys(lane.Tracks)) {
		for i := range lane.Tracks[track] {
			s := &lane.Tracks[track][i]
			if s.Exchange == nil {
				continue
			}
			met := s.Start + min(s.Length, int64(s.Exchange.Waited))
			if s.Exchange.Peer >= 0 && met > max(s.Start, lane.Begin) {
				row.Below = append(row.Below, box(-1, s.Start, met, fmt.Sprintf("rank %d", s.Exchange.Peer)))
			}
			if s.End() > max(met, lane.Begin) && met < lane.End {
				row.Below = append(row.Below, box(slices.Index(phases, "sync_exposed"), met, s.End(),
					fmt.Sprintf("%s %d", s.Name, s.Number)))
			}
		}
	}
	return row
}

// phaseOf returns the phase of a span of the training thread.
func phaseOf(name string) string {
	switch {
	case slices.Contains(trace.Waits(), name):
		return "sync_exposed"
	case name == "inner" || name == "outer" || name == "update":
		return "optimizer"
	case name == "checkpoint":
		return "other"
	}
	return name
}

// alignedText says how well the clocks of the ranks are aligned; "" if they are one.
func alignedText(line *trace.Timeline) string {
	switch e := line.Error(); {
	case e < 0:
		return "How the clocks of the hosts stand to each other is not known. "
	case e > 0:
		return fmt.Sprintf("Clocks of hosts are aligned to %s ms. ", digits(float64(e)/1e6, 2))
	}
	return ""
}

// arrivalsText says which rank came last, and whether that recurs.
func arrivalsText(line *trace.Timeline) string {
	arrivals, steps := line.Arrivals()
	sum := func(halves [2]int) int { return halves[0] + halves[1] }
	if sum(steps) == 0 {
		return ""
	}
	most := slices.MaxFunc(arrivals, func(a, b trace.Arrival) int { return sum(a.Steps) - sum(b.Steps) })
	text := fmt.Sprintf("Of %s rank %d was the last to arrive in %.0f %%, by %s ms on average",
		spelling.Count(sum(steps), "step"), most.Rank, 100*float64(sum(most.Steps))/float64(sum(steps)),
		digits(float64(most.Behind)/float64(time.Millisecond), 2))
	if stat.IsRecurring(most.Steps, steps, len(arrivals)) {
		return text + ": more often than by chance, throughout the run."
	}
	return text + ": no more often than chance and passing causes explain."
}
