package report

import (
	"fmt"
	"math"
	"slices"

	"lockstep/app/evidence/stat"
	"lockstep/app/report/plot"
)

// usageFigures plot what each worker took of processors, memory and network over time, of the first row of
// several workers by rank. The table of all rows is that of [section.usageTable].
func (s *section) usageFigures() []figure {
	v := s.watched()
	if v == nil {
		return nil
	}
	var figures []figure
	for _, q := range rankQuantities() {
		if q.id != "time" && q.isKnown(v.Usage) {
			q.id, q.title = s.ID+"-"+q.id, q.title+" · "+v.Label
			q.caption += " First run of the row; those of the others are in the table of workers."
			figures = append(figures, q.over(v.Usage))
		}
	}
	return figures
}

// watched returns the first row of several workers, in the order of the picture, that tells what they took.
func (s *section) watched() *lineView {
	for _, g := range s.ranking() {
		for _, v := range g.lines {
			if v.Setting.Workers > 1 && v.Usage != nil {
				return v
			}
		}
	}
	return nil
}

// usageTable sums up what each worker of each row took.
func (s *section) usageTable() (t table, caption string) {
	t = table{Name: "What each worker took", Head: []heading{{"row", ""}, {"rank", ""},
		{"processors", "mean"},
		{"memory", "most"}, {"sent", "MB/s"}, {"received", "MB/s"}, {"shards", "of a step"}}}
	for _, v := range s.lines {
		for rank, w := range v.Usage {
			most := math.NaN()
			if len(w.Memory) > 0 {
				most = slices.Max(w.Memory)
			}
			t.Rows = append(t.Rows, row{Cells: []cell{v.name(), {Text: fmt.Sprint(rank)},
				{Text: digits(stat.Mean(w.Cores), 3)}, {Text: byteCount(most)},
				{Text: digits(1e-6*stat.Mean(w.Sent), 3)},
				{Text: digits(1e-6*stat.Mean(w.Received), 3)},
				{Text: digits(stat.Mean(w.Shards), 3)}}})
		}
	}
	return t, "First run of each row. Processors in use are known where the steps of a run took a tenth of " +
		"a second together."
}

// shareFigure shows which part of the batches each worker computed, if they were not even.
func (s *section) shareFigure() []figure {
	b := plot.Bars{Head: s.head("batches", "Batches per worker", "Stacked bars, one per row: the part of "+
		"all shards that each worker computed."), X: "% of all shards", BesideAt: -1}
	t := table{Name: "Part of all shards by worker, %", Head: []heading{{"row", ""}}}
	isUneven := false
	for _, v := range s.lines {
		parts := v.shares()
		if parts == nil {
			continue
		}
		isUneven = isUneven || slices.Max(parts) > 1.01*slices.Min(parts)
		r := row{Cells: []cell{v.name()}}
		for rank, p := range parts {
			if rank >= len(b.Parts) {
				b.Parts = append(b.Parts, fmt.Sprintf("rank %d", rank))
				t.Head = append(t.Head, heading{b.Parts[rank], "%"})
			}
			r.Cells = append(r.Cells, cell{Text: fixed(p, 1)})
		}
		b.Rows = append(b.Rows, plot.Bar{Key: v.key, Label: v.Label, Values: parts, End: " "})
		t.Rows = append(t.Rows, r)
	}
	if !isUneven {
		return nil
	}
	f := figure{ID: b.ID, Title: "Batches per worker", Caption: "The part of all shards that each worker " +
		"computed, in the first counted run of each row.", Chart: b, Legend: boxesOf(b), Table: t}
	return []figure{f}
}

// shares returns the percentages of all shards by worker; nil if the row has one worker or does not tell.
func (v *lineView) shares() []float64 {
	if v.Setting.Workers < 2 {
		return nil
	}
	sum, parts := 0.0, make([]float64, len(v.TotalShards))
	for rank, n := range v.TotalShards {
		parts[rank] = n
		sum += n
	}
	if sum == 0 {
		return nil
	}
	for rank := range parts {
		parts[rank] *= 100 / sum
	}
	return parts
}

// bytesFigure shows what all workers of a run sent, and what compression saved of it.
func (s *section) bytesFigure() []figure {
	b := plot.Bars{Head: s.head("bytes", "Bytes sent by all workers", "Bars, one per row: bytes sent in a "+
		"run, and those that compression saved."), X: "MiB in a run, by all workers", BesideAt: -1,
		Parts: []string{"sent"}}
	t := table{Name: "Bytes sent in a run", Head: []heading{{"row", ""}, {"sent", ""},
		{"without compression", ""}, {"ratio", ""}, {"busiest process", "in and out"}}}
	isSaving := slices.ContainsFunc(s.lines, func(v *lineView) bool { return v.BytesVectors > v.BytesSent })
	if isSaving {
		b.Parts = append(b.Parts, "saved by compression")
	}
	for _, v := range s.lines {
		if !(v.BytesSent > 0) {
			continue
		}
		r := plot.Bar{Key: v.key, Label: v.Label, Values: []float64{v.BytesSent / (1 << 20)},
			End: byteCount(v.BytesSent)}
		ratio := dash
		if known(v.BytesVectors) {
			ratio = fixed(v.BytesVectors/v.BytesSent, 2) + " : 1"
		}
		if saved := v.BytesVectors - v.BytesSent; isSaving {
			r.Values = append(r.Values, math.Max(0, saved/(1<<20)))
			r.End = ratio
		}
		b.Rows = append(b.Rows, r)
		t.Rows = append(t.Rows, row{Cells: []cell{v.name(), {Text: byteCount(v.BytesSent)},
			{Text: byteCount(v.BytesVectors)}, {Text: ratio}, {Text: byteCount(v.BusiestBytes)}}})
	}
	if len(b.Rows) == 0 {
		return nil
	}
	f := figure{ID: b.ID, Title: "Bytes sent", Caption: "By all workers in one run.", Chart: b, Table: t}
	if isSaving {
		f.Caption += " At the end of a bar: the ratio of compression."
		f.Legend = boxesOf(b)
	}
	return []figure{f}
}

// checkpointFigure shows what checkpoints took of a run.
func (s *section) checkpointFigure() []figure {
	b := plot.Bars{Head: s.head("checkpoints", "Cost of checkpoints", "Bars, one per row: seconds in which "+
		"training stood still for checkpoints, and seconds of writing beside training."),
		X:     "seconds of a run",
		Parts: []string{"training stands still", "writing beside training"}, BesideAt: -1}
	t := table{Name: "Cost of checkpoints", Head: []heading{{"row", ""}, {"checkpoints", ""}, {"bytes", ""},
		{"standing still", "s"}, {"of the run", ""}, {"writing", "s"}}}
	for _, v := range s.lines {
		c := v.Checkpoints
		if c == nil || c.Count == 0 {
			continue
		}
		share := percent(c.ExposedSeconds / v.Total.Median)
		b.Rows = append(b.Rows, plot.Bar{Key: v.key, Label: v.Label, End: share,
			Values: []float64{c.ExposedSeconds, c.WritingSeconds}})
		t.Rows = append(t.Rows, row{Cells: []cell{v.name(), {Text: fmt.Sprint(c.Count)},
			{Text: byteCount(float64(c.Bytes))}, {Text: seconds(c.ExposedSeconds)}, {Text: share},
			{Text: seconds(c.WritingSeconds)}}})
	}
	if len(b.Rows) == 0 {
		return nil
	}
	f := figure{ID: b.ID, Title: "Checkpoints", Caption: "Of the first counted run of each row. At the " +
		"end of a bar: the part of the run in which training stood still.", Chart: b, Legend: boxesOf(b),
		Table: t}
	return []figure{f}
}
