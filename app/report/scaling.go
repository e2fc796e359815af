package report

import (
	"fmt"
	"slices"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/question"
	"lockstep/app/evidence/usage"
	"lockstep/app/report/plot"
	"lockstep/app/strategy"
)

// fewestCounts is how many numbers of workers make a figure of scaling.
const fewestCounts = 3

// scalingFigures plot the speed-up against the number of workers with as many threads as the baseline, a
// curve for each way of training and number of workers of a host, beside what is ideal on the host's cores.
func (s *section) scalingFigures() []figure {
	base := s.lines[0].group.Baseline
	if base == nil {
		return nil
	}
	var lines []*lineView
	most := map[int]int{} // cores of a row with so many workers
	for _, v := range s.lines {
		isFloor := strategy.Named(v.Setting.Strategy).IsFloor
		if v.Speedup.Known() && !isFloor && v.Setting.Threads == base.Setting.Threads {
			lines = append(lines, v)
			most[v.Setting.Workers] = max(most[v.Setting.Workers], v.Cores)
		}
	}
	if len(most) < fewestCounts {
		return nil
	}
	slices.SortStableFunc(lines, func(a, b *lineView) int { return a.Setting.Workers - b.Setting.Workers })
	ideal := plot.Series{Label: "ideal", IsReference: true}
	for n := range lines[len(lines)-1].Setting.Workers + 1 {
		if most[n] > 0 {
			addPoint(&ideal, float64(n), float64(most[n])/float64(base.Cores))
		}
	}
	all := []plot.Series{ideal}
	for _, v := range lines {
		if v.Line == base {
			continue
		}
		c := curveNamed(&all, joined(" ", v.Setting.Strategy, v.settings(), v.perHost()))
		if c.Values == nil { // all curves start from the baseline
			c.Style.Colour = v.style.Colour
			addPoint(c, float64(base.Setting.Workers), 1)
			c.Lo, c.Hi, c.Keys = append(c.Lo, 1), append(c.Hi, 1), []string{""}
		}
		c.Keys[0] = joined(" ", c.Keys[0], v.key)
		addPoint(c, float64(v.Setting.Workers), v.Speedup.Median)
		c.Lo, c.Hi = append(c.Lo, v.Speedup.Interval.Lo), append(c.Hi, v.Speedup.Interval.Hi)
	}
	caption := "Over " + base.Label + ", round by round, with intervals. Dashed: as many times as " +
		"there are cores. Rows with more workers × threads than cores show contention, not scaling."
	return []figure{{s.head("speedup", "Speed-up"), caption,
		plot.Lines{X: "workers", Y: "speed-up over " + base.Label, Series: all}}}
}

// perHost words how many workers each host of a row has.
func (v *lineView) perHost() string {
	switch s := v.Setting; {
	case s.Hosts == 0:
		return ""
	case s.PerHost == 0:
		return "on uneven hosts"
	default:
		return fmt.Sprintf("%d a host", s.PerHost)
	}
}

// curveNamed returns the curve with a name, a new one behind the others if there is none.
func curveNamed(all *[]plot.Series, name string) *plot.Series {
	i := slices.IndexFunc(*all, func(s plot.Series) bool { return s.Label == name })
	if i < 0 {
		i = len(*all)
		*all = append(*all, plot.Series{Keys: []string{compare.Key(i)}, Label: name,
			Style: plot.Style{Colour: i, Number: i}})
	}
	return &(*all)[i]
}

// addPoint appends a value to a curve.
func addPoint(s *plot.Series, at, value float64) {
	s.At, s.Values = append(s.At, at), append(s.Values, value)
}

// compareBatches puts rows that differ in their batch alone before the comparisons, which have each of them
// apart: what they reach, and when.
func (p *page) compareBatches(c *compare.Comparison) {
	rows := usage.Batches(c)
	if rows == nil {
		return
	}
	batch := func(l *compare.Line) string { return fmt.Sprint(l.Setting.Batch) }
	number := 0
	curve := against(plot.Head{ID: "batches-accuracy", Title: "Accuracy and time of each batch"},
		"seconds of training", accuracyAxis, onFollowed+", mean over the runs; a curve ends "+
			"where training does.", rows, func(l *compare.Line) plot.Series {
			one := plot.Series{Keys: []string{batch(l)}, Label: "samples a step",
				Style: plot.Style{Colour: number, Number: number}}
			for _, e := range l.Accuracy.Curve {
				addPoint(&one, e.Seconds, 100*e.Mean)
			}
			number++
			return one
		})
	t := tableOf("Accuracy and time by batch", rows,
		cells("batch", "", func(l *compare.Line) cell {
			_, v := p.viewOf(l)
			return cell{Text: batch(l), Link: v.raw}
		}),
		col("at a time", "samples", func(l *compare.Line) string {
			return fmt.Sprint((l.Setting.Batch + l.Setting.Shards - 1) / l.Setting.Shards)
		}),
		col("samples", "trained on", func(l *compare.Line) string { return fmt.Sprint(l.Runs()[0].Samples) }),
		col("one run", "s", func(l *compare.Line) string { return seconds(l.Total.Median) }),
		col("accuracy", "at the end", func(l *compare.Line) string {
			return percent(question.Of(l, "accuracy").Median)
		}))
	s := section{ID: "batches", Title: "Batches", Work: rows[0].Label + " with each global batch; " +
		"medians over the runs that count, accuracy: mean over seeds.", Figures: drawn(curve),
		Tables: []block{{Title: t.Name, Table: t, IsOpen: true, Caption: "A worker computes a shard at a " +
			"time. Small convolutions take 16 samples at once, the rest of a shard more slowly."}}}
	p.Sections = append([]section{s}, p.Sections...)
}
