package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/question"
	"lockstep/app/explain"
	"lockstep/app/record"
	"lockstep/app/report/plot"
	"lockstep/internal/spelling"
)

// ask puts the answers to the questions of a plan on top of the page, and what they rest on before the other
// sections.
func (p *page) ask(r *record.Results, c *compare.Comparison) {
	if r.Inquiry == nil || len(r.Inquiry.Questions)+len(r.Inquiry.Reference.Rows) == 0 {
		return
	}
	s := section{ID: "questions", Title: "Questions of the plan", Work: "They are in the words of the " +
		"plan, which paraphrase others and quote nobody."}
	answers := question.Answers(r, c)
	p.Legend = legendText(answers, r.Ran())
	for i, a := range answers {
		one := asked{a.Ask, sentence(answerText(a, r.Inquiry.Reference)), openSign, "open", s.ID}
		switch a.Verdict {
		case question.Measured, question.Holds:
			one.Sign, one.Class = "✓", "sure"
		case question.Likely, question.Unlikely:
			one.Sign = likelySign
		case question.Fails:
			one.Sign, one.Class = "✗", "unfit"
		}
		of, v := p.viewOf(a.Line)
		if i == 0 && a.Causes != nil && p.Picture != nil {
			p.showParts(of)
		}
		switch {
		case a.Causes != nil: // questions of the same rows share a table
			one.Link = p.causesID(a)
			if !slices.ContainsFunc(s.Tables, func(b block) bool { return b.ID == one.Link }) {
				s.Tables = append(s.Tables, causeTable(a, one.Link))
			}
		case v != nil:
			one.Link = v.raw
		}
		p.Asked = append(p.Asked, one)
	}
	if len(r.Inquiry.Reference.Rows) > 0 {
		s.Tables = append(s.Tables, p.beside(r.Inquiry.Reference, c))
	}
	p.Sections = append([]section{s}, p.Sections...)
}

// showParts makes what the steps of a section's rows go into the picture of the page.
func (p *page) showParts(of *section) {
	if !strings.HasPrefix(p.Picture.ID, of.ID+"-") { // it is of other rows
		return
	}
	b := plot.Bars{X: "ms per step", Parts: partNames()}
	for _, v := range of.lines {
		bar := plot.Bar{Name: v.name(), Beside: math.NaN()}
		for _, seconds := range question.PartsOf(v.Line) {
			bar.Values = append(bar.Values, 1e3*seconds)
		}
		if bar.Total() > 0 {
			b.Rows = append(b.Rows, bar)
		}
	}
	of.Picture = p.Picture
	head := plot.Head{ID: of.ID + "-parts", Title: "Where a step goes · " + of.Title, IsLead: true}
	p.Picture = &figure{head, partsMeaning, b}
}

// partNames names the parts of a step, in the order of [question.StepParts].
func partNames() []string { return []string{"compute", "exchange", coreWaits, "rest"} }

// partsMeaning says what the parts are.
const partsMeaning = "The median step of each row, split as the middle 80 % of its steps are. Compute: " +
	"forward, backward, optimizer. Exchange: the training thread packs, sends and adds gradients, or waits " +
	"for others. Waiting for cores: a thread of the worker, or of one that it waits for, was ready to run " +
	"and had none; the other parts are without it. Rest: data, and all else."

// legendText says what the signs and brackets of answers mean, and how many rounds may decide what so many
// leave open.
func legendText(answers []question.Answer, rounds int) string {
	if len(answers) == 0 {
		return ""
	}
	text := "✓ yes, or measured; ✗ no; ≈ likely; ? left open. In brackets behind a figure: the interval " +
		"that holds the true one, 95 %."
	if slices.ContainsFunc(answers, question.Answer.IsOpen) {
		text += fmt.Sprintf(" --repeats %d may decide ≈ and ?.", max(compare.EnoughRounds, 2*rounds))
	}
	return text
}

// asked is a question with its answer, which leads to the rows that carry it.
type asked struct{ Ask, Text, Sign, Class, Link string }

// causeTable has what the steps of some rows go into, that of a first one and of those beside it, and of the
// same rows without a cause.
func causeTable(a question.Answer, id string) block {
	type line struct {
		name, told string
		*compare.Line
	}
	than := a.Causes[0].Than
	all := []line{{than.Label, dash, than}}
	for _, c := range a.Causes {
		by := ""
		if a.Quantity == question.Why {
			by, _ = growthText(c)
		}
		all = append(all, line{c.Line.Label, joined("; ", toldText(c), by), c.Line})
		for _, v := range c.Further {
			if !slices.ContainsFunc(all, func(l line) bool { return l.name == v.Text }) {
				all = append(all, line{v.Text, dash, v.Line})
			}
		}
	}
	columns := []column[line]{
		col("row", "", func(l line) string { return l.name }),
		col("step", "ms", func(l line) string { return millis(question.PartsOf(l.Line).Total()) })}
	for at, name := range partNames() {
		columns = append(columns, col(name, "ms", func(l line) string {
			return millis(question.PartsOf(l.Line)[at])
		}))
	}
	columns = append(columns, col("beside "+than.Label, "", func(l line) string { return l.told }),
		col("rounds", "", func(l line) string { return fmt.Sprint(l.Measured) }))
	caption := partsMeaning
	if slices.ContainsFunc(a.Causes, func(c question.Cause) bool { return c.Further != nil }) {
		caption += " Rows without a cause ran after the others, fewer steps in fewer rounds: they show " +
			"what is left."
	}
	return block{ID: id, Title: a.Ask, IsOpen: true, Table: tableOf(a.Ask, all, columns...), Caption: caption}
}

// toldText says how far the rounds tell the step of a row from that of the other.
func toldText(c question.Cause) string {
	if c.Ratio == nil {
		return strings.ToLower(notRanked)
	}
	return levelText(*c.Ratio)
}

// causesText says in a sentence what the steps of rows go into beside those of another one.
func causesText(a question.Answer) string {
	than := a.Causes[0].Than
	var parts []string
	if a.Quantity == question.Balance {
		parts = append(parts, balanceText(a.Causes[0]), balanceText(a.Causes[len(a.Causes)-1]))
		text := fmt.Sprintf("of the %s of compute of %s, %s", ms(question.PartsOf(than)[question.Compute]),
			than.Label, strings.Join(slices.Compact(parts), "; "))
		return joined(": ", verdictWord(a), text)
	}
	const most = 2 // rows, the slowest: the table has all
	for _, c := range a.Causes {
		level := "" // which the verdict says
		switch verdict := c.Verdict(); {
		case len(parts) == most, verdict == question.Undecided && a.Verdict != question.Undecided:
			continue
		case verdict == question.Likely && a.Verdict == question.Measured:
			level = ", " + toldText(c)
		}
		by, figures := growthText(c)
		parts = append(parts, fmt.Sprintf("%s (%s%s) %s", c.Line.Label, figures, level, by))
	}
	if more := len(a.Causes) - len(parts); more > 0 {
		parts = append(parts, fmt.Sprintf("%d more in the table", more))
	}
	text := fmt.Sprintf("longer than a step of %s (%s): %s", than.Label,
		ms(question.PartsOf(than).Total()), strings.Join(parts, "; "))
	return joined(": ", verdictWord(a), text)
}

// growthText says what makes a row slower, and by which figures: what a run goes without that leaves next to
// nothing of it, else the part of its step that grew most.
func growthText(c question.Cause) (by, figures string) {
	of, most := question.PartsOf(c.Line), c.Most()
	v := c.ConfirmedBy()
	if v == nil {
		return fmt.Sprintf("most by %s, not confirmed", partNames()[most]),
			fmt.Sprintf("%s of %s", millis(of[most]), ms(of.Total()))
	}
	by, what := "by the exchange and what waits for it", "without any exchange"
	switch {
	case v.Action == explain.Isolate && v.OfB:
		by, what = "by the exchange or by cores", "for one worker alone"
	case v.Action == explain.Isolate:
		by, what = "by compute", "for one of "+c.Than.Label+" alone"
	}
	left := millis(question.PartsOf(v.Line).Total())
	return by + ", confirmed", fmt.Sprintf("%s, %s %s", ms(of.Total()), left, what)
}

// balanceText says what a row saves of the computing of another one, what it pays for that, and what is left.
func balanceText(c question.Cause) string {
	is, was := question.PartsOf(c.Line), question.PartsOf(c.Than)
	saved := was[question.Compute] - is[question.Compute]
	text := fmt.Sprintf("%s saves %s and pays %s for exchange and cores", c.Line.Label, ms(saved),
		ms(saved+is.Total()-was.Total()))
	if c.Ratio != nil {
		text += fmt.Sprintf(": %s as fast", times(*c.Ratio))
	}
	return text
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
			_, v := p.viewOf(l)
			length := cmp.Or(l.Setting.For, fmt.Sprintf("%d samples", l.Runs()[0].Samples))
			own = append(own, cell{Text: "ours: " + l.Label, Link: v.raw, Small: fmt.Sprintf("batch %d, %s "+
				"of %s", l.Setting.Batch, spelling.Count(l.Measured, "run"), length)})
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
				if (column.Text == "accuracy" || column.Text == "best") && v > 0 && question.IsGuess(l) {
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
		"ours and not divided by them. Ours: medians over the runs that count, accuracy: mean over seeds, " +
		"speed-up and efficiency over rounds. A dash: not told or measured. Behind =: what it follows from."
	for _, name := range ref.Quantities() {
		caption += wordingOf(name).meaning
	}
	return block{Title: "Reference figures beside ours", Caption: caption, Table: t.aligned(), IsOpen: true}
}

// causesID names the table of the rows of an answer by them, the one that the others stand beside first.
func (p *page) causesID(a question.Answer) string {
	_, than := p.viewOf(a.Causes[0].Than)
	var others []string
	for _, c := range a.Causes {
		_, v := p.viewOf(c.Line)
		others = append(others, v.raw)
	}
	slices.Sort(others)
	return "causes-" + than.raw + "-" + strings.Join(others, "-")
}

// viewOf returns the section of a row, and how that shows it; nil of no row.
func (p *page) viewOf(l *compare.Line) (*section, *lineView) {
	for i := range p.Sections {
		for _, v := range p.Sections[i].lines {
			if v.Line == l {
				return &p.Sections[i], v
			}
		}
	}
	return nil, nil
}

// mostWidth is how many times the lower end of an interval the upper one is where it tells anything.
const mostWidth = 100

// whyNot says why a question has no decided answer; "" if it has one.
func whyNot(a question.Answer) string {
	switch a.Reason { // what this machine, or this budget, cannot tell
	case question.Contended:
		l := a.Line
		if !l.Contended {
			l = a.Than
		}
		return fmt.Sprintf("%s share %s", spelling.Count(l.Setting.NumThreads(), "thread"),
			spelling.Count(l.Cores, "core"))
	case question.Guessing:
		return fmt.Sprintf("after %s its rows still guess", spelling.Count(a.Line.Runs()[0].Steps, "step"))
	}
	return map[question.Reason]string{
		question.NoRow:     "one of its rows was not run",
		question.NoFigure:  "no run has the figure",
		question.OtherWork: "its rows did unequal work, which compares nothing",
		question.Disturbed: "others took cores from every run",
		question.SameBits: "same parameters, bit for bit" + map[bool]string{
			false: ", so equal by construction"}[a.Quantity == "parameters"],
		question.Unsupported: "what the claim rests on is not shown",
		question.TooFew:      spelling.Count(a.N, "round") + ", too few",
	}[a.Reason]
}

// verdictText is the verdict on a question, why it is none, and our figure.
func verdictText(a question.Answer) string {
	text := verdictWord(a)
	switch {
	case a.Causes != nil:
		return causesText(a)
	case !known(a.Median) || a.Quantity == "parameters" || a.Reason == question.SameBits:
		return text
	case a.Quantity == question.Parts:
		return joined(": ", text, partsText(a.Line))
	}
	format, what := formatOf(a), ", "+wordingOf(a.Quantity).text
	figure := format(a.Median)
	if a.Than != nil || a.Quantity == "speedup" || a.Quantity == "compression" {
		figure += "×"
	}
	if a.Than != nil {
		what = fmt.Sprintf(" the %s of %s", wordingOf(a.Quantity).text, a.Than.Label)
		if a.Below == nil && len(a.Reference) > 1 && a.Reference[1] == "speedup" {
			what = " as fast by the " + wordingOf(a.Quantity).text
		} else if a.Line.Label == a.Than.Label { // of two groups
			what += fmt.Sprintf(" with batch %d", a.Than.Setting.Batch)
		}
	}
	in, hasOneLength := a.Interval, a.Line.Setting.For == "" || !question.GrowsWithLength(a.Quantity)
	if hasOneLength && in.Coverage > 0 && in.Hi < mostWidth*in.Lo && format(in.Lo) != format(in.Hi) {
		figure += " (" + between(in.Lo, in.Hi, format) + ")"
	}
	if a.By != "" && a.Than != nil {
		figure, what = inPlace(a, a.By)+"; "+figure, what+longerText(a)
	}
	text = joined(": ", text, figure+what)
	if a.AreOtherResults() {
		text += "; " + inPlace(a, "accuracy")
	}
	return text
}

// longerText has the parts of a row's step that are longer where it was to be shorter by another one.
func longerText(a question.Answer) string {
	isLonger := a.Below != nil && a.Median > 1
	if !isLonger || a.Line.Phases == nil || a.Than.Phases == nil { // workers that share no step
		return ""
	}
	var longer []string
	is, was := question.PartsOf(a.Line), question.PartsOf(a.Than)
	for at, name := range partNames() {
		if is[at]-was[at] > leastShare*was.Total() && name != wordingOf(a.By).text {
			longer = append(longer, fmt.Sprintf("%s %s in place of %s", name, ms(is[at]), ms(was[at])))
		}
	}
	if longer == nil {
		return ""
	}
	return "; but " + strings.Join(longer, ", ")
}

// inPlace has a quantity of both rows of an answer: "accuracy 23.8 % in place of 31.1 %".
func inPlace(a question.Answer, quantity string) string {
	format := formatOf(question.Answer{Question: record.Question{Quantity: quantity}})
	return fmt.Sprintf("%s %s in place of %s", wordingOf(quantity).text,
		format(question.Of(a.Line, quantity).Median), format(question.Of(a.Than, quantity).Median))
}

// leastShare is the part of a step below which a sentence does not name it.
const leastShare = 5e-3

// partsText divides the step of a row by what its time goes into, and an exchange by whether gradients are
// compressed in it: "of 334 ms 29.5 % compute, 70.5 % exchange".
func partsText(l *compare.Line) string {
	var all []string
	parts := question.PartsOf(l)
	for at, seconds := range parts {
		share, packing := seconds/parts.Total(), question.Of(l, "packing").Median
		if share < leastShare {
			continue
		}
		text := percent(share) + " " + partNames()[at]
		if at == question.Exchange && packing > leastShare {
			text += fmt.Sprintf(" (%s packing, %s sending and waiting for others)", percent(packing),
				percent(share-packing))
		}
		all = append(all, text)
	}
	return fmt.Sprintf("of %s %s", ms(l.Step.Median), strings.Join(all, ", "))
}

// verdictWord is the verdict on a question, and why it is none.
func verdictWord(a question.Answer) string {
	text := map[question.Verdict]string{question.Holds: "yes, here", question.Fails: "not here",
		question.Likely: "likely", question.Unlikely: "likely not", question.Undecided: "not decided",
		question.Unmeasured: "not measured"}[a.Verdict]
	if a.Reason == question.Guessing || a.Reason == question.Contended {
		text = "not testable here"
	}
	isRatio := a.Than != nil && a.Bound() == 1
	switch why := whyNot(a); {
	case a.Verdict == question.Likely, a.Verdict == question.Unlikely:
		return fmt.Sprintf("%s (all %d rounds agree)", text, a.N)
	case a.Verdict == question.Undecided && a.Reason == question.None && (isRatio || a.Causes != nil):
		return notTold
	case why != "":
		return text + " (" + why + ")"
	}
	return text
}

// wording is how pages write a quantity: its name in a sentence, its unit, and of whom a figure of ours is
// where the name leaves that open.
type wording struct{ text, unit, meaning string }

func wordingOf(quantity string) wording {
	w := map[string]wording{
		"step":    {text: "step", unit: " ms"},
		"total":   {text: "time in all", unit: " s"},
		"epoch":   {text: "epoch time", unit: " s"},
		"rate":    {text: "samples per second"},
		"batches": {text: "batches per second", meaning: " Batches: of all workers, the part of each."},
		"sent":    {"sent by all workers", " B/s", " Sent: by all workers together."},
		"memory":  {"memory of a worker", " B", " Memory: the most that a worker had."},
		"best":    {text: "best accuracy"},
		"loss":    {meaning: " Loss: mean of the last tenth of the steps."},
		"speedup": {text: "speed-up"},
		"serial":  {text: "not divided among workers"},
		"exposed": {text: partNames()[question.Exchange], unit: " ms"},
		"hidden":  {text: "hidden communication", unit: " ms"},
		"busiest": {text: "bytes of the busiest process", unit: " B"},
		"evenness": {"least computing of a worker over the most", "", " Evenness: computing of the worker " +
			"with least over that of the one with most."},
		"checkpoints":  {text: "standing still for checkpoints", unit: " ms"},
		"computing":    {partNames()[question.Compute], "", " Computing: forward, backward and optimizer."},
		"sync_exposed": {meaning: " sync_exposed: a worker is in the exchange and not waiting for cores."},
		"network": {"in the exchange", " s", " Network: seconds of a run for which a worker is in the " +
			"exchange, without waiting for cores, in the mean."},
		"energy": {"energy of a run", " J", " Energy: of whole processors by their own counters " +
			"(RAPL), idle cores and other programs included, memory and the rest of the machine not."},
		"cost": {"cost (cores in use × time × price)", " US dollars", " Cost: a projection, of the cores " +
			"in use by an eighth of the price of AWS EC2 c5.2xlarge (0.34 dollars an hour), Linux on " +
			"demand, US East (N. Virginia), November 2026, from the example table of the EC2 Auto " +
			"Scaling guide."},
	}[quantity]
	if w.text == "" {
		w.text = phaseText(quantity)
	}
	if step := question.LossAt(quantity); step > 0 {
		w.text = fmt.Sprintf("loss after %d steps", step)
	}
	return w
}

// formatOf writes ratios as numbers, shares in percent, and other figures with their units.
func formatOf(a question.Answer) func(float64) string {
	unit := wordingOf(a.Quantity).unit
	switch bytes, isBytes := strings.CutPrefix(unit, " B"); {
	case a.Over != nil:
		unit = ""
	case question.IsShare(a.Quantity):
		return percent
	case unit == " ms":
		return ms
	case isBytes:
		return func(v float64) string { return byteCount(v) + bytes }
	}
	return func(v float64) string { return digits(v, 3) + unit }
}

// sentence makes a sentence of words.
func sentence(words string) string { return capital(words) + "." }

// capital makes the first letter of words a capital.
func capital(words string) string { return strings.ToUpper(words[:1]) + words[1:] }

// besideText is a figure of the reference, or two to be read beside each other, with their unit and rows.
func besideText(ref record.Reference, a question.Answer) string {
	row, quantity := a.Reference[0], a.Reference[min(1, len(a.Reference)-1)]
	var figures []string
	for _, name := range append([]string{row}, a.Reference[min(2, len(a.Reference)):]...) {
		v, unit, _ := ref.Figure(name, quantity)
		if unit = " " + unit; unit == " x" {
			unit = "×"
		}
		figures = append(figures, trim(math.Round(1e3*v)/1e3)+strings.TrimSuffix(unit, " ")+" ("+name+")")
	}
	text := strings.Join(figures, " against ")
	if quantity != a.Quantity {
		text = wordingOf(quantity).text + " " + text
	}
	return text
}

// answerText is an answer in one line: the verdict with our figure, and the reference. The bound is in the
// words of the question.
func answerText(a question.Answer, ref record.Reference) string {
	text := verdictText(a)
	if len(a.Reference) > 0 {
		text += "; reference: " + besideText(ref, a)
	}
	return text
}
