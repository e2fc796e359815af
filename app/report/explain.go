package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"lockstep/app/evidence/finding"
	"lockstep/app/evidence/stat"
	"lockstep/app/explain"
	"lockstep/app/report/plot"
	"lockstep/internal/spelling"
)

// Explained is an explanation with its sentence, as explain.json holds it.
type Explained struct {
	*explain.Explanation
	Sentence string `json:"sentence"`
}

// NewExplained words an explanation.
func NewExplained(e *explain.Explanation) Explained { return Explained{e, explainSentence(e)} }

// Write writes explain.json, explain.md and explain.html into a folder, which is made if need be. Each file
// appears complete or not at all.
func (e Explained) Write(folder string) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	r := e.Report()
	return writeFiles(folder, []rendering{{"explain.md", r.Markdown}, {"explain.html", r.HTML},
		{"explain.json", func(w io.Writer) error {
			encoder := json.NewEncoder(w)
			encoder.SetIndent("", "  ")
			return encoder.Encode(e)
		}}})
}

// Report lays out the page.
func (e Explained) Report() *Report {
	runs := func(c explain.Compared) string {
		recorded := ""
		if c.Runs > 0 { // none counts where a side is held against its ideal
			recorded = spelling.Count(c.Runs, "run") + " recorded, "
		}
		if e.A.Kernels != e.B.Kernels {
			recorded = "computed by " + orDash(c.Kernels) + "; " + recorded
		}
		return fmt.Sprintf("%s ms of %s (%s%d made for this)", millis(c.StepMS/1e3), c.Name, recorded,
			c.Again)
	}
	p := page{Kind: "explanation", Title: fmt.Sprintf("Why %s and %s differ", e.B.Name, e.A.Name),
		Source: "explain.json", Lede: fmt.Sprintf("Steps of %s and %s: means without the longest and "+
			"the shortest fortieth of each run.", runs(e.A), runs(e.B))}
	p.Answer.Text = e.Sentence
	p.lead([]figure{e.waterfall()})
	p.Sections = []section{{ID: "terms", Title: "What the difference is made of", Work: "Terms add up to " +
		"the difference; what none has is the residual. An interval, of three rounds at least, holds the " +
		"true value in 19 of 20 cases.",
		Tables: []block{{Table: e.terms(false), IsOpen: true}}, Terminal: []table{e.terms(true)}}}
	p.note(e.notes())
	return &Report{p}
}

// waterfall draws the terms that are shown.
func (e Explained) waterfall() figure {
	w := plot.Waterfall{X: "ms", From: e.A.Name, To: e.B.Name, Start: e.A.StepMS, End: e.B.StepMS}
	for _, t := range e.shown() {
		if e.Rounds < stat.LeastRounds {
			t.Low, t.High = math.NaN(), math.NaN()
		}
		w.Falls = append(w.Falls, plot.Fall{Name: t.Name, Value: t.MS, Lo: t.Low, Hi: t.High,
			IsSure: t.IsSure()})
	}
	caption := "Full bars are confirmed or measured by an intervention, outlines are not. The thin line is " +
		"the interval."
	for _, f := range w.Falls {
		if meaning := termMeaning(f.Name); meaning != "" {
			caption += fmt.Sprintf(" %s: %s.", f.Name, meaning)
		}
	}
	return figure{plot.Head{ID: "waterfall", Title: "From one step to the other"}, caption, w}
}

// smallTerm is the share of a step below which terms are shown as their sum.
const smallTerm = 0.005

// shown returns the terms that are not small, the sum of the others, and the residual, which add up to the
// difference.
func (e Explained) shown() (all []explain.Term) {
	none, rest := math.NaN(), 0.0
	for _, t := range e.Terms {
		if math.Abs(t.MS) >= smallTerm*e.A.StepMS {
			all = append(all, t)
		} else {
			rest += t.MS
		}
	}
	return append(all, explain.Term{Name: "smaller terms", MS: rest, Low: none, High: none},
		explain.Term{Name: "residual", MS: e.ResidualMS, Low: none, High: none})
}

// terms is the table of the terms and of what they leave; a short one fits a terminal.
func (e Explained) terms(isShort bool) table {
	type term = explain.Term
	columns := []column[term]{
		col("term", "", func(t term) string {
			if t.Rank != nil {
				return fmt.Sprintf("%s of worker %d", t.Name, *t.Rank)
			}
			return t.Name
		}),
		col("takes", "ms", func(t term) string { return fixed(t.MS, 3) }),
		col("interval", "ms", func(t term) string {
			switch {
			case math.IsNaN(t.Low):
				return dash
			case e.Rounds < stat.LeastRounds: // too few for an interval
				return spelling.Count(e.Rounds, "round")
			}
			return fixed(t.Low, 3) + " to " + fixed(t.High, 3)
		}),
		col("verdict", "", func(t term) string { return orDash(verdictOn(e.Explanation, t)) }),
		col("by", "", func(t term) string { return orDash(t.Intervention) }),
	}
	if !isShort {
		columns = append(columns,
			col("it took away", "ms", func(t term) string {
				if t.Intervention == "" {
					return dash
				}
				return fixed(t.Changed, 3) + " of " + fixed(t.Predicted, 3)
			}),
			col("of a step", "", func(t term) string { return percent(t.MS / e.A.StepMS) }),
			col("what it is", "", func(t term) string { return termMeaning(t.Name) }))
	}
	return tableOf("terms", e.shown(), columns...)
}

// termMeaning words what a term is.
func termMeaning(name string) string {
	return map[string]string{
		"work": "samples that a worker computes", "efficiency": "kernels at the shape that a worker has",
		"memory": "workers that slow one another, though each has a core: memory, caches, frequency",
		"cores":  "threads that wait for a core", "straggler": "waiting for a worker that takes longer",
		"imbalance": "waiting for a worker that has more shards", "latency": "messages of the exchange",
		"bandwidth": "bytes of the exchange", "codec": "compressing and encoding gradients",
		"data": "waiting for the loader", "optimizer": "updating weights",
		"checkpoint": "checkpoints", "runtime": "pauses of the runtime", "other": "the rest of a step",
	}[name]
}

// moreText says how much longer so many milliseconds make a step, or how much less it takes by them.
func moreText(v float64) string {
	if v < 0 {
		return ms(-v/1e3) + " less"
	}
	return ms(v/1e3) + " longer"
}

// explainSentence says why one side takes longer than the other.
func explainSentence(e *explain.Explanation) string {
	if !e.IsTold {
		text := fmt.Sprintf("The steps of %s and of %s are not told apart: %s against %s", e.B.Name, e.A.Name,
			ms(e.B.StepMS/1e3), ms(e.A.StepMS/1e3))
		for _, t := range e.Large() { // which make up for one another
			text += fmt.Sprintf(", %+.3g ms by %s", t.MS, t.Name)
		}
		return text + "."
	}
	text := fmt.Sprintf("A step of %s takes %s than one of %s%s.", e.B.Name, moreText(e.DifferenceMS),
		e.A.Name, causeText(e))
	if e.IsPassing {
		text += fmt.Sprintf(" That was when they were recorded: in short runs again they differ by %s. It "+
			"was passing, or such runs do not have it.", ms(math.Abs(*e.AgainMS)/1e3))
	}
	return text
}

// causeText names the culprit of a difference, with how much it has of it: where other terms make up for a
// part, with both parts.
func causeText(e *explain.Explanation) string {
	if e.Culprit == "" {
		return ", and no single cause is told from the others"
	}
	var t explain.Term // none of it shows where what takes it away shrinks others
	if at := slices.IndexFunc(e.Terms, func(t explain.Term) bool { return t.Name == e.Culprit }); at >= 0 {
		t = e.Terms[at]
	}
	size, rest, how := ms(math.Abs(e.CulpritMS)/1e3)+" of it", "", verdictOn(e, t)
	if e.CulpritMS == e.DifferenceMS {
		size = "all of it"
	} else if math.Abs(e.CulpritMS) > 1.05*math.Abs(e.DifferenceMS) {
		size, rest = moreText(e.CulpritMS), ", and "+moreText(e.DifferenceMS-e.CulpritMS)+" by the rest"
	}
	switch {
	case e.By != "":
		how = e.By + " does without"
	case t.Confirmed != nil || t.Measured:
		how += " by " + t.Intervention
	}
	worker := ""
	if t.Rank != nil {
		worker = fmt.Sprintf(", worker %d", *t.Rank)
	}
	return fmt.Sprintf(": %s by %s%s (%s: %s)%s", size, termMeaning(e.Culprit), worker, e.Culprit, how, rest)
}

// verdictOn says what runs say of a term; "": it is not large.
func verdictOn(e *explain.Explanation, t explain.Term) string {
	switch {
	case !e.IsLarge(t):
		return ""
	case t.Measured:
		return "measured"
	case t.Confirmed != nil && *t.Confirmed:
		return "confirmed"
	case t.Confirmed != nil:
		return "not confirmed"
	case t.Intervention != "":
		return "unconfirmed: not told"
	}
	return "unconfirmed"
}

// notes says what changes how the terms are read.
func (e Explained) notes() (all []note) {
	if e.AgainMS != nil && !e.IsPassing && e.A.Runs > 0 {
		all = append(all, noteOf(finding.Fact, "rounds", fmt.Sprintf("The recorded steps differ by %s ms, "+
			"those of the runs made for this by %s ms.", fixed(e.RecordedMS, 3), fixed(*e.AgainMS, 3))))
	}
	if e.LeftOut > 0 {
		all = append(all, noteOf(finding.Fact, "left out", fmt.Sprintf("%s left out, in which a step took "+
			"much longer or shorter than in most.", spelling.Count(e.LeftOut, "round"))))
	}
	for _, side := range []explain.Compared{e.A, e.B} {
		if l := side.Last; l != nil {
			kind := map[bool]string{true: "which recurs: chance does not explain it", false: "which is " +
				"passing: no worker is the last clearly more often than by chance throughout"}[l.IsRecurring]
			all = append(all, noteOf(finding.Fact, "last worker", fmt.Sprintf("Of %s, worker %d arrived "+
				"last in %s of the steps, %s.", side.Name, l.Rank, percent(l.Share), kind)))
		}
	}
	return all
}
