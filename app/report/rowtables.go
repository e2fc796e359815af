package report

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/stat"
	"lockstep/app/strategy"
	"lockstep/internal/spelling"
)

// rankLoss is the losses of an iteration of a row, all together and by rank.
type rankLoss struct {
	*lineView
	iteration int
}

// rankTable shows the global loss beside the own loss of every rank at chosen iterations, one row
// per line and iteration.
func (s *section) rankTable() block {
	const most = 14 // iterations
	var all []rankLoss
	ranks, steps := 0, 0
	for _, v := range s.lines {
		ranks, steps = max(ranks, len(v.Ranks)), max(steps, len(v.Loss))
	}
	for _, v := range s.lines {
		for _, i := range iterations(steps, most) {
			if i <= len(v.SharedLoss()) {
				all = append(all, rankLoss{v, i})
			}
		}
	}
	columns := []column[rankLoss]{
		cells("row", "", func(l rankLoss) cell { return l.name() }),
		col("iteration", "", func(l rankLoss) string { return fmt.Sprint(l.iteration) }),
		col("global", "whole batch", func(l rankLoss) string {
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
	return block{Title: "Loss of each rank", Table: tableOf("Loss of each rank by iteration", all,
		columns...),
		Caption: "First run of each row, before the update of the iteration. Global: mean over the whole " +
			"batch, the same on all ranks. Rank: mean over this rank's own shards. Workers of strategy " +
			"none have no global loss. A dash under a rank: the row has no such rank, or the iteration had " +
			"no sample for it."}
}

// iterations chooses the rows of a table over n iterations: the first, every 20th (every 5th of
// a short run) and the last; a long run is thinned to at most most, still multiples of 20.
func iterations(n, most int) []int {
	const every = 20
	step := every
	if n < 2*every {
		step = 5
	}
	for n/step > most-2 {
		step += every
	}
	out := []int{1}
	for i := step; i <= n; i += step {
		out = append(out, i)
	}
	if out[len(out)-1] != n && n > 1 {
		out = append(out, n)
	}
	return out
}

// rankUsage is what a worker of a row took.
type rankUsage struct {
	*lineView
	compare.WatchedRank
	rank int
}

// usageTable sums up what each worker of each row took.
func (s *section) usageTable() block {
	var all []rankUsage
	for _, v := range s.lines {
		for rank, w := range v.Usage {
			all = append(all, rankUsage{v, w, rank})
		}
	}
	mean := func(name, unit string, by float64, values func(rankUsage) []float64) column[rankUsage] {
		return col(name, unit, func(u rankUsage) string { return digits(by*stat.Mean(values(u)), 3) })
	}
	t := tableOf("What each worker took", all,
		cells("row", "", func(u rankUsage) cell { return u.name() }),
		col("rank", "", func(u rankUsage) string { return fmt.Sprint(u.rank) }),
		mean("processors", "mean", 1, func(u rankUsage) []float64 { return u.WatchedRank.Cores }),
		bytesOf("memory", func(u rankUsage) float64 { return most(u.Memory) }),
		bytesOf("memory of the GPU", func(u rankUsage) float64 { return most(u.WatchedRank.GPU) }),
		mean("sent", "MB/s", 1e-6, func(u rankUsage) []float64 { return u.Sent }),
		mean("received", "MB/s", 1e-6, func(u rankUsage) []float64 { return u.Received }),
		mean("shards", "of a step", 1, func(u rankUsage) []float64 { return u.Shards }))
	return block{Title: "What each worker took", Table: t, Caption: "First run of each row. Processors in " +
		"use are known where the steps of a run took a tenth of a second together."}
}

// most returns the greatest value; NaN: none is known.
func most(values []float64) float64 {
	greatest := unknown
	for _, v := range values {
		if known(v) && !(v <= greatest) {
			greatest = v
		}
	}
	return greatest
}

// costTable says what runs of each row take of the machine: the time and device-minutes of one, the time of
// ten and what ten would cost at the price of such a device. Rows whose times say how busy the machine was
// are left out.
func (s *section) costTable() block {
	lines := slices.DeleteFunc(slices.Clone(s.lines), func(v *lineView) bool {
		return !known(v.Total.Median) || v.Disturbed
	})
	var prices, unpriced []string
	for _, v := range lines {
		if price, isPriced := v.price(); isPriced {
			prices = addNew(prices, priceText(price))
		} else if names := v.GPUNames(); len(names) > 0 {
			unpriced = addNew(unpriced, strings.Join(names, " with "))
		}
	}
	t := tableOf("Time and cost of runs", lines,
		cells("row", "", (*lineView).name),
		col("one run", "s", func(v *lineView) string { return seconds(v.Total.Median) }),
		cells("one run", "of each device", func(v *lineView) cell {
			devices, unit := v.devices()
			return cell{Text: digits(compare.DeviceMinutes(v.Total.Median, devices), 3), Small: unit}
		}),
		col("ten runs", "minutes", func(v *lineView) string {
			return digits(compare.DeviceMinutes(10*v.Total.Median, 1), 3)
		}),
		col("ten runs", "US dollars", func(v *lineView) string {
			price, isPriced := v.price()
			if !isPriced {
				return dash
			}
			devices, _ := v.devices()
			return digits(compare.Cost(10*v.Total.Median, devices, price.Device()), 3)
		}),
		cells("checkpoints", "training stands still", func(v *lineView) cell {
			c := v.Checkpoints
			if c == nil || c.Count == 0 {
				return cell{Text: dash}
			}
			return cell{Text: seconds(c.ExposedSeconds) + " s", Small: fmt.Sprintf("%s of the run, %s, %s",
				percent(c.ExposedSeconds/v.Total.Median), spelling.Count(c.Count, "checkpoint"),
				byteCount(float64(c.Bytes)))}
		}))
	caption := "Medians of the runs' training and evaluation, without starting processes, on the cores " +
		"that a row keeps busy or its GPUs. Ten runs are ten times one."
	if len(prices) > 0 {
		caption += fmt.Sprintf(" Dollars are a projection: these devices were not rented; the price is "+
			"that of %s.", strings.Join(prices, ", or of "))
	}
	if len(unpriced) > 0 {
		caption += fmt.Sprintf(" No price is known here of a machine with %s.",
			strings.Join(unpriced, ", or with "))
	}
	return block{Title: "What runs take", Caption: caption, Table: t}
}

// devices counts what the row computes on; of GPUs it is NaN where that is not told.
func (v *lineView) devices() (n float64, unit string) {
	if !v.IsOnGPU() {
		return float64(v.Cores), "core-minutes"
	}
	if n := v.NumGPUs(); n > 0 {
		return float64(n), "GPU-minutes"
	}
	return unknown, "GPU-minutes"
}

// price returns the price of a device as the row has it.
func (v *lineView) price() (p compare.Price, isKnown bool) {
	if !v.IsOnGPU() {
		return compare.Prices()[0], true
	}
	return compare.PriceOf(v.GPUNames())
}

// rawMeaning says what the tables of runs are.
const rawMeaning = "Every run of every row. results.json has every step."

// runTables lists the runs of every row of a section.
func runTables(s *section) (all []block) {
	for _, v := range s.lines {
		t := tableOf("Runs of "+v.Label, v.Runs(),
			col("round", "", func(r compare.RunLine) string { return fmt.Sprint(r.Round + 1) }),
			col("seed", "", func(r compare.RunLine) string {
				if r.Seed == 0 {
					return fmt.Sprint(v.Setting.Seed)
				}
				return fmt.Sprint(r.Seed)
			}),
			col("step", "ms", func(r compare.RunLine) string { return digits(1e3*r.Step, 5) }),
			col("first step", "ms", func(r compare.RunLine) string { return digits(1e3*r.First, 4) }),
			col("samples/s", "", func(r compare.RunLine) string { return digits(r.PerSecond, 4) }),
			col("total", "s", func(r compare.RunLine) string { return digits(r.Seconds, 4) }),
			col("loss", "last", func(r compare.RunLine) string { return fixed(r.LossLast, 4) }),
			col("accuracy", "test", func(r compare.RunLine) string {
				if r.TestAccuracy == nil {
					return dash
				}
				return percent(*r.TestAccuracy)
			}),
			bytesOf("sent", func(r compare.RunLine) float64 { return float64(r.BytesSent) }),
			cells("parameters", "SHA-256", func(r compare.RunLine) cell {
				return hashCell(r.ParameterSHA256)
			}),
			col("cores taken", "", func(r compare.RunLine) string {
				if !r.Taken.IsDisturbed() {
					return dash
				}
				return percent(r.Taken.Stolen+r.Taken.Others) + ", left out"
			}))
		if len(t.Head) == 0 || len(v.Runs()) == 0 {
			t.Head = []heading{{Text: "round"}, {Text: "reason", IsProse: true}}
		}
		for i, text := range v.Failures {
			t.Rows = append(t.Rows, row{Cells: []cell{{Text: fmt.Sprintf("failed %d", i+1)},
				{Text: text, Span: len(t.Head) - 1}}})
		}
		all = append(all, block{ID: v.raw, Title: s.Title + ": " + v.key + "  " + v.Label, Table: t})
	}
	return all
}
