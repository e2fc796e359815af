package report

import (
	"fmt"
	"strings"

	"lockstep/app/evidence/usage"
	"lockstep/app/strategy"
)

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
		col("iteration", "", func(l rankLoss) string { return fmt.Sprint(l.step(l.iteration - 1)) }),
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
	return block{Title: "What each worker did", Table: t, Caption: "First run of each row, over " +
		"its steps: the median step without the first; the exchange with what it holds of waiting for " +
		"cores; mean loss over the worker's own samples; most resident memory. Workers that exchange " +
		"gradients are one model, so their accuracy is that of the row. A drop: a tenth of a second or " +
		"more with less than three quarters of a worker's usual processors, and what took longer then."}
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
