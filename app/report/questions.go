package report

import (
	"fmt"
	"strings"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/question"
	"lockstep/app/record"
	"lockstep/internal/spelling"
)

// askedBy is the title of the answers to the questions of a plan.
const askedBy = "Questions of the plan"

// ask puts the answers to the questions of a plan before the other sections, and on top of the page.
func (p *page) ask(r *record.Results, c *compare.Comparison) {
	if r.Inquiry == nil || len(r.Inquiry.Questions)+len(r.Inquiry.Reference.Rows) == 0 {
		return
	}
	t := table{Name: askedBy, Head: []heading{{Text: "question"}, {Text: "answer"}, {Text: "our row"}}}
	var facts []pair
	for _, a := range question.Answers(r.Inquiry, c) {
		text := answerText(a, r.Inquiry.Reference)
		facts = append(facts, pair{a.Ask, verdictText(a)})
		t.Rows = append(t.Rows, row{Cells: []cell{{Text: a.Ask}, {Text: text}, p.rowCell(a.Line)}})
	}
	s := section{ID: "questions", Title: askedBy, Work: "They are in the words of the plan, which " +
		"paraphrase others and quote nobody. Intervals of ratios are over rounds, those of other figures " +
		"over runs."}
	if facts != nil {
		p.FactsTitle, p.Facts = askedBy, append(facts, p.Facts...)
		s.Tables = append(s.Tables, block{Title: "Answers", Table: t.aligned(), IsOpen: true})
	}
	if len(r.Inquiry.Reference.Rows) > 0 {
		s.Tables = append(s.Tables, p.beside(r.Inquiry.Reference, c))
	}
	p.Sections = append([]section{s}, p.Sections...)
}

// beside lists the rows of a reference, each with ours below it.
func (p *page) beside(ref record.Reference, c *compare.Comparison) block {
	t := table{Name: ref.Title, Head: []heading{{Text: "row"}}}
	for _, column := range ref.Columns {
		name, unit, _ := strings.Cut(column, " ")
		t.Head = append(t.Head, heading{Text: name, Unit: unit})
	}
	for _, one := range ref.Rows {
		theirs, own := []cell{{Text: one.Name}}, []cell{}
		l := question.Find(c, one.Is)
		if l != nil {
			own = append(own, p.rowCell(l))
			own[0].Text, own[0].Small = "ours: "+own[0].Text, workText(l)
		}
		for _, column := range t.Head[1:] {
			figure := cell{Text: dash}
			if v, isThere := one.Figures[column.Text]; isThere {
				if figure.Text = trim(v); one.Derived[column.Text] != "" {
					figure.Small = "= " + one.Derived[column.Text]
				}
			}
			theirs = append(theirs, figure)
			if l != nil {
				v := question.Of(l, column.Text).Median / question.Scale(column.Unit)
				figure := cell{Text: digits(v, 4)}
				if column.Text == "accuracy" && question.IsGuess(l) {
					figure.Small = "as guessing"
				}
				own = append(own, figure)
			}
		}
		if t.Rows = append(t.Rows, row{Cells: theirs}); l != nil {
			t.Rows = append(t.Rows, row{Cells: own})
		}
	}
	caption := "Reference figures are " + ref.Title + ": other machines and other work, to be read beside " +
		"ours and not divided by them. Those with = follow from figures there; the others are written " +
		"there. Ours: medians over the runs that count, speed-up and efficiency over rounds. A dash: not " +
		"told, or not measured here."
	for _, name := range ref.Quantities() {
		caption += meaning(name)
	}
	return block{Title: "Reference figures beside ours", Caption: caption, Table: t.aligned(), IsOpen: true}
}

// workText says how many runs the figures of a row are of, and what each did.
func workText(l *compare.Line) string {
	runs := l.Runs()
	return fmt.Sprintf("%s of %d samples", spelling.Count(l.Measured, "run"), runs[0].Samples)
}

// meaning says of whom a figure of ours is, where its name leaves that open.
func meaning(quantity string) string {
	return map[string]string{
		"batches":      " Batches: of all workers together.",
		"sent":         " Sent: by all workers together.",
		"memory":       " Memory: the most that a worker had.",
		"loss":         " Loss: mean of the last tenth of the steps.",
		"network":      " Network: seconds of a run for which a worker waits for the exchange, in the mean.",
		"evenness":     " Evenness: computing of the worker with least over that of the one with most.",
		"sync_exposed": " sync_exposed: exposed communication.",
	}[quantity]
}

// rowCell names a row and leads to its runs.
func (p *page) rowCell(l *compare.Line) cell {
	for _, s := range p.Sections {
		for _, v := range s.lines {
			if v.Line == l {
				return cell{Text: l.Label, Link: v.raw}
			}
		}
	}
	return cell{Text: dash}
}

// mostWidth is how many times the lower end of an interval the upper one is where it tells anything.
const mostWidth = 100

// whyNot says why a question has no decided answer; "" if it has one.
func whyNot(a question.Answer) string {
	if a.Over != nil && a.Reason == question.NoFigure {
		return "no round has it of both rows"
	}
	return map[question.Reason]string{
		question.NoRow:     "one of its rows was not run",
		question.NoFigure:  "no run has the figure",
		question.OtherWork: "its rows did unequal work, which compares nothing",
		question.Disturbed: "others took cores from every run",
		question.Guessing:  "none of its rows does better than guessing",
		question.Contended: "its workers wait for cores, too",
		question.TooFew:    spelling.Count(a.N, "round") + ", too few for an interval",
	}[a.Reason]
}

// verdictText is the verdict on a question, why it is none, and our figure.
func verdictText(a question.Answer) string {
	text := map[question.Verdict]string{question.Measured: "measured", question.Holds: "yes, here",
		question.Fails: "not here", question.Undecided: "not decided",
		question.Unmeasured: "not measured"}[a.Verdict]
	if why := whyNot(a); why != "" {
		text += " (" + why + ")"
	}
	what, format := phaseText(a.Quantity)+" ", formatOf(a)
	if a.Over != nil {
		what += "ratio "
	}
	if known(a.Median) {
		text += "; ours " + what + format(a.Median)
		if in := a.Interval; in.Coverage > 0 && in.Hi < mostWidth*in.Lo {
			text += " (" + between(in.Lo, in.Hi, format) + ")"
		}
	}
	return text
}

// formatOf writes shares in percent.
func formatOf(a question.Answer) func(float64) string {
	if a.Over == nil && question.IsShare(a.Quantity) {
		return percent
	}
	return func(v float64) string { return digits(v, 3) }
}

// answerText is an answer in one line: the verdict with our figure, what was asked, and the reference.
func answerText(a question.Answer, ref record.Reference) string {
	text, format := verdictText(a), formatOf(a)
	for _, bound := range []struct {
		name string
		of   *float64
	}{{"; asked: ", a.Equals}, {"; asked: above ", a.Above}, {"; asked: below ", a.Below}} {
		if bound.of != nil {
			text += bound.name + format(*bound.of)
		}
	}
	if a.Reference != nil {
		v, unit, _ := ref.Figure(a.Reference[0], a.Reference[len(a.Reference)-1])
		text += "; reference " + strings.TrimSpace(trim(v)+" "+unit) + " (" + a.Reference[0] + ")"
	}
	return text
}
