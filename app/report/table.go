package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/stat"
	"lockstep/app/report/plot"
	"lockstep/app/strategy"
	"lockstep/internal/spelling"
)

// table is a table as both formats show it.
type table struct {
	Name string // read out by screen readers
	Head []heading
	Rows []row
}

// IsTerse reports whether the first column, which stays in place on a phone, is narrow.
func (t table) IsTerse() bool {
	const most = 8 // characters
	return !slices.ContainsFunc(t.Rows, func(r row) bool { return len([]rune(r.Cells[0].Text)) > most })
}

type heading struct{ Text, Unit string }

func (h heading) String() string {
	if h.Unit == "" {
		return h.Text
	}
	return h.Text + ", " + h.Unit
}

type row struct {
	Class string
	Cells []cell
}

// cell is one value with a smaller second line.
type cell struct {
	Text, Small string
	Code        string        // the full value of a shortened one
	Link        string        // id of the samples behind it; "": none
	Span        int           // columns it covers, if more than one
	Swatch      template.HTML // sample of the line's style
}

// IsLong reports whether the text may take several lines; numbers stay on one.
func (c cell) IsLong() bool {
	const most = 14 // characters
	return len([]rune(c.Text)) > most
}

// column is one column of the main table.
type column struct {
	heading
	value func(v *lineView) cell
}

// lineView is a line with its key and style in the group.
type lineView struct {
	*compare.Line
	group *compare.Group
	key   string // letter that names the line in plots
	style plot.Style
	raw   string // id of its samples
}

// isBaseline reports whether the group's speed-ups are relative to the line.
func (v *lineView) isBaseline() bool { return v.Line == v.group.Baseline }

// name is the letter and the label of the line, as the first cell of a row.
func (v *lineView) name() cell { return cell{Text: v.key + "  " + v.Label, Link: v.raw} }

// columns leaves out those that no row has a value for.
func columns(all []column, lines []*lineView) []column {
	return slices.DeleteFunc(all, func(c column) bool {
		return !slices.ContainsFunc(lines, func(v *lineView) bool {
			return v.OK == 0 || c.value(v).Text != dash
		})
	})
}

// staleness is the heading of how many updates came between the weights of a gradient and its own update.
const staleness = "staleness"

// stalenessCell shows the mean and the greatest staleness of a row's updates.
func (v *lineView) stalenessCell() cell {
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

// equalTime is the unit of accuracies at equal time.
const equalTime = "equal time"

// speedColumns are the columns of the table of times after the row's name. The text format has more (see
// textColumns).
func speedColumns() []column {
	return []column{
		{heading{"workers", "× threads"}, func(v *lineView) cell {
			return cell{Text: fmt.Sprintf("%d × %d", v.Setting.Workers, v.Setting.Threads),
				Small: spelling.Count(v.Cores, "core")}
		}},
		{heading{"step", "ms"}, func(v *lineView) cell {
			return cell{Text: millis(v.Step.Median), Small: between(v.Step.P10, v.Step.P90, millis)}
		}},
		{heading{"spread", ""}, func(v *lineView) cell {
			return cell{Text: percent(v.RunMedian.Spread()), Small: spelling.Count(v.Measured, "run")}
		}},
		{heading{"samples/s", ""}, func(v *lineView) cell {
			return cell{Text: digits(v.PerSecond, 3)}
		}},
		{heading{"speed-up", "of the step"}, func(v *lineView) cell {
			if v.isBaseline() {
				return cell{Text: "1", Small: "baseline"}
			}
			if v.Disturbed {
				return cell{Text: dash, Small: "cores taken"}
			}
			return ratioCell(v.Speedup)
		}},
		{heading{"efficiency", "per core"}, func(v *lineView) cell {
			if v.Contended {
				return cell{Text: dash, Small: "contention"}
			}
			if v.IsOnGPU() {
				return cell{Text: dash, Small: "on a GPU"}
			}
			if v.Speedup.Known() && !v.HasMathOf(v.group.Baseline) {
				return cell{Text: dash, Small: "other " + v.OtherMeans(v.group.Baseline)}
			}
			if v.isBaseline() || !v.Efficiency.Known() {
				return cell{Text: ratioText(v.Efficiency, percent)}
			}
			return cell{Text: ratioText(v.Efficiency, percent),
				Small: between(v.Efficiency.Interval.Lo, v.Efficiency.Interval.Hi, percent)}
		}},
		{heading{"step", "÷ none"}, func(v *lineView) cell { return ratioCell(v.OverFloor) }},
		{heading{"total", "s"}, func(v *lineView) cell {
			return cell{Text: seconds(v.Total.Median), Small: "epoch " + seconds(v.Epoch.Median)}
		}},
	}
}

// resultColumns are the columns of the table of what the rows reached and sent.
func resultColumns() []column {
	return []column{
		{heading{"batch", ""}, func(v *lineView) cell {
			return cell{Text: fmt.Sprint(v.Setting.Batch), Small: spelling.Count(v.Setting.Shards, "shard")}
		}},
		{heading{"loss", "last"}, func(v *lineView) cell {
			return cell{Text: fixed(v.LossLast, 4), Small: "from " + fixed(v.LossFirst, 4)}
		}},
		{heading{"accuracy", "test"}, func(v *lineView) cell {
			if v.Seeds > 1 {
				return estimateCell(v.Accuracy.Samples)
			}
			return cell{Text: percent(v.TestAccuracy), Small: "train " + percent(v.TrainAccuracy)}
		}},
		{heading{"accuracy", equalTime}, func(v *lineView) cell { return estimateCell(v.Accuracy.Time) }},
		{heading{staleness, "mean"}, (*lineView).stalenessCell},
		{heading{"sent", "by all"}, func(v *lineView) cell {
			c := cell{Text: byteCount(v.BytesSent)}
			if known(v.BusiestBytes) {
				c.Small = "busiest " + byteCount(v.BusiestBytes)
			}
			if known(v.ServerBytes) {
				c.Small += ", server " + byteCount(v.ServerBytes)
			}
			return c
		}},
		{heading{"parameters", "SHA-256"}, (*lineView).parameters},
	}
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
	small := between(r.Interval.Lo, r.Interval.Hi, func(v float64) string { return fixed(v, 2) })
	return cell{Text: ratioText(r, func(v float64) string { return fixed(v, 2) + "×" }), Small: small}
}

func ratioText(r stat.Ratio, format func(float64) string) string {
	if !r.Known() {
		return dash
	}
	return format(r.Median)
}

// parameters shows the hash and whether all lines that train one model share it.
func (v *lineView) parameters() cell {
	switch {
	case v.Disagree:
		return cell{Text: "differ", Small: "from run to run"}
	case v.SHA256 == "":
		return cell{Text: dash}
	}
	c := cell{Text: v.SHA256[:min(10, len(v.SHA256))], Code: v.SHA256}
	switch {
	case strategy.Named(v.Setting.Strategy).IsFloor && v.Setting.Workers > 1:
		c.Small = "of rank 0 alone"
	case v.Setting.IsLossy:
		c.Small = "another result"
	case v.IsMixed, v.Setting.Inexact != "" && v.Setting.Algorithm != "ring":
		c.Small = "another result"
	case !v.Exact():
		c.Small = "order of the ring"
	default:
		c.Small = v.group.Agreement(v.Line)
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
	parts := []string{v.Setting.Model}
	if v.Setting.Workers > 1 {
		for _, s := range []string{v.Setting.Algorithm, v.Line.Link()} {
			if s != "" {
				parts = append(parts, s)
			}
		}
	}
	return strings.Join(parts, " · ")
}

// mainTables are the tables of a group on the page: its times, then what they led to. Every number is linked
// to the samples behind it.
func (s *section) mainTables() []block {
	return []block{
		{ID: "speed", Title: "Speed", Caption: "Step time: median of the runs’ medians, with the 10th " +
			"to 90th percentile of all their steps after the first; samples/s: samples of a step over that " +
			"median. Spread: range of the runs’ medians. Ranges of ratios run over the rounds. A dash: not " +
			"measured, or no ratio because of contention or of cores taken by others.",
			Table: s.mainTable("Speed of "+s.Title, speedColumns()), IsOpen: true},
		{ID: "result", Title: "Result and traffic", Caption: "Of the first counted run of each row; " +
			"accuracies of several seeds are means with their interval.",
			Table: s.mainTable("Result and traffic of "+s.Title, resultColumns()), IsOpen: true},
	}
}

func (s *section) mainTable(name string, all []column) table {
	cols := columns(all, s.lines)
	t := table{Name: name, Head: []heading{{"row", ""}}}
	for _, c := range cols {
		t.Head = append(t.Head, c.heading)
	}
	for _, v := range s.lines {
		name := strings.TrimSpace(v.key + "  " + v.Setting.Strategy + " " + v.settings())
		r := row{Cells: []cell{{Text: name, Small: v.detail(), Swatch: v.style.Swatch()}}}
		if v.group.Baseline == v.Line {
			r.Class = "baseline"
		}
		if v.OK == 0 {
			r.Cells = append(r.Cells, cell{Text: v.missing(), Span: len(cols)})
			t.Rows = append(t.Rows, r)
			continue
		}
		for _, c := range cols {
			one := c.value(v)
			if one.Text != dash {
				one.Link = v.raw
			}
			r.Cells = append(r.Cells, one)
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// missing says why a line has no figures.
func (v *lineView) missing() string {
	if len(v.Failures) == 0 {
		return "not run"
	}
	return "failed: " + v.Failures[0]
}
