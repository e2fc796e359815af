package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"lockstep/app/evidence/compare"
	"lockstep/internal/spelling"
)

// The verdicts of answers.
const (
	certain   = "certain"
	inPart    = "certain in part" // that one is faster than the baseline, not that it is the fastest
	undecided = "not decided"
	once      = "measured once"
	alone     = "nothing to compare" // one row of its work

	unequalWork = "unequal work" // of an overlay, which compares nothing then
)

// Class is the style of the verdict: that of the note beside it which says the same.
func (a answer) Class() string {
	switch a.Verdict {
	case certain:
		return "sure"
	case unequalWork:
		return "unfit"
	}
	return "open"
}

// Because is the first sentence of Why.
func (a answer) Because() string { return opening(a.Why, "") }

// answerOf words the answer of a group.
func answerOf(g *compare.Group) answer {
	a := g.Answer()
	out := answer{Text: a.Text, Why: a.Why, Verdict: undecided, TooFew: a.TooFew, Repeats: a.Repeats}
	switch {
	case a.IsCertain:
		out.Verdict = certain
	case a.IsFaster:
		out.Verdict = inPart
	case a.IsOneRun:
		out.Verdict = once
	case a.TooFew == 1: // which is not decided
	case len(a.First) == 1:
		out.Verdict = alone
	}
	out.Sign = signOf(out.Verdict)
	if len(a.First) > 0 {
		first := a.First[0]
		out.Leader, out.Step, out.Gain = first.Label, millis(first.Step.Median), ratioCell(first.Speedup)
		if first == g.Baseline {
			out.Gain = cell{Text: "baseline"}
		}
		if more := len(a.First) - 1; more > 0 {
			out.Leader += " or " + spelling.Count(more, "other")
		}
	}
	if p, isThere := g.FastestAgainstPeer(); isThere {
		out.Beside = &answer{Text: p.BesidePeer(), Verdict: undecided, Gain: ratioCell(p.Ratio)}
		if p.Doubt() == "" {
			out.Beside.Verdict = certain
		}
		out.Beside.Sign = signOf(out.Beside.Verdict)
	}
	return out
}

// signOf returns the sign of a verdict, which says it without colour.
func signOf(verdict string) string {
	if verdict == certain {
		return "✓"
	}
	return "≈"
}

// answerFirst puts the answer and the picture of the only group on top of the page, or of several groups a
// sentence on all of them, the picture of the first one of several rows, and the answers of each.
func (p *page) answerFirst(c *compare.Comparison) {
	if len(p.Sections) == 0 {
		p.Answer = answer{Text: "No row was run, so there is nothing to compare.", Verdict: undecided,
			Sign: signOf(undecided)}
		return
	}
	first := &p.Sections[p.leading()]
	p.Picture, first.Picture = first.Picture, nil
	if len(p.Sections) == 1 {
		p.Answer, first.Answer = *first.Answer, nil
		return
	}
	p.Picture.within(first.Title)
	for _, s := range p.Sections {
		p.Others = append(p.Others, *s.Answer)
	}
	p.Answer = overall(p.Others)
}

// Compared returns the answers of the parts that compare rows.
func (p page) Compared() []answer { return compared(p.Others) }

// compared leaves out the answers of parts of one row.
func compared(all []answer) []answer {
	return slices.DeleteFunc(slices.Clone(all), func(a answer) bool { return a.Verdict == alone })
}

// HasFew reports whether the page compares so few parts that the answer of each is a headline.
func (p page) HasFew() bool {
	const most = 3
	n := len(p.Compared())
	return n > 0 && n <= most
}

// HasPeer reports whether an answer below the first one says how another program does.
func (p page) HasPeer() bool {
	return slices.ContainsFunc(p.Others, func(a answer) bool { return a.Beside != nil })
}

// leading returns the part whose picture stands first: the first one of several rows, or with any picture.
func (p *page) leading() int {
	isShown := func(s section) bool { return s.Picture != nil }
	several := slices.IndexFunc(p.Sections, func(s section) bool { return isShown(s) && len(s.lines) > 1 })
	if several >= 0 {
		return several
	}
	return max(0, slices.IndexFunc(p.Sections, isShown))
}

// within says in the title of a picture which part of the report it is of.
func (f *figure) within(title string) {
	if f != nil {
		f.Title += " · " + title
	}
}

// overall says of several comparisons, whose answers stand below, how many are certain, and what could decide
// the others. Parts of one row compare nothing.
func overall(all []answer) answer {
	parts := len(all)
	all = compared(all)
	switch len(all) {
	case 0:
		return answer{Text: fmt.Sprintf("None of %d parts has two rows to compare.", parts), Verdict: alone,
			Sign: signOf(alone)}
	case 1:
		return all[0]
	}
	isCertain, isInPart, rounds, repeats := 0, 0, 0, 0
	for _, a := range all {
		switch a.Verdict {
		case certain:
			isCertain++
			continue
		case inPart:
			isInPart++
		}
		rounds, repeats = max(rounds, a.TooFew), max(repeats, a.Repeats)
	}
	out := answer{Verdict: undecided, Sign: signOf(undecided), Why: "Rows are compared within each of the " +
		"comparisons alone, because only there they did the same work under the same condition."}
	text := fmt.Sprintf("The fastest row of each of %d comparisons is below", len(all))
	switch isCertain {
	case 0:
		text += ": none is certain"
	case len(all):
		text += ": all are certain"
		out.Verdict, out.Sign = certain, signOf(certain)
	case 1:
		text += ": one is certain"
	default:
		text += fmt.Sprintf(": %d are certain", isCertain)
	}
	if rounds > 0 {
		text += fmt.Sprintf(" after %s (--repeats %d)", spelling.Count(rounds, "round"),
			repeats)
	}
	if isInPart > 0 {
		text += fmt.Sprintf(", %d in part", isInPart)
	}
	switch lone := parts - len(all); lone {
	case 0:
	case 1:
		text += ", and one more has nothing to compare"
	default:
		text += fmt.Sprintf(", and %d more have nothing to compare", lone)
	}
	if out.Verdict == undecided && isCertain+isInPart == len(all) {
		out.Verdict, out.Sign = inPart, signOf(inPart)
	}
	out.Text = text + "."
	return out
}

// aboveTheFold is how many cautions stand beside the answer.
const aboveTheFold = 3

// changing lists the topics of notes that change how the answer is read, the gravest first. All other notes
// stand in their section alone.
func changing() []string {
	return []string{"seal", "incomplete", "failed", "unequal work", "unequal runs",
		"ranks disagree", "losses disagree", "another program", "diverged", "phases",
		"taken cores", "budget", "one repeat", "few repeats", "precision", "noise", "copies",
		"busy machine", "contention", "above 100 %", "parameters", "another result", "not learned"}
}

// pressing returns the cautions for the top of the page, at most one of a topic.
func pressing(lists []noteList) []caution {
	var out []caution
	for _, topic := range changing() {
		for _, list := range lists {
			i := slices.IndexFunc(list.Notes, func(n namedNote) bool {
				return n.Topic == topic && n.Kind != compare.Fact
			})
			if i >= 0 && len(out) < aboveTheFold {
				n := list.Notes[i]
				out = append(out, caution{list.Kind, n.Topic, brief(n.Note), n.ID})
				break
			}
		}
	}
	return out
}

// longestCaution is how many characters of a caution stand above the fold.
const longestCaution = 200

// brief shortens a note to its sentences as far as the one that lists rows, of which it leaves as many as
// fit; of a note without rows, to its first sentence. A sentence is cut only where it is too long alone.
func brief(n compare.Note) string {
	text := opening(n.Text, "")
	all := strings.Join(n.Rows, ", ")
	for shown := len(n.Rows); shown > 0; shown-- {
		list := strings.Join(n.Rows[:shown], ", ")
		if more := len(n.Rows) - shown; more > 0 {
			list += fmt.Sprintf(" and %d more", more)
		}
		long := opening(strings.Replace(n.Text, all, list, 1), list)
		most := longestCaution
		if shown == 1 { // rather than a sentence that is cut
			most += most / 3
		}
		if utf8.RuneCountInString(long) <= most {
			return long
		}
	}
	runes := []rune(text)
	if len(runes) <= longestCaution {
		return text
	}
	cut := string(runes[:longestCaution])
	return strings.TrimRight(cut[:max(strings.LastIndex(cut, " "), 1)], " ,") + " …"
}

// opening returns the sentences of a text as far as the one that has the list.
func opening(text, list string) string {
	at := strings.Index(text, list) + len(list)
	if i := strings.Index(text[at:], ". "); i >= 0 {
		return text[:at+i+1]
	}
	return text
}
