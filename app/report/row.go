package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/question"
	"lockstep/app/evidence/stat"
	"lockstep/app/report/plot"
	"lockstep/app/strategy"
	"lockstep/internal/spelling"
)

// lineView is a line with its key and style in the group.
type lineView struct {
	*compare.Line
	group *compare.Group
	key   string // that of the line
	style plot.Style
	raw   string // id of its samples
}

// step returns the number of the step, from 1, that the line holds in a place.
func (v *lineView) step(at int) int { return 1 + at*max(1, v.Record().Every) }

// isBaseline reports whether the group's speed-ups are relative to the line.
func (v *lineView) isBaseline() bool { return v.Line == v.group.Baseline }

// name is the letter and the label of the line.
func (v *lineView) name() string { return v.key + "  " + v.Label }

// series is a curve of the line.
func (v *lineView) series(at, values []float64) plot.Series {
	return plot.Series{Keys: []string{v.key}, Label: v.Label, Style: v.style, At: at, Values: values}
}

// speedColumns say how fast a row is, then on how much.
func speedColumns() []column[*lineView] {
	return []column[*lineView]{
		cells("step", "ms", func(v *lineView) cell {
			return cell{Text: millis(v.Step.Median), Small: between(v.Step.P10, v.Step.P90, millis)}
		}).inline(),
		cells("samples/s", "", func(v *lineView) cell { return cell{Text: digits(v.PerSecond, 3)} }).inline(),
		cells("speed-up", "by rounds", (*lineView).speedup).inline(),
		cells("efficiency", "per core", (*lineView).efficiency).inline(),
		cells("step", "÷ none", func(v *lineView) cell { return ratioCell(v.OverFloor) }).inline(),
		cells("spread", "", func(v *lineView) cell {
			return cell{Text: percent(v.RunMedian.Spread()), Small: spelling.Count(v.Measured, "run")}
		}).inline(),
		cells("total", "s", func(v *lineView) cell {
			c := cell{Text: seconds(v.Total.Median)}
			if known(v.Epoch.Median) {
				c.Small = "epoch " + seconds(v.Epoch.Median)
			}
			return c
		}),
		cells("workers", "× threads", func(v *lineView) cell {
			return cell{Text: fmt.Sprintf("%d × %d", v.Setting.Workers, v.Setting.Threads),
				Small: spelling.Count(v.Cores, "core")}
		}),
		col("own samples", "of a step", func(v *lineView) string { return trim(v.OwnSamples()) }),
	}
}

func (v *lineView) speedup() cell {
	if v.isBaseline() {
		return cell{Text: "1", Small: "baseline"}
	}
	if v.Disturbed {
		return cell{Text: dash, Small: "cores taken"}
	}
	return ratioCell(v.Speedup)
}

func (v *lineView) efficiency() cell {
	c := cell{Text: dash}
	switch {
	case v.Contended:
		c.Small = "contention"
	case v.IsOnGPU():
		c.Small = "on a GPU"
	case v.Speedup.Known() && !v.HasMathOf(v.group.Baseline):
		c.Small = "other " + v.OtherMeans(v.group.Baseline)
	case v.Efficiency.Known():
		c.Text = percent(v.Efficiency.Median)
		if in := v.Efficiency.Interval; !v.isBaseline() {
			c.Small = between(in.Lo, in.Hi, percent)
		}
	}
	return c
}

// resultColumns say what a row reached and sent.
func resultColumns() []column[*lineView] {
	return []column[*lineView]{
		cells("loss", "last", func(v *lineView) cell {
			return cell{Text: fixed(v.LossLast, 4), Small: "from " + fixed(v.LossFirst, 4)}
		}).inline(),
		cells("accuracy", "test", func(v *lineView) cell {
			if v.Seeds > 1 {
				return estimateCell(v.Accuracy.Samples)
			}
			return cell{Text: percent(v.TestAccuracy), Small: "train " + percent(v.TrainAccuracy)}
		}).inline(),
		cells("accuracy", "best", (*lineView).best),
		cells("accuracy", "equal time", func(v *lineView) cell { return estimateCell(v.Accuracy.Time) }),
		cells("staleness", "mean", (*lineView).staleness),
		bytesOf("sent by all", func(v *lineView) float64 { return v.BytesSent }),
		col("compressed", "", func(v *lineView) string {
			if !(v.BytesVectors > v.BytesSent) {
				return dash
			}
			return compressionText(v.BytesVectors / v.BytesSent)
		}),
		bytesOf("busiest process", func(v *lineView) float64 { return v.BusiestBytes }),
		bytesOf("busiest server", func(v *lineView) float64 { return v.ServerBytes }),
		cells("parameters", "SHA-256", (*lineView).parameters).inline(),
	}
}

// best shows the best of several evaluations, median over the runs, and after how many epochs they had it.
func (v *lineView) best() cell {
	least, most, isThere := question.BestEpochs(v.Line)
	if !isThere || strategy.Named(v.Setting.Strategy).IsFloor {
		return cell{Text: dash}
	}
	c := cell{Text: percent(question.Of(v.Line, "best").Median), Small: "epoch " + trim(least)}
	if most > least {
		c.Small = "epochs " + between(least, most, trim)
	}
	return c
}

// staleness shows the mean and the greatest staleness of a row's updates.
func (v *lineView) staleness() cell {
	if v.Staleness == nil {
		return cell{Text: dash}
	}
	sum, updates := 0, 0
	for late, n := range v.Staleness {
		sum, updates = sum+late*n, updates+n
	}
	return cell{Text: fixed(float64(sum)/float64(max(1, updates)), 2),
		Small: fmt.Sprintf("at most %d", len(v.Staleness)-1)}
}

// estimateCell shows a mean with its interval over seeds.
func estimateCell(e compare.Estimate) cell {
	if !e.Known() {
		return cell{Text: dash}
	}
	lo, hi := math.Max(e.Interval.Lo, 0), math.Min(e.Interval.Hi, 1)
	return cell{Text: percent(e.Mean), Small: between(lo, hi, percent)}
}

func ratioCell(r stat.Ratio) cell {
	if !r.Known() {
		return cell{Text: dash}
	}
	in := between(r.Interval.Lo, r.Interval.Hi, twoDecimals)
	if r.Interval.Hi >= mostWidth*r.Interval.Lo {
		in = ""
	}
	return cell{Text: twoDecimals(r.Median) + "×", Small: in}
}

// parameters shows the hash and whether all lines that train one model share it.
func (v *lineView) parameters() cell {
	switch {
	case v.Disagree:
		return cell{Text: "differ", Small: "from run to run"}
	case v.SHA256 == "":
		return cell{Text: dash}
	}
	c := hashCell(v.SHA256)
	switch {
	case strategy.Named(v.Setting.Strategy).IsFloor && v.Setting.Workers > 1:
		c.Small = "of rank 0 alone"
	case v.Setting.IsLossy, v.IsMixed, v.Setting.Inexact != "" && v.Setting.Algorithm != "ring":
		c.Small = "another result"
	case !v.Exact():
		c.Small = "order of the ring"
	default:
		c.Small = agreementText(v.group.Agreement(v.Line))
	}
	return c
}

// settings names the settings that the row alone has, and its wire if that is no plain one.
func (v *lineView) settings() string {
	options := strings.ReplaceAll(v.Setting.Options, "+", " ")
	if v.Setting.Wire == "" || strings.Contains(" "+options, " wire=") {
		return options
	}
	return strings.TrimSpace(options + " " + v.Setting.Wire)
}

// detail is the small print of a row's name.
func (v *lineView) detail() string {
	if v.Setting.Workers == 1 {
		return ""
	}
	return strings.TrimPrefix(joined(" · ", v.Setting.Algorithm, v.Line.Link()), "none · ")
}

// missing says why a line has no figures.
func (v *lineView) missing() string {
	if len(v.Failures) == 0 {
		return "not run"
	}
	return "failed: " + v.Failures[0]
}

// tables are the tables of a group: its times, what they led to, and what each worker did for it.
func (s *section) tables() []block {
	return filled(
		block{Title: "Speed", Caption: "Step: median of the runs’ medians, with the 10th to 90th " +
			"percentile of all their steps after the first; samples/s: of all these, over the sum of " +
			"their times. Ratios are medians of those of the steps of each round. Spread: range of the " +
			"runs’ medians. Rows whose ratio has an interval that leaves out 1 are told apart. A dash: " +
			"not measured, or no ratio because of contention or of cores taken by others.",
			Table: s.rowTable("Speed of "+s.Title, speedColumns()), IsOpen: true},
		block{Title: "Result and traffic", Caption: "Of the first run of each row; accuracies of " +
			"several seeds are means with their interval. Best: of a run's evaluations, median over the " +
			"runs, and after how many epochs. The busiest process: sent and received.",
			Table: s.rowTable("Result and traffic of "+s.Title, resultColumns()), IsOpen: true},
		s.rankTable(), s.usageTable())
}

// inlineOf returns the columns that stand in a terminal.
func inlineOf(all []column[*lineView]) []column[*lineView] {
	return slices.DeleteFunc(all, func(c column[*lineView]) bool { return !c.isInline })
}

// rowTable has a row for each line, with links to its samples, or the reason why it has no figures.
func (s *section) rowTable(name string, columns []column[*lineView]) table {
	var done, undone []*lineView
	for _, v := range s.lines {
		if v.OK > 0 {
			done = append(done, v)
		} else {
			undone = append(undone, v)
		}
	}
	first := cells("row", "", func(v *lineView) cell {
		return cell{Text: v.name(), Small: v.detail(), Swatch: v.style.Swatch()}
	})
	t := tableOf(name, done, append([]column[*lineView]{first}, columns...)...)
	for i, v := range done {
		if v.isBaseline() {
			t.Rows[i].Class = "baseline"
		}
		for j, c := range t.Rows[i].Cells {
			if j > 0 && c.Text != dash {
				t.Rows[i].Cells[j].Link = v.raw
			}
		}
	}
	if len(done) == 0 { // a table needs a column for the reasons
		t.Head = []heading{first.heading, {Text: "figures", IsProse: true}}
	}
	for _, v := range undone {
		reason := cell{Text: v.missing(), Span: len(t.Head) - 1}
		t.Rows = append(t.Rows, row{Cells: []cell{first.value(v), reason}})
	}
	return t
}

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
		all = append(all, block{ID: v.raw, Title: s.Title + ": " + v.name(), Table: t})
	}
	return all
}
