package report

import (
	"fmt"
	"slices"

	"lockstep/app/evidence/compare"
	"lockstep/app/strategy"
	"lockstep/internal/spelling"
)

// corePrice is what an hour of a core cost: an eighth of a machine of eight logical processors.
const (
	corePrice   = 0.34 / 8 // US dollars
	corePriceOf = "AWS EC2 c5.2xlarge (8 logical processors, 0.34 dollars an hour), Linux on demand, " +
		"US East (N. Virginia), November 2026, from the example table of the EC2 Auto Scaling guide"
)

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
			return digits(10*v.coreHours()*corePrice, 3)
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

// rankUsage is what a worker of a row took.
type rankUsage struct {
	*lineView
	compare.RankLine
}

// usageTable says what each worker of each row took.
func (s *section) usageTable() block {
	var all []rankUsage
	for _, v := range s.lines {
		for _, rank := range v.Ranks {
			if known(rank.Memory) {
				all = append(all, rankUsage{v, rank})
			}
		}
	}
	t := tableOf("What each worker took", all,
		cells("row", "", func(u rankUsage) cell { return cell{Text: u.name()} }),
		col("rank", "", func(u rankUsage) string { return fmt.Sprint(u.Rank) }),
		col("processors", "mean", func(u rankUsage) string { return digits(u.RankLine.Cores, 3) }),
		bytesOf("memory", func(u rankUsage) float64 { return u.Memory }),
		col("sent", "MB/s", func(u rankUsage) string { return digits(1e-6*u.Sent, 3) }),
		col("received", "MB/s", func(u rankUsage) string { return digits(1e-6*u.Received, 3) }))
	return block{Title: "What each worker took", Table: t, Caption: "First run of each row, over its " +
		"steps; memory is the largest that was resident."}
}
