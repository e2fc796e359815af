package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lockstep/app/evidence/question"
	"lockstep/app/evidence/usage"
	"lockstep/app/report/plot"
	"lockstep/app/strategy"
	"lockstep/internal/spelling"
)

// corePriceOf says whose price [question.CorePrice] is.
const corePriceOf = "AWS EC2 c5.2xlarge (8 logical processors, 0.34 dollars an hour), Linux on demand, " +
	"US East (N. Virginia), November 2026, from the example table of the EC2 Auto Scaling guide"

// costTable says what a run of each row takes of the machine, and what ten would cost. Rows whose times say
// how busy the machine was are left out.
func (s *section) costTable() block {
	lines := slices.DeleteFunc(slices.Clone(s.lines), func(v *lineView) bool {
		return !known(v.Total.Median) || v.Disturbed || v.IsOnGPU()
	})
	t := tableOf("Time and cost of runs", lines,
		cells("row", "", func(v *lineView) cell { return cell{Text: v.name()} }),
		col("one run", "s", func(v *lineView) string { return seconds(v.Total.Median) }),
		col("one run", "core-minutes", func(v *lineView) string { return digits(v.coreHours()*60, 3) }),
		col("one run", "joules", func(v *lineView) string {
			return digits(question.Of(v.Line, "energy").Median, 3)
		}),
		col("ten runs", "minutes", func(v *lineView) string { return digits(v.Total.Median/6, 3) }),
		col("ten runs", "Wh", func(v *lineView) string {
			return digits(10*question.Of(v.Line, "energy").Median/question.Scale("Wh"), 3)
		}),
		col("ten runs", "US dollars", func(v *lineView) string {
			return digits(10*v.coreHours()*question.CorePrice, 3)
		}),
		cells("checkpoints", "training stands still", (*lineView).checkpoints))
	caption := "Medians of training and evaluation, without the start of processes, on the cores that a " +
		"row keeps busy. Ten runs are ten times one. Dollars are a projection, since these cores were " +
		"not rented: the price is that of " + corePriceOf + "."
	if slices.ContainsFunc(t.Head, func(h heading) bool { return h.Unit == "joules" }) {
		caption += " Joules are what the processors' own counters (RAPL) tell of whole processors, all " +
			"programs and idle cores included, memory and the rest of the machine not."
	}
	return block{Title: "Time and cost", Table: t, Caption: caption}
}

// coreHours is the time that a run takes cores, summed over them.
func (v *lineView) coreHours() float64 { return v.Total.Median * float64(v.Cores) / 3600 }

// checkpoints says what those of the first run cost.
func (v *lineView) checkpoints() cell {
	c := v.Runs()[0].Checkpoints
	if c == nil || c.Count == 0 {
		return cell{Text: dash}
	}
	return cell{Text: seconds(c.ExposedSeconds) + " s", Small: fmt.Sprintf("%s of the run, %s, %s",
		percent(c.ExposedSeconds/v.Total.Median), spelling.Count(c.Count, "checkpoint"),
		byteCount(float64(c.Bytes)))}
}

// componentTable divides what the fastest row of several workers saves of the baseline's step by phase.
func (s *section) componentTable() block {
	base := s.lines[0].group.Baseline
	row, parts := usage.Parts(s.lines[0].group)
	if row == nil {
		return block{}
	}
	return block{Title: "What the speed-up is made of", Caption: "Phases of a step of " + base.Label +
		" and of " + row.Label + ", the fastest of several workers, and the share of the saved time " +
		"that each has; what it has more counts against it.", Table: tableOf("Speed-up by phase", parts,
		col("phase", "", func(c usage.Part) string { return phaseText(c.Phase) }),
		col(base.Label, "ms", func(c usage.Part) string { return millis(c.One) }),
		col(row.Label, "ms", func(c usage.Part) string { return millis(c.More) }),
		col("speed-up", "", func(c usage.Part) string {
			if c.More == 0 || c.One == 0 {
				return dash
			}
			return twoDecimals(c.One/c.More) + "×"
		}),
		col("share", "of what is saved", func(c usage.Part) string {
			return fmt.Sprintf("%.1f %%", 100*c.Saved)
		}))}
}

// rankLoss is an iteration of a row.
type rankLoss struct {
	*lineView
	iteration int
}

// rankTable shows the loss of the whole batch beside that of each rank's shards at chosen iterations.
func (s *section) rankTable() block {
	var all []rankLoss
	ranks := 0
	for _, v := range s.lines {
		ranks = max(ranks, len(v.Ranks))
		for _, i := range iterations(len(v.SharedLoss()), 60/len(s.lines)) {
			all = append(all, rankLoss{v, i})
		}
	}
	if ranks < 2 {
		return block{}
	}
	columns := []column[rankLoss]{
		cells("row", "", func(l rankLoss) cell { return cell{Text: l.name()} }),
		col("iteration", "", func(l rankLoss) string { return fmt.Sprint(l.iteration) }),
		col("all", "whole batch", func(l rankLoss) string {
			if strategy.Named(l.Setting.Strategy).IsFloor {
				return dash
			}
			return fixed(l.Loss[l.iteration-1], 4)
		})}
	for r := range ranks {
		columns = append(columns, col(fmt.Sprintf("rank %d", r), "own shards", func(l rankLoss) string {
			if r >= len(l.Ranks) || l.iteration > len(l.Ranks[r].OwnLoss) {
				return dash
			}
			return fixed(l.Ranks[r].OwnLoss[l.iteration-1], 4)
		}))
	}
	t := tableOf("Loss of each rank by iteration", all, columns...)
	return block{Title: "Loss of each rank", Table: t, Caption: "First run of each row, before the update " +
		"of the iteration: mean over the whole batch, the same on all ranks, and over each rank's shards."}
}

// iterations chooses so many among n, 14 at most and 4 at least: the first, multiples of 20, or of 5 in a
// short run, and the last.
func iterations(n, most int) (out []int) {
	every, most := 20, max(2, min(12, most-2))
	if n < 40 {
		every = 5
	}
	step := every * max(1, (n+most*every-1)/(most*every))
	for i := 0; i < n; i += step {
		out = append(out, max(i, 1))
	}
	if n > 1 {
		out = append(out, n)
	}
	return out
}

// workerOf is a worker of a row.
type workerOf struct {
	*lineView
	usage.Worker
}

// workers lists the workers of the rows that tell what they took.
func (s *section) workers() (all []workerOf) {
	for _, v := range s.lines {
		for _, w := range usage.Workers(v.Line) {
			all = append(all, workerOf{v, w})
		}
	}
	return all
}

// manyWorkers is how many are too many for a table of text with a row for each.
const manyWorkers = 20

// usageTable says what each worker of each row did, and what it took.
func (s *section) usageTable() block {
	all := s.workers()
	of := func(name, unit string, text func(usage.Worker) string) column[workerOf] {
		return col(name, unit, func(w workerOf) string { return text(w.Worker) })
	}
	t := tableOf("What each worker did", all,
		cells("row", "", func(w workerOf) cell { return cell{Text: w.name()} }),
		of("rank", "", func(w usage.Worker) string { return fmt.Sprint(w.Rank) }),
		of("step", "ms", func(w usage.Worker) string { return millis(w.Step) }),
		of("computing", "s", func(w usage.Worker) string { return seconds(w.Computing) }),
		of("in the exchange", "s", func(w usage.Worker) string { return seconds(w.Exchange) }),
		of("loss", "mean", func(w usage.Worker) string { return fixed(w.OwnMean, 4) }),
		of("processors", "mean", func(w usage.Worker) string { return digits(w.RankLine.Cores, 3) }),
		bytesOf("memory", func(w workerOf) float64 { return w.Memory }),
		of("sent", "MB/s", func(w usage.Worker) string { return digits(1e-6*w.Sent, 3) }),
		of("received", "MB/s", func(w usage.Worker) string { return digits(1e-6*w.Received, 3) }),
		of("compressed", "", func(w usage.Worker) string { return compressionText(w.Compression) }),
		of("drops", "of the processors", func(w usage.Worker) string { return dropsText(w.Drops()) }))
	b := block{Title: "What each worker did", Table: t, Caption: "First counted run of each row, over " +
		"its steps: the median step without the first; the exchange with what it holds of waiting for " +
		"cores; mean loss over the worker's own samples; most resident memory. Workers that exchange " +
		"gradients are one model, so their accuracy is that of the row. A drop: a tenth of a second or " +
		"more with less than three quarters of a worker's usual processors, and what took longer then."}
	if len(all) > manyWorkers {
		b.Short = new(s.shortUsage(t, all))
	}
	return b
}

// shortUsage has a row of the table of workers for each row, from the least to the most of its workers, and
// names the workers that differ.
func (s *section) shortUsage(long table, all []workerOf) table {
	t := table{Name: long.Name, Head: append(slices.Clone(long.Head), heading{Text: "workers that differ"})}
	for at := 0; at < len(all); {
		end, of := at, []usage.Worker{}
		for ; end < len(all) && all[end].lineView == all[at].lineView; end++ {
			of = append(of, all[end].Worker)
		}
		cells := slices.Clone(long.Rows[at].Cells)
		for i, h := range long.Head[1:] {
			texts := []string{}
			for _, r := range long.Rows[at:end] {
				texts = append(texts, r.Cells[i+1].Text)
			}
			cells[i+1].Text = rangeText(texts, h.Text == "drops")
		}
		t.Rows = append(t.Rows, row{Cells: append(cells, cell{Text: unlikeText(usage.Unlike(of))})})
		at = end
	}
	return t.aligned()
}

// rangeText is from the least to the most of numbers, or the texts that differ.
func rangeText(texts []string, isWords bool) string {
	slices.SortFunc(texts, func(a, b string) int {
		x, _ := strconv.ParseFloat(a, 64)
		y, _ := strconv.ParseFloat(b, 64)
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(a, b))
	})
	texts = slices.Compact(texts)
	switch {
	case len(texts) == 1:
		return texts[0]
	case isWords:
		return strings.Join(texts, "; ")
	}
	return texts[0] + "–" + texts[len(texts)-1]
}

// unlikeText names the workers that differ from the others, and in what.
func unlikeText(all []usage.Other) string {
	var parts []string
	for _, o := range all {
		parts = append(parts, fmt.Sprintf("rank %d: computing %+.0f %%, memory %+.0f %%", o.Rank,
			100*(o.Computing-1), 100*(o.Memory-1)))
	}
	return orDash(strings.Join(parts, "; "))
}

// compressionText writes how many bytes one stands for.
func compressionText(ratio float64) string {
	if !known(ratio) {
		return dash
	}
	return fixed(ratio, 2) + " : 1"
}

// dropsText counts the drops of a worker's processors by what took longer than it usually does.
func dropsText(d usage.Drops) string {
	parts := []string{fmt.Sprintf("%d of %d", d.Count, d.Of)}
	for why, name := range []string{"at a checkpoint", "with Go's collector at work", "waiting for a core",
		"waiting for the exchange", "untold"} {
		if n := d.Why[why]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, name))
		}
	}
	return strings.Join(parts, ", ")
}

// usageFigures plot the processors and the memory of each worker against its time.
func (s *section) usageFigures() []figure {
	const most = 12 // curves that an eye tells apart
	all := s.workers()
	caption := "First counted run of each row; a curve for each worker, over the time of its steps."
	if len(all) > most {
		all = slices.DeleteFunc(all, func(w workerOf) bool { return w.Rank > 0 })
		caption += " Of many workers that of rank 0."
	}
	of := func(id, title, y string, value func(usage.Stretch) float64) figure {
		number := 0
		return against(s.head(id, title), "seconds of training steps", y, caption, all,
			func(w workerOf) plot.Series {
				one := w.series(nil, nil)
				if w.Rank > 0 {
					one.Keys = []string{fmt.Sprint(w.key, w.Rank)}
					one.Label += fmt.Sprintf(", rank %d", w.Rank)
				}
				number++
				one.Style.Number = number
				for _, st := range w.Stretches {
					addPoint(&one, st.Until, value(st))
				}
				return one
			})
	}
	const mebibyte = 1 << 20
	return []figure{
		of("cpu", "Processors in use", "processors", func(s usage.Stretch) float64 { return s.Cores }),
		of("memory", "Memory", "resident, MiB", func(s usage.Stretch) float64 { return s.Memory / mebibyte })}
}
