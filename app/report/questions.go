package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/question"
	"lockstep/app/evidence/stat"
	"lockstep/app/explain"
	"lockstep/app/record"
	"lockstep/internal/spelling"
)

// ask puts the answers to the questions of a plan on top of the page, and what they rest on before the other
// sections.
func (p *page) ask(r *record.Results, c *compare.Comparison) {
	if r.Inquiry == nil || len(r.Inquiry.Questions)+len(r.Inquiry.Reference.Rows) == 0 {
		return
	}
	s := section{ID: "questions", Title: "Questions of the plan", Work: "They are in the words of the " +
		"plan, which paraphrase others and quote nobody. Intervals of ratios are over rounds, those of " +
		"other figures over runs. " + placeText(r)}
	answers := question.Answers(r, c)
	for i, a := range answers {
		one := asked{a.Ask, sentence(answerText(a, r.Inquiry.Reference)), "≈", "open", s.ID}
		switch a.Verdict {
		case question.Measured, question.Holds:
			one.Sign, one.Class = "✓", "sure"
		case question.Fails:
			one.Sign, one.Class = "✗", "unfit"
		}
		if i == 0 && a.Causes != nil && p.Picture != nil {
			p.showParts()
		}
		switch of := p.rowCell(a.Line); {
		case a.Causes != nil:
			one.Link = fmt.Sprintf("causes-%d", i+1)
			s.Tables = append(s.Tables, causeTable(a, one.Link))
		case of.Link != "":
			one.Link = of.Link
		}
		p.Asked = append(p.Asked, one)
	}
	if len(r.Inquiry.Reference.Rows) > 0 {
		s.Tables = append(s.Tables, p.beside(r.Inquiry.Reference, c))
	}
	p.Sections = append([]section{s}, p.Sections...)
}

// showParts makes what the steps of the leading rows are made of the picture of the page.
func (p *page) showParts() {
	id, _, _ := strings.Cut(p.Picture.ID, "-")
	of := &p.Sections[slices.IndexFunc(p.Sections, func(s section) bool { return s.ID == id })]
	at := slices.IndexFunc(of.Figures, func(f figure) bool { return f.ID == id+"-phases" })
	if at < 0 {
		return
	}
	steps, parts := p.Picture, of.Figures[at]
	parts.Title, parts.IsLead = parts.Title+" · "+of.Title, true
	of.Picture, of.Figures, p.Picture = steps, slices.Delete(of.Figures, at, at+1), &parts
}

// placeText says where the workers were, and what that leaves open.
func placeText(r *record.Results) string {
	switch {
	case r.Hosts != nil:
		return "Hosts are machines of their own."
	case r.Lab != "":
		return "One machine plays all hosts, which share its cores: what cores of their own gain is not " +
			"concluded."
	}
	return "Workers are processes of one machine: nothing is concluded of several and their network."
}

// asked is a question with its answer, which leads to the rows that carry it.
type asked struct{ Ask, Text, Sign, Class, Link string }

// causeTable has a row for each row of the benchmark that a question explains, and what its step has more
// than that of another by term.
func causeTable(a question.Answer, id string) block {
	than := a.Causes[0].Than.Label
	columns := []column[question.Cause]{
		cells("row", "", func(c question.Cause) cell { return cell{Text: c.Line.Label} }),
		cells("longer by", "ms in the mean", func(c question.Cause) cell {
			in := between(c.Interval[0], c.Interval[1], twoDecimals)
			return cell{Text: fixed(c.DifferenceMS, 2), Small: orRounds(c.Explanation, in)}
		})}
	for at := range explain.Cost(explain.NumCosts) {
		columns = append(columns, cells(at.String(), "ms", func(c question.Cause) cell {
			for _, t := range c.Terms {
				if t.Cost() == at && math.Abs(t.MS) >= smallTerm*c.A.StepMS {
					figure := cell{Text: fixed(t.MS, 2)}
					if c.Trial == question.Tried && !c.IsPassing {
						figure.Small = proofText(c.ProofOf(t))
					}
					return figure
				}
			}
			return cell{Text: dash}
		}))
	}
	columns = append(columns,
		col("all else", "ms", func(c question.Cause) string {
			all := Explained{Explanation: c.Explanation}.shown()
			return fixed(all[len(all)-2].MS+all[len(all)-1].MS, 2)
		}),
		cells("most of it", "", func(c question.Cause) cell {
			most := cell{Text: orDash(c.Culprit)}
			if !c.IsTold {
				most.Text = "not told apart"
			}
			switch {
			case c.Trial == question.NoTime:
				most.Small = proofText(question.Untried)
			case c.IsPassing:
				most.Small = proofText(question.Passed)
			}
			return most
		}))
	return block{ID: id, Title: a.Ask, IsOpen: true, Table: tableOf(a.Ask, a.Causes, columns...),
		Caption: "Each mean step less that of " + than + ", without the longest and the shortest fortieth " +
			"of a run, as terms that add up to it: lockstep explain cuts them. Elsewhere a step is the " +
			"median, and time in the exchange without a core is waiting for cores" + confirmedBy(a.Causes)}
}

// proofText words what further runs say of a term.
func proofText(p question.Proof) string {
	return map[question.Proof]string{question.Confirmed: "confirmed", question.Refuted: "not confirmed",
		question.Computed: "measured alone", question.Open: "runs do not tell", question.Untried: "not tried",
		question.Passed: "did not come back", question.NoWay: "no run does without it"}[p]
}

// confirmedBy says by what runs the terms of some causes are confirmed.
func confirmedBy(all []question.Cause) string {
	var by []string
	for _, c := range all {
		for _, t := range c.Terms {
			if t.Intervention != "" {
				by = addNew(by, t.Intervention)
			}
		}
	}
	if by == nil {
		return ". Runs without a cause would confirm it: none were made of these rows."
	}
	return ". Beside these ran: " + strings.Join(by, "; ") + ". A large term is confirmed where the step " +
		"is as much shorter without it, those of an exchange together."
}

// guessText says how much of what makes a row slower is what a question guesses, and what further runs say.
func guessText(a question.Answer) string {
	c := a.Causes[0]
	names := c.Names()
	text := fmt.Sprintf("%s: a mean step of %s takes %s than one of %s", verdictWord(a), names[1],
		longer(c.Explanation), names[0])
	if c.Rounds >= stat.LeastRounds && c.DifferenceMS > 0 && known(a.Median) {
		text += fmt.Sprintf(", by the guess for %s (%s) of what makes it longer; asked: above %s",
			percent(a.Median), between(a.Interval.Lo, a.Interval.Hi, percent), percent(question.Most))
	}
	return text
}

// causesText says in a sentence what makes rows slower, or what they gain and pay.
func causesText(a question.Answer) string {
	than := a.Causes[0].Than.Label
	var parts, culprits []string
	if a.Quantity == question.Balance {
		for _, c := range slices.Compact([]question.Cause{a.Causes[0], a.Causes[len(a.Causes)-1]}) {
			parts = append(parts, balanceText(c))
		}
		return joined(": ", verdictWord(a), "of a mean step of "+than+", "+strings.Join(parts, "; "))
	}
	rows, open := map[string][]string{}, 0
	for _, c := range a.Causes {
		if c.Culprit == "" || !c.IsApart && a.Verdict == question.Measured {
			open++
			continue
		}
		most := termMeaning(c.Culprit)
		if explain.CostNamed(c.Culprit).IsExchange() {
			most = "the exchange, with what waits for cores in it"
		}
		culprits = addNew(culprits, most)
		rows[most] = append(rows[most], c.Line.Label+" by "+ms(c.DifferenceMS/1e3)+culpritProof(c))
	}
	for _, most := range culprits {
		parts = append(parts, "most by "+most+": "+listed(rows[most]))
	}
	switch {
	case culprits == nil:
		return "no cause is told: no row is slower than " + than + " by more than its runs vary"
	case open > 0:
		parts = append(parts, spelling.Count(open, "row")+" more the rounds do not tell from it")
	}
	text := "mean steps longer than that of " + than + ", " + strings.Join(parts, "; ")
	return joined(": ", verdictWord(a), text)
}

// balanceText says what a row gains over the baseline by computing less, and what it pays for that.
func balanceText(c question.Cause) string {
	work := func(at explain.Cost) bool { return at == explain.Work }
	others := func(at explain.Cost) bool { return at == explain.Memory || at == explain.Cores }
	saved, exchange, contention := -c.Of(work), c.Of(explain.Cost.IsExchange), c.Of(others)
	paid := c.DifferenceMS + saved
	return fmt.Sprintf("%s saves %s of computing and pays %s: exchange %s, contention %s, all else %s",
		c.Line.Label, ms(saved/1e3), ms(paid/1e3), ms(exchange/1e3), ms(contention/1e3),
		ms((paid-exchange-contention)/1e3))
}

// culpritProof says in brackets what further runs say of a cause's culprit; "" if there are none.
func culpritProof(c question.Cause) string {
	for _, t := range c.Terms {
		proof := c.ProofOf(t)
		if t.Name == c.Culprit && proof != question.Small && proof != question.Untried {
			return " (" + proofText(proof) + ")"
		}
	}
	return ""
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
				if column.Unit == "%" && v >= 0 && v < 100*leastShare/10 {
					figure.Text = "0.0"
				}
				isAccuracy := column.Text == "accuracy" || column.Text == "best"
				if isAccuracy && v > 0 && question.IsGuess(l) {
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
		"ours and not divided by them. Ours: medians over the runs that count, speed-up and efficiency " +
		"over rounds. A dash: not told, or not measured here."
	if slices.ContainsFunc(ref.Rows, func(r record.ReferenceRow) bool { return r.Derived != nil }) {
		caption += " What follows from other figures there says from which, behind =."
	}
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
		"batches":  " Batches: of all workers together.",
		"sent":     " Sent: by all workers together.",
		"memory":   " Memory: the most that a worker had.",
		"best":     " Best: the greatest of a run's accuracies.",
		"loss":     " Loss: mean of the last tenth of the steps.",
		"network":  " Network: seconds of a run for which a worker waits for the exchange, in the mean.",
		"evenness": " Evenness: computing of the worker with least over that of the one with most.",
		"energy": " Energy: of whole processors by their own counters (RAPL), idle cores and other " +
			"programs included, memory and the rest of the machine not.",
		"cost": " Cost: of the cores that a row keeps busy, a projection by the price of AWS EC2 " +
			"c5.2xlarge (8 logical processors, 0.34 dollars an hour), Linux on demand, US East (N. " +
			"Virginia), November 2026, from the example table of the EC2 Auto Scaling guide.",
		"computing":    " Computing: forward, backward and optimizer.",
		"sync_exposed": " sync_exposed: a worker waits for the exchange, not for cores.",
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
	return map[question.Reason]string{
		question.NoRow:     "one of its rows was not run",
		question.NoFigure:  "no run has the figure",
		question.OtherWork: "its rows did unequal work, which compares nothing",
		question.Disturbed: "others took cores from every run",
		question.Guessing:  "none of its rows does better than guessing",
		question.SameBits:  "both end with the same parameters, bit for bit",
		question.Contended: "its workers share too few cores", question.NotSlower: "it is not slower",
		question.Unconfirmed: "without it steps are as long",
		question.Unsupported: "what the claim rests on is not shown",
		question.TooFew:      spelling.Count(a.N, "round") + ", too few",
	}[a.Reason]
}

// verdictText is the verdict on a question, why it is none, and our figure.
func verdictText(a question.Answer) string {
	switch {
	case a.Causes != nil && a.Guess != nil:
		return guessText(a)
	case a.Causes != nil:
		return causesText(a)
	}
	text := verdictWord(a)
	switch {
	case !known(a.Median) || a.Quantity == "parameters":
		return text
	case a.Quantity == question.Parts:
		return partsText(a.Line)
	}
	what, format := quantityText(a.Quantity), formatOf(a)
	if a.Than != nil {
		line, than := a.Line.Label, a.Than.Label
		if line == than { // of two groups
			line += fmt.Sprintf(" with batch %d", a.Line.Setting.Batch)
			than += fmt.Sprintf(" with batch %d", a.Than.Setting.Batch)
		}
		what = fmt.Sprintf("%s of %s is %s× that of %s", what, line, format(a.Median), than)
		if a.By != "" {
			by := formatOf(question.Answer{Question: record.Question{Quantity: a.By}})
			what = fmt.Sprintf("%s %s in place of %s; ", quantityText(a.By),
				by(question.Of(a.Line, a.By).Median), by(question.Of(a.Than, a.By).Median)) + what
		}
	} else {
		what += " " + format(a.Median)
	}
	text = joined(": ", text, what)
	if in := a.Interval; in.Coverage > 0 && in.Hi < mostWidth*in.Lo {
		text += " (" + between(in.Lo, in.Hi, format) + ")"
	}
	isOpen := a.Verdict == question.Undecided && a.Reason != question.Unsupported
	if isOpen && a.Ratio.IsUnanimous() && a.Bound() == 1 {
		so := map[bool]string{true: "longer", false: "shorter"}
		if !slices.Contains([]string{"step", "total", "epoch"}, a.Quantity) {
			so = map[bool]string{true: "more", false: "less"}
		}
		text += ", " + allRounds(so[a.Median > 1], len(a.Ratio.Values))
	}
	return text
}

// allRounds says of what is so in every round that the rounds are too few.
func allRounds(so string, rounds int) string {
	return fmt.Sprintf("%s in %d of %d rounds, too few to be sure", so, rounds, rounds)
}

// leastShare is the part of a step below which a sentence does not name it.
const leastShare = 5e-3

// partsText divides the step of a row, "of 334 ms 29.5 % computing, ..." by what its time goes into.
func partsText(l *compare.Line) string {
	text, rest := "of "+ms(l.Step.Median), 1.0
	for _, part := range []string{"computing", "sync_exposed", compare.CoreWait} {
		share := question.Of(l, part).Median
		if rest -= share; share >= leastShare {
			text += ", " + percent(share) + " " + quantityText(part)
		}
	}
	if rest >= leastShare {
		text += ", " + percent(rest) + " all else"
	}
	return strings.Replace(text, ",", "", 1)
}

// verdictWord is the verdict on a question, and why it is none.
func verdictWord(a question.Answer) string {
	text := map[question.Verdict]string{question.Holds: "yes, here",
		question.Fails: "not here", question.Undecided: "not decided",
		question.Unmeasured: "not measured"}[a.Verdict]
	if why := whyNot(a); why != "" {
		text += " (" + why + ")"
	}
	return text
}

// quantityText words a quantity of a question.
func quantityText(quantity string) string {
	switch text := map[string]string{"step": "step", "total": "time in all", "epoch": "epoch time",
		"rate": "samples per second", "batches": "batches per second", "best": "best accuracy",
		"memory": "memory of a worker", "sent": "sent per second", "energy": "energy of a run",
		"checkpoints": "standing still for checkpoints", "speedup": "speed-up",
		"exposed": "exposed communication", "busiest": "bytes of the busiest process",
		"hidden": "hidden communication", "serial": "not divided among workers",
		"network": "waiting for the network", "sync_exposed": "waiting for the exchange",
		"evenness": "least computing of a worker, over the most,"}[quantity]; {
	case text != "":
		return text
	case question.LossAt(quantity) > 0:
		return fmt.Sprintf("loss after %d steps", question.LossAt(quantity))
	}
	return phaseText(quantity)
}

// formatOf writes ratios as numbers, shares in percent, and other figures with their units.
func formatOf(a question.Answer) func(float64) string {
	units := map[string]string{"total": " s", "epoch": " s", "network": " s",
		"cost": " US dollars", "energy": " J"}
	with := func(unit string) func(float64) string {
		return func(v float64) string { return digits(v, 3) + unit }
	}
	switch {
	case a.Over != nil:
		return with("")
	case question.IsShare(a.Quantity):
		return percent
	case slices.Contains([]string{"step", "exposed", "hidden", "checkpoints"}, a.Quantity):
		return ms
	case slices.Contains([]string{"memory", "sent", "busiest"}, a.Quantity):
		return byteCount
	}
	return with(units[a.Quantity])
}

// sentence makes a sentence of words.
func sentence(words string) string { return strings.ToUpper(words[:1]) + words[1:] + "." }

// besideText is a figure of the reference or, of two that are divided and where the quotient itself is not
// what was asked, both: figures of other machines are to be read.
func besideText(ref record.Reference, names []string, isAsked bool) string {
	if over := names[min(2, len(names)):]; len(over) > 0 && !isAsked {
		return besideText(ref, names[:2], true) + ", " + besideText(ref, []string{over[0], names[1]}, true)
	}
	v, unit, _ := ref.Beside(names)
	if unit = " " + unit; unit == " x" {
		unit = "×"
	}
	of := append(names[:1:1], names[min(2, len(names)):]...)
	return fmt.Sprintf("%s %s (%s)", quantityText(names[min(1, len(names)-1)]),
		strings.TrimSpace(trim(math.Round(1e3*v)/1e3)+unit), strings.Join(of, " over "))
}

// answerText is an answer in one line: the verdict with our figure, what was asked, and the reference. What
// the words of a question say anyway, such as that faster is below 1×, is left out.
func answerText(a question.Answer, ref record.Reference) string {
	text, format, isSaid := verdictText(a), formatOf(a), false
	beside := ""
	if len(a.Reference) > 0 {
		v, unit, _ := ref.Beside(a.Reference)
		isSaid = a.Equals != nil && *a.Equals == v*question.Scale(unit)
		beside = "; reference: " + besideText(ref, a.Reference, isSaid)
	}
	for _, bound := range []struct {
		name string
		of   *float64
	}{{"", a.Equals}, {"above ", a.Above}, {"below ", a.Below}} {
		if bound.of != nil && !isSaid && (a.Over == nil || *bound.of != 1) {
			text += "; asked whether " + bound.name + format(*bound.of)
		}
	}
	return text + beside
}
