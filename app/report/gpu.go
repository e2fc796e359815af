package report

import (
	"fmt"

	"lockstep/app/record"
	"lockstep/app/report/plot"
)

// gpuBars collects what GPUs did in a step: a bar for each, with the rest of the step.
type gpuBars struct {
	bars  plot.Bars
	table table
}

// newGPUBars returns bars whose rows are named by the given column.
func newGPUBars(head plot.Head, column string) *gpuBars {
	return &gpuBars{plot.Bars{Head: head, X: "ms per step", BesideAt: -1,
		Parts: []string{"forward", "backward", "optimizer", "idle"}},
		table{Name: "Milliseconds per step on the GPU", Head: []heading{{column, ""}, {"GPU", ""},
			{"steps", "watched"}, {"forward", "ms"}, {"backward", "ms"}, {"optimizer", "ms"}, {"idle", "ms"},
			{"memory", "most seen"}}}}
}

// add adds the GPU of a worker, if its clock saw a step.
func (b *gpuBars) add(bar plot.Bar, name cell, g *record.RankGPU) {
	if g == nil || g.Time == nil || g.Time.Steps == 0 {
		return
	}
	t, ms := g.Time, 1e3/float64(g.Time.Steps)
	bar.Values = []float64{ms * t.Forward, ms * t.Backward, ms * t.Optimizer, ms * max(0, t.Seconds-t.Busy())}
	cells := []cell{name, {Text: g.Name}, {Text: fmt.Sprint(t.Steps)}}
	for _, v := range bar.Values {
		cells = append(cells, cell{Text: digits(v, 3)})
	}
	memory := dash
	if g.BytesInUse > 0 {
		memory = byteCount(float64(g.BytesInUse))
	}
	b.bars.Rows = append(b.bars.Rows, bar)
	b.table.Rows = append(b.table.Rows, row{Cells: append(cells, cell{Text: memory})})
}

// figure returns the figure; one without a chart if no GPU was added.
func (b *gpuBars) figure(caption string) figure {
	if len(b.bars.Rows) == 0 {
		return figure{}
	}
	return figure{ID: b.bars.ID, Title: "What the GPU did", Caption: caption + " By the GPU's own clock, " +
		"in one step of sixteen: from the first to the last op of a pass, with samples that travel to it " +
		"and gaps in between. Else it is idle, and the host computes, exchanges or prepares the next pass. " +
		"Memory is that of all processes on the GPU, looked at once a second.",
		Chart: b.bars, Legend: boxesOf(b.bars), Table: b.table}
}

// rankGPUs shows what the GPU of each rank did in a step.
func rankGPUs(ranks []record.RankStat) []figure {
	b := newGPUBars(plot.Head{ID: "gpus", Title: "A step on the GPU, by rank",
		Description: "Stacked bars, one per rank. The values are in the table below the plot."}, "rank")
	for _, r := range ranks {
		b.add(plot.Bar{Label: fmt.Sprintf("rank %d", r.Rank)}, cell{Text: fmt.Sprint(r.Rank)}, r.GPU)
	}
	if f := b.figure("Mean over the steps of each rank that were watched."); f.Chart != nil {
		return []figure{f}
	}
	return nil
}

// gpuFigure shows what the GPU of the first worker of each row did in a step.
func (s *section) gpuFigure() figure {
	b := newGPUBars(s.head("gpus", "A step on the GPU", "Stacked bars, one per row: forward, backward, "+
		"optimizer, idle."), "row")
	for _, v := range s.lines {
		b.add(plot.Bar{Key: v.key, Label: v.Label}, v.name(), v.GPU(0))
	}
	return b.figure("Rank 0 in the first timed run of each row.")
}
