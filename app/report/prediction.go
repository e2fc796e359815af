package report

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/finding"
	"lockstep/app/evidence/question"
	"lockstep/app/evidence/stat"
	"lockstep/app/record"
	"lockstep/app/report/plot"
	"lockstep/forecast"
	"lockstep/internal/spelling"
)

// foreseen is a predicted row with what was measured of it.
type foreseen struct {
	forecast.Row
	measured *forecast.Verified // nil: not yet
	speedup  float64            // that was measured, over one worker of the same batch; 0: none
}

// Predicted lays out a prediction with what was measured of its rows later; all may be nil. It is the only
// way in which a report shows figures that were not measured, and they come from a file that was not changed.
func Predicted(p *forecast.Prediction, all []forecast.Verified) *Report {
	var rows []foreseen
	for i, r := range p.Rows {
		one := foreseen{Row: r}
		if i < len(all) && all[i].Error == "" {
			one.measured = &all[i]
		}
		rows = append(rows, one)
	}
	page := page{Kind: "prediction", Title: predictionTitle(p), Command: spelling.Line(p.Command...),
		Source: "prediction " + p.Hash[:min(12, len(p.Hash))],
		Answer: answer{Text: predictionText(rows) + trackText(p, all != nil)},
		Lede: joined(" · ", "frozen "+moment(p.Date), "SHA-256 "+
			p.Hash[:min(12, len(p.Hash))]+"…", fmt.Sprintf("made from %s of one and two workers on %s",
			spelling.Count(p.MadeFrom.Rounds, "round"), p.MadeFrom.Machine))}
	page.note(predictionNotes(p, all))
	s := predictedSection("rows", "Steps", "An interval is to hold nine of ten measurements.", rows)
	s.Tables = append(s.Tables, block{Title: "Beside simpler formulas", Table: formulaTable(rows),
		Caption: formulasMeaning})
	s.Figures = page.lead(s.Figures)
	page.Sections = []section{s}
	return &Report{page}
}

// predictedSection shows predicted rows with what was measured of them. frozen says what they are.
func predictedSection(id, title, frozen string, rows []foreseen) section {
	return section{ID: id, Title: title, Work: frozen + " Hollow and dashed is predicted, filled is " +
		"measured.", Figures: drawn(intervalFigure(rows), scalingFigure(rows)), Tables: []block{{IsOpen: true,
		Title: "Predicted and measured", Table: predictionTable(rows), Caption: rowsMeaning}}}
}

// What the columns of both tables are.
const (
	rowsMeaning = "Error: the prediction over what was measured, less 1; below 0 it was too short. " +
		"Efficiency: of the samples/s of as many workers that work alone. Bound by: what would shorten the " +
		"step most if it took half as long."
	formulasMeaning = "Small: over what was measured, less 1. Naive: a worker's share of the computation, " +
		"then its bytes by the bandwidth. Amdahl and Gustafson: by the serial part that two workers show; " +
		"where that is all of a step, as over a slow link, Amdahl gives all numbers of workers one step."
)

func predictionTitle(p *forecast.Prediction) string {
	network := p.Inputs.Network
	switch {
	case network == "":
		network = "workers of one machine"
	case p.Inputs.IsLab:
		network = "hosts of a lab, " + network
	}
	scaling := ""
	if p.Inputs.IsWeak {
		scaling = "the batch grows with the workers"
	}
	return joined(" · ", "Predicted steps", network, scaling, p.Inputs.Changes)
}

// predictionText says how near the measured rows came or, if there are none, which row is the fastest. Rows
// that the calibration ran itself count only where there are no others.
func predictionText(rows []foreseen) string {
	var misses []float64
	inside := 0
	isNew := func(r foreseen) bool { return r.measured != nil && r.Workers > 1 && !r.IsKnown }
	isAny := slices.ContainsFunc(rows, isNew)
	for _, r := range rows {
		if r.measured == nil || isAny && !isNew(r) {
			continue
		}
		misses = append(misses, math.Abs(r.Step.Miss(r.measured.StepMS)))
		if r.measured.Inside {
			inside++
		}
	}
	switch len(misses) {
	case 0:
	case 1:
		return fmt.Sprintf("The prediction that was measured is off by %s, %s its interval.",
			percent(misses[0]), map[int]string{0: "outside", 1: "inside"}[inside])
	default:
		return fmt.Sprintf("Of %d predictions that were measured, %d lay within their intervals; the median "+
			"error is %s, the greatest %s.", len(misses), inside, percent(stat.Median(misses)),
			percent(slices.Max(misses)))
	}
	best := slices.MaxFunc(rows, func(a, b foreseen) int { return cmp.Compare(a.Rate, b.Rate) })
	return fmt.Sprintf("Predicted, not measured: %s with %s trains on most samples in a second, %s, with a "+
		"step of %s ms (%s to %s).", best.Way, spelling.Count(best.Workers, "worker"), digits(best.Rate, 3),
		digits(best.Step.Median, 3), digits(best.Step.Low, 3), digits(best.Step.High, 3))
}

// trackText says how earlier predictions of a machine fared, if they or this one were verified.
func trackText(p *forecast.Prediction, isVerified bool) string {
	t, next := p.Track, "lockstep predict verify measures."
	if p.Inputs.Network != "" && !p.Inputs.IsLab {
		next = "Hosts with cores of their own are not here to be measured; with --in-lab they share this " +
			"machine's, and lockstep predict verify measures."
	}
	switch {
	case t.Predictions == 0 && isVerified:
		return ""
	case t.Predictions == 0:
		return " No prediction on this machine has been verified yet: intervals are as wide as the model " +
			"is expected to need. " + next
	}
	before := ""
	if isVerified {
		before = " before it"
	}
	return fmt.Sprintf(" Of %s on this machine%s, %d lay within the interval; the median error is %s.",
		spelling.Count(t.Predictions, "prediction"), before, t.Within, percent(t.MedianError))
}

func predictionNotes(p *forecast.Prediction, all []forecast.Verified) (notes []note) {
	if p.MadeFrom.Taken >= record.DisturbedLimit {
		notes = append(notes, noteOf(finding.Caution, unsorted, fmt.Sprintf("Others took %s of the cores' "+
			"time while it was calibrated.", percent(p.MadeFrom.Taken))))
	}
	var why []string
	taken := 0.0
	for _, v := range all {
		if v.Error != "" {
			why = addNew(why, v.Error)
		}
		taken = max(taken, v.Taken)
	}
	if taken >= record.DisturbedLimit {
		notes = append(notes, noteOf(finding.Caution, unsorted, fmt.Sprintf("Others took up to %s of the "+
			"cores' time while it was verified: what they took is no miss of the prediction.",
			percent(taken))))
	}
	for _, text := range why {
		notes = append(notes, noteOf(finding.Fact, unsorted, fmt.Sprintf("Not measured: %s.", text)))
	}
	return notes
}

// foresee puts what the plan asked to be predicted before the first run behind its questions, and what the
// rows of the benchmark measured of it.
func (p *page) foresee(r *record.Results, c *compare.Comparison) {
	for i, text := range r.Predictions {
		f := record.Foresight{Ask: "What is predicted?"}
		if r.Inquiry != nil && i < len(r.Inquiry.Predictions) {
			f = r.Inquiry.Predictions[i]
		}
		frozen, err := forecast.Decode(text)
		if err != nil {
			p.Asked = append(p.Asked, asked{f.Ask, "Not shown: " + err.Error() + ".", "✗", "unfit", "answer"})
			continue
		}
		var rows []foreseen
		for _, row := range frozen.Rows {
			rows = append(rows, measuredOf(frozen, row, c))
		}
		s := predictedSection(fmt.Sprintf("predicted-%d", i+1), predictionTitle(frozen), "Frozen "+
			moment(frozen.Date)+", before the first run, from runs of "+
			"one and two workers; SHA-256 "+frozen.Hash[:12]+"….", rows)
		for i := range s.Figures {
			s.Figures[i].ID = s.ID + "-" + s.Figures[i].ID
		}
		sign, text := foreseenText(rows, f, frozen.Inputs.Cores)
		p.Asked = append(p.Asked, asked{f.Ask, text, sign, "open", s.ID})
		p.Sections = slices.Insert(p.Sections, min(1+i, len(p.Sections)), s)
	}
	if r.Inquiry != nil && r.Predictions == nil {
		for _, f := range r.Inquiry.Predictions {
			p.Asked = append(p.Asked, asked{f.Ask, "Not predicted in time.", openSign, "open", "answer"})
		}
	}
}

// measuredOf returns a predicted row with what the rows of a benchmark measured of it on this machine.
func measuredOf(p *forecast.Prediction, row forecast.Row, c *compare.Comparison) foreseen {
	l := question.Find(c, record.Selector{"strategy": row.Way, "workers": fmt.Sprint(row.Workers),
		"batch": fmt.Sprint(row.Batch), "hosts": "0"})
	if l == nil || p.Inputs.Network != "" || p.Inputs.Changes != "" || l.Disturbed {
		return foreseen{Row: row}
	}
	v := &forecast.Verified{Step: row.Step, StepMS: 1e3 * l.Step.Median}
	for _, r := range l.Runs() {
		v.RunsMS = append(v.RunsMS, 1e3*r.Step)
	}
	v.Inside = row.Step.Holds(v.StepMS)
	if p.Inputs.IsWeak || !l.Speedup.Known() {
		return foreseen{row, v, 0}
	}
	return foreseen{row, v, l.Speedup.Median}
}

// foreseenText says how many times as fast as one worker more are predicted to be, and were, and whether each
// interval holds what another report predicts. Workers that share cores cannot tell that.
func foreseenText(rows []foreseen, f record.Foresight, cores float64) (sign, text string) {
	sign, parts := likelySign, []string{}
	for _, r := range rows {
		if times := r.Efficiency * float64(r.Workers); len(parts) < maxListed && r.Workers > 1 {
			name, beside := spelling.Count(r.Workers, "worker"), ""
			if r.speedup > 0 && !r.IsKnown {
				name, beside = name+" predicted", ", measured "+twoDecimals(r.speedup)+"×"
			}
			if theirs, isThere := f.Speedups[fmt.Sprint(r.Workers)]; isThere {
				verdict := "likely"
				if float64(r.Workers*max(1, r.Threads)) > cores {
					sign, verdict = openSign, "not testable, threads share cores"
				} else if !r.Step.Holds(times * r.Step.Median / theirs) {
					verdict = "likely not"
				}
				beside += fmt.Sprintf(", reference %s×: %s", trim(theirs), verdict)
			}
			low, high := times*r.Step.Median/r.Step.High, times*r.Step.Median/r.Step.Low
			parts = append(parts, fmt.Sprintf("%s %s× (%s)%s", name, twoDecimals(times),
				between(low, high, twoDecimals), beside))
		}
	}
	return sign, fmt.Sprintf("Predicted before the first run for %s, over one worker: %s.",
		spelling.Count(int(cores), "core"), strings.Join(parts, "; "))
}

// scalingFigure draws the samples per second of each strategy over the number of workers, and of the first
// one by the laws of Amdahl and Gustafson.
func scalingFigure(rows []foreseen) figure {
	var all []plot.Series
	add := func(name string, r foreseen, rate float64, isLaw bool) {
		s := curveNamed(&all, name)
		s.IsReference = isLaw
		addPoint(s, float64(r.Workers), rate)
	}
	first := ""
	for _, r := range rows {
		if first == "" && r.Workers > 1 {
			first = r.Way
		}
		add(r.Way, r, r.Rate, false)
		if r.Way == first {
			add("Amdahl", r, 1e3*float64(r.Batch)/r.Amdahl, true)
			add("Gustafson", r, 1e3*float64(r.Batch)/r.Gustafson, true)
		}
	}
	f := curves(plot.Head{ID: "scaling", Title: "Scaling"}, "workers", "samples/s, predicted",
		"Amdahl and Gustafson: of "+first+", by the serial part that two workers show.", all)
	if lines, isThere := f.Chart.(plot.Lines); isThere {
		lines.IsFar = true
		f.Chart = lines
	}
	return f
}

// intervalFigure draws an interval for each row, with the runs that were measured.
func intervalFigure(rows []foreseen) figure {
	var groups []plot.DotGroup
	for _, r := range rows {
		title := spelling.Count(r.Workers, "worker")
		i := slices.IndexFunc(groups, func(g plot.DotGroup) bool { return g.Title == title })
		if i < 0 {
			i = len(groups)
			groups = append(groups, plot.DotGroup{Title: title})
		}
		row := plot.DotRow{Name: r.Way, Style: plot.Style{Colour: len(groups[i].Rows) % plot.NumColours},
			Left: []float64{r.Step.Median}, Middle: r.Step.Median, Lo: r.Step.Low, Hi: r.Step.High,
			End: digits(r.Step.Median, 3)}
		if r.measured != nil {
			row.Values = r.measured.RunsMS
			row.End += fmt.Sprintf(", measured %s", digits(r.measured.StepMS, 3))
		}
		groups[i].Rows = append(groups[i].Rows, row)
	}
	return figure{plot.Head{ID: "steps", Title: "Step time"}, "A line is the interval of a prediction, a " +
		"hollow dot its median; a filled dot is the median step of a run that was measured later.",
		plot.Dots{X: "step, ms", Groups: groups}}
}

func predictionTable(rows []foreseen) table {
	three := func(v float64) string { return digits(v, 3) }
	unlessZero := func(v float64, text string) string {
		if v == 0 {
			return dash
		}
		return text
	}
	return tableOf("Predicted and measured", rows,
		col("strategy", "", func(r foreseen) string { return r.Way }),
		col("workers", "", func(r foreseen) string { return fmt.Sprint(r.Workers) }),
		cells("predicted step", "ms", func(r foreseen) cell {
			c := cell{Text: three(r.Step.Median)}
			if r.IsKnown {
				c.Small = "as calibrated"
			}
			return c
		}),
		col("interval", "ms", func(r foreseen) string { return between(r.Step.Low, r.Step.High, three) }),
		col("measured", "ms", func(r foreseen) string {
			switch {
			case r.measured == nil:
				return dash
			case r.measured.Inside:
				return three(r.measured.StepMS) + ", inside"
			}
			return three(r.measured.StepMS) + ", outside"
		}),
		col("error", "", func(r foreseen) string {
			if r.measured == nil {
				return dash
			}
			return fmt.Sprintf("%+.1f %%", 100*r.Step.Miss(r.measured.StepMS))
		}),
		col("samples/s", "", func(r foreseen) string { return three(r.Rate) }),
		col("efficiency", "", func(r foreseen) string { return percent(r.Efficiency) }),
		col("bound by", "", func(r foreseen) string { return r.Binding }),
		col("time", "", func(r foreseen) string { return unlessZero(r.Seconds, seconds(r.Seconds)) }),
		col("cost", "$", func(r foreseen) string { return unlessZero(r.Dollars, fixed(r.Dollars, 2)) }))
}

func formulaTable(rows []foreseen) table {
	beside := func(value func(foreseen) float64) func(foreseen) cell {
		return func(r foreseen) cell {
			c := cell{Text: digits(value(r), 3)}
			if r.measured != nil {
				c.Small = fmt.Sprintf("%+.0f %%", 100*(value(r)/r.measured.StepMS-1))
			}
			return c
		}
	}
	return tableOf("Beside simpler formulas", rows,
		col("strategy", "", func(r foreseen) string { return r.Way }),
		col("workers", "", func(r foreseen) string { return fmt.Sprint(r.Workers) }),
		cells("simulated", "ms", beside(func(r foreseen) float64 { return r.Step.Median })),
		cells("naive", "ms", beside(func(r foreseen) float64 { return r.Naive })),
		cells("Amdahl", "ms", beside(func(r foreseen) float64 { return r.Amdahl })),
		cells("Gustafson", "ms", beside(func(r foreseen) float64 { return r.Gustafson })))
}

// WriteBeside writes the page and its Markdown as path.html and path.md, each whole or not at all.
func (r *Report) WriteBeside(path string) error {
	name := filepath.Base(path)
	return writeFiles(filepath.Dir(path), []rendering{{name + ".html", r.HTML}, {name + ".md", r.Markdown}})
}
