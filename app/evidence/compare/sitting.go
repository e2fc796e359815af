package compare

import (
	"fmt"
	"lockstep/app/evidence/stat"
	"math"
	"slices"
	"strings"
	"time"

	"lockstep/app/record"
)

// Wide returns the rows whose intervals reach further than a relative width to one side: the interval of a
// line's ratio to the baseline or, where there is no ratio, that of its step time. Lines whose runs all
// failed or were disturbed do not count, nor does a baseline that others have a ratio to.
func (c *Comparison) Wide(width float64) []int {
	var rows []int
	c.lines(func(g *Group, l *Line) {
		isBase := l == g.Baseline && slices.ContainsFunc(g.Lines, func(l *Line) bool {
			return l != g.Baseline && l.Speedup.Known()
		})
		if l.Disturbed || l.Refused != "" || isBase {
			return
		}
		i, median := l.Interval(), l.RunMedian.Median
		if l != g.Baseline && l.Speedup.Known() {
			i, median = l.Speedup.Interval, l.Speedup.Median
		}
		if isNarrow := i.Hi-i.Lo <= 2*width*median; !isNarrow {
			rows = append(rows, l.row)
		}
	})
	return rows
}

// precise says why rounds ended if every interval is as narrow as was asked for.
func precise(r *record.Results, c *Comparison) []string {
	if r.Precision == 0 || len(c.Wide(r.Precision)) > 0 {
		return nil
	}
	return one("Rounds were added until the interval of each row's ratio reaches at most %s to both sides, "+
		"to rows that are compared as long as one of them has a wider one (%d rounds).",
		percent(r.Precision), r.Rounds)
}

// imprecise says which intervals are wider than was asked for.
func imprecise(r *record.Results, c *Comparison) []string {
	if r.Precision == 0 {
		return nil
	}
	wide := c.Wide(r.Precision)
	names, any := c.where(func(l *Line) bool { return slices.Contains(wide, l.row) })
	if !any {
		return nil
	}
	return one("Intervals of %s to both sides were asked for. After %d rounds, where the budget or the "+
		"number of rounds ended, these are wider: %s.", percent(r.Precision), r.Ran(), names)
}

// sittings says that the benchmark was interrupted and resumed by the same program on a like machine.
func sittings(r *record.Results, _ *Comparison) []string {
	return tellSittings(r, func(s, first record.Sitting) bool { return s.IsLike(first) })
}

// otherSittings warns of parts of the benchmark that another program or machine has measured.
func otherSittings(r *record.Results, _ *Comparison) []string {
	return tellSittings(r, func(s, first record.Sitting) bool { return !s.IsLike(first) })
}

// tellSittings names the sittings after the first that satisfy is.
func tellSittings(r *record.Results, is func(s, first record.Sitting) bool) []string {
	var parts []string
	for i, s := range r.Sittings {
		if i == 0 || !is(s, r.Sittings[0]) {
			continue
		}
		what := ""
		if first := r.Sittings[0]; !s.IsLike(first) {
			what = fmt.Sprintf(" by version %s on %s, %d cores, the first part by version %s on %s, %d cores",
				version(s), s.Host.CPU, s.Host.Cores, version(first), first.Host.CPU, first.Host.Cores)
		}
		parts = append(parts, fmt.Sprintf("from its run %d on at %s%s", s.First+1,
			s.Started.UTC().Format(time.DateTime+" UTC"), what))
	}
	if parts == nil {
		return nil
	}
	return one("The benchmark was interrupted and resumed %s. Rounds that were complete before are of other "+
		"conditions than those after; ratios are taken within rounds.", strings.Join(parts, "; "))
}

// version returns the version of a sitting's program with the begin of its revision.
func version(s record.Sitting) string {
	return strings.TrimSpace(s.Version + " " + s.Revision[:min(12, len(s.Revision))])
}

// replaced says which runs others stand for, and by what rule.
func replaced(r *record.Results, c *Comparison) []string {
	disturbed, failed, most := 0, 0, 0.0
	for _, row := range r.Rows {
		for _, run := range row.Replaced {
			if run.Error != "" {
				failed++
				continue
			}
			disturbed++
			most = max(most, run.Taken.Sum())
		}
	}
	var out []string
	if disturbed > 0 {
		which, less := "each run", ""
		if n := numLessRepeated(r); n > 0 {
			which = "runs"
			less = fmt.Sprintf(" Of those that count, %d were disturbed and repeated once or not at all: a "+
				"round repeats none if others took cores from three of four of its runs that are long "+
				"enough to tell, and of those of the round before, and no run is repeated without time "+
				"for it.", n)
		}
		out = append(out, fmt.Sprintf("Repeated: %s from which others took %s of the cores' time "+
			"or more, %d in all (at most %s in those replaced). Such a run is repeated at the end of its "+
			"round, at most twice, and of the runs of one row in one round the one counts that lost least; "+
			"%s. The others are in results.json as replaced.%s", which,
			percent(record.DisturbedLimit), disturbed, percent(most), byTime(r), less))
	}
	if failed > 0 {
		out = append(out, fmt.Sprintf("%d runs failed, and were repeated when the benchmark was resumed. "+
			"They are in results.json as replaced.", failed))
	}
	return out
}

// byTime says whether the times of repeated runs took part in the choice of those that count: a run too short
// to tell whether others took cores counts before one that they disturbed.
func byTime(r *record.Results) string {
	short := 0
	for _, row := range r.Rows {
		for _, run := range row.Runs {
			isRepeated := slices.ContainsFunc(row.Replaced, func(other record.Run) bool {
				return other.Round == run.Round && other.Error == ""
			})
			if run.Error == "" && run.Taken == nil && isRepeated {
				short++
			}
		}
	}
	switch short {
	case 0:
		return "its time takes no part in the choice"
	case 1:
		return "1 counts because it was too short to tell of others, and so by its time"
	}
	return fmt.Sprintf("%d count because they were too short to tell of others, and so by their time", short)
}

// numLessRepeated returns how many runs count although they were disturbed and repeated less than twice.
func numLessRepeated(r *record.Results) int {
	n := 0
	for _, row := range r.Rows {
		again := map[int]int{} // by round
		for _, run := range row.Replaced {
			if run.Error == "" {
				again[run.Round]++
			}
		}
		for _, run := range row.Runs {
			if run.Error == "" && run.Taken.IsDisturbed() && again[run.Round] < 2 {
				n++
			}
		}
	}
	return n
}

// Limits of warming up: steps at the start of a run that take longer than the second half of it.
const (
	warmLimit = 0.10 // by which the median of the first tenth is above that of the second half
	warmSteps = 20   // timed steps of a run below which nothing can be told
)

// warming names rows whose first steps take longer in most runs.
func warming(_ *record.Results, c *Comparison) []string {
	longest := 0.0
	names, any := c.where(func(l *Line) bool {
		var excess []float64
		for _, run := range l.runs {
			if v := warmUp(timed(run)); !run.Taken.IsDisturbed() && !math.IsNaN(v) {
				excess = append(excess, v)
			}
		}
		isWarming := len(excess) > 0 && stat.Median(excess) > warmLimit
		if isWarming {
			longest = max(longest, stat.Median(excess))
		}
		return isWarming
	})
	if !any {
		return nil
	}
	return one("Warm-up: the first tenth of the timed steps takes longer than the second half, by %s at "+
		"most: %s. Medians over the steps are little changed by that; means and totals are.",
		percent(longest), names)
}

// warmUp returns by how much the median of the first tenth of some times is above that of the second half;
// NaN if there are too few.
func warmUp(steps []float64) float64 {
	if len(steps) < warmSteps {
		return math.NaN()
	}
	return stat.Median(steps[:len(steps)/10])/stat.Median(steps[len(steps)/2:]) - 1
}

// speedLimit is by how much the speed of the cores may differ among the runs of one row.
const speedLimit = 0.15

// slowCores warns if the cores themselves were slower in some runs of a row: what they reached after each.
func slowCores(_ *record.Results, c *Comparison) []string {
	least, most := math.NaN(), math.NaN()
	names, any := c.where(func(l *Line) bool {
		var peaks []float64
		for _, run := range l.runs {
			if run.PeakFLOPs > 0 && run.GPU == "" {
				peaks = append(peaks, run.PeakFLOPs/1e9)
			}
		}
		if len(peaks) < 2 || slices.Max(peaks) <= (1+speedLimit)*slices.Min(peaks) {
			return false
		}
		if math.IsNaN(least) || slices.Min(peaks)/slices.Max(peaks) < least/most {
			least, most = slices.Min(peaks), slices.Max(peaks)
		}
		return true
	})
	if !any {
		return nil
	}
	return one("The cores were not equally fast in all runs: multiply-adds in registers, timed right after "+
		"each run, reached from %.3g to %.3g GFLOP/s in one row. Their frequency changed, or others used "+
		"them: %s.", least, most, names)
}
