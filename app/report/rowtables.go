package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/question"
	"lockstep/app/evidence/stat"
	"lockstep/app/record"
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
		col("ten runs", "minutes", func(v *lineView) string { return digits(v.Total.Median/6, 3) }),
		col("ten runs", "US dollars", func(v *lineView) string {
			return digits(10*v.coreHours()*question.CorePrice, 3)
		}),
		cells("checkpoints", "training stands still", (*lineView).checkpoints))
	return block{Title: "Time and cost", Table: t, Caption: "Medians of training and evaluation, without " +
		"the start of processes, on the cores that a row keeps busy. Ten runs are ten times one. Dollars " +
		"are a projection, since these cores were not rented: the price is that of " + corePriceOf + "."}
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

// componentOf is what a phase of a step takes of the baseline and of another row, in seconds.
type componentOf struct {
	name             string
	one, more, saved float64 // saved: of all that is
}

// componentTable divides what the fastest row of several workers saves of the baseline's step by phase.
func (s *section) componentTable() block {
	base, ranked := s.lines[0].group.Baseline, slices.DeleteFunc(
		slices.Clone(s.lines[0].group.Verdict().Ranked),
		func(l *compare.Line) bool { return l.Setting.Workers == 1 })
	if base == nil || len(ranked) == 0 || base.Phases == nil || ranked[0].Phases == nil {
		return block{}
	}
	all := 0.0
	for i := range base.Phases {
		all += base.Phases[i] - ranked[0].Phases[i]
	}
	var parts []componentOf
	for i, name := range compare.Phases() {
		one, more := base.Phases[i], ranked[0].Phases[i]
		if max(one, more) >= 5e-4*base.Step.Median {
			parts = append(parts, componentOf{phaseText(name), one, more, (one - more) / all})
		}
	}
	return block{Title: "What the speed-up is made of", Caption: "Phases of a step of " + base.Label +
		" and of " + ranked[0].Label + ", the fastest of several workers, and the share of the saved time " +
		"that each has; what it has more counts against it.", Table: tableOf("Speed-up by phase", parts,
		col("phase", "", func(c componentOf) string { return c.name }),
		col(base.Label, "ms", func(c componentOf) string { return millis(c.one) }),
		col(ranked[0].Label, "ms", func(c componentOf) string { return millis(c.more) }),
		col("speed-up", "", func(c componentOf) string {
			if c.more == 0 || c.one == 0 {
				return dash
			}
			return twoDecimals(c.one/c.more) + "×"
		}),
		col("share", "of what is saved", func(c componentOf) string {
			return fmt.Sprintf("%.1f %%", 100*c.saved)
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
		for _, i := range iterations(len(v.SharedLoss())) {
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

// iterations chooses among n: the first, multiples of 20, or of 5 in a short run, and the last; 14 at most.
func iterations(n int) (out []int) {
	every := 20
	if n < 40 {
		every = 5
	}
	step := every * max(1, (n+12*every-1)/(12*every))
	for i := 0; i < n; i += step {
		out = append(out, max(i, 1))
	}
	if n > 1 {
		out = append(out, n)
	}
	return out
}

// workerOf is a worker of a row, in the first run of it that counts.
type workerOf struct {
	*lineView
	compare.RankLine
	steps     record.Steps
	stretches []stretch
}

// workers lists the workers of the rows that tell what they took.
func (s *section) workers() (all []workerOf) {
	for _, v := range s.lines {
		runs := v.Runs()
		at := max(0, slices.IndexFunc(runs, func(r compare.RunLine) bool { return r.IsCounted }))
		for i, rank := range v.Ranks {
			if known(rank.Memory) {
				steps := runs[at].Ranks[i].Steps
				all = append(all, workerOf{v, rank, steps, stretchesOf(steps)})
			}
		}
	}
	return all
}

// usageTable says what each worker of each row did, and what it took.
func (s *section) usageTable() block {
	t := tableOf("What each worker did", s.workers(),
		cells("row", "", func(w workerOf) cell { return cell{Text: w.name()} }),
		col("rank", "", func(w workerOf) string { return fmt.Sprint(w.Rank) }),
		col("step", "ms", func(w workerOf) string {
			return millis(stat.Median(w.steps.Seconds[min(1, len(w.steps.Seconds)):]))
		}),
		col("computing", "s", func(w workerOf) string {
			return seconds(sum(w.steps.Phases["forward"]) + sum(w.steps.Phases["backward"]))
		}),
		col("in the exchange", "s", func(w workerOf) string {
			return seconds(sum(w.steps.Phases["sync_exposed"]))
		}),
		col("loss", "mean", func(w workerOf) string { return fixed(stat.Mean(w.OwnLoss), 4) }),
		col("processors", "mean", func(w workerOf) string { return digits(w.RankLine.Cores, 3) }),
		bytesOf("memory", func(w workerOf) float64 { return w.Memory }),
		col("sent", "MB/s", func(w workerOf) string { return digits(1e-6*w.Sent, 3) }),
		col("received", "MB/s", func(w workerOf) string { return digits(1e-6*w.Received, 3) }),
		col("drops", "of the processors", func(w workerOf) string { return dropsText(w.stretches) }))
	return block{Title: "What each worker did", Table: t, Caption: "First counted run of each row, over " +
		"its steps: the median step without the first; the exchange with what it holds of waiting for " +
		"cores; mean loss over the worker's own samples; most resident memory. Workers that exchange " +
		"gradients are one model, so their accuracy is that of the row. A drop: a tenth of a second or " +
		"more with less than three quarters of a worker's usual processors, and what took longer then."}
}

// sum adds up the values that are known.
func sum(values []float64) (all float64) {
	for _, v := range values {
		if known(v) {
			all += v
		}
	}
	return all
}

// stretch is steps of a worker one after another, a tenth of a second or more, without evaluations.
type stretch struct {
	until, usage, cores, memory float64
	waits                       [4]float64 // seconds, by waitNames
}

// waitNames says for what a worker stands still.
func waitNames() [4]string {
	return [4]string{"at a checkpoint", "with Go's collector at work", "waiting for a core",
		"waiting for the exchange"}
}

// stretchesOf cuts the steps of a worker into stretches, of 150 at most.
func stretchesOf(s record.Steps) (all []stretch) {
	least, now, at := max(0.1, sum(s.Usage)/mostPoints), stretch{}, 0.0
	for i, usage := range s.Usage {
		at += usage
		now.until, now.usage, now.cores = at, now.usage+usage, now.cores+s.CPU[i]
		now.memory = max(now.memory, s.RSS[i])
		for j, of := range [][]float64{s.Checkpoint, s.Paused, s.Delayed, s.Phases["sync_exposed"]} {
			if i < len(of) {
				now.waits[j] += of[i]
			}
		}
		if now.usage >= least {
			now.cores /= now.usage
			all, now = append(all, now), stretch{}
		}
	}
	return all
}

// dropsText counts the drops of a worker's processors by what took longer than it usually does.
func dropsText(all []stretch) string {
	share := func(j int) (of []float64) {
		for _, s := range all {
			of = append(of, s.waits[j]/s.usage)
		}
		return of
	}
	var cores []float64
	for _, s := range all {
		cores = append(cores, s.cores)
	}
	usual, drops, why := stat.Median(cores), 0, map[string]int{}
	for i, s := range all {
		if s.cores >= 0.75*usual {
			continue
		}
		name, most := "untold", 0.1 // of its time
		for j, wait := range waitNames() {
			if of := share(j); of[i]-stat.Median(of) > most {
				name, most = wait, of[i]-stat.Median(of)
			}
		}
		drops++
		why[name]++
	}
	parts := []string{fmt.Sprintf("%d of %d", drops, len(all))}
	for _, name := range slices.Sorted(maps.Keys(why)) {
		parts = append(parts, fmt.Sprintf("%d %s", why[name], name))
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
	of := func(id, title, y string, value func(stretch) float64) figure {
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
				for _, st := range w.stretches {
					addPoint(&one, st.until, value(st))
				}
				return one
			})
	}
	return []figure{of("cpu", "Processors in use", "processors", func(s stretch) float64 { return s.cores }),
		of("memory", "Memory", "resident, MiB", func(s stretch) float64 { return s.memory / (1 << 20) })}
}
