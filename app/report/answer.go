package report

import (
	"fmt"
	"slices"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/stat"
	"lockstep/internal/spelling"
)

// The verdicts of answers, besides that all rounds agree.
const (
	apart   = "told apart"
	inPart  = "told apart in part" // from the baseline, not from all others
	notTold = "not told apart"
	once    = "measured once"      // each run of an overlay
	alone   = "nothing to compare" // one row of its work
)

// answer is a sentence with what makes it certain or uncertain.
type answer struct {
	Text, Why string
	Verdict   string  // how far the rounds tell; "": no question of that kind
	Sign      string  // of the verdict, for eyes that see no colour
	Leader    string  // the row with the shortest step, and how many cannot be told from it
	Step      string  // of the leader
	Gain      cell    // its speed-up over the baseline
	Beside    *answer // its ratio to the fastest row of another program; nil: there is none
}

// Class is the style of the verdict: that of the note beside it which says the same.
func (a answer) Class() string {
	if a.Verdict == apart {
		return "sure"
	}
	return "open"
}

// Reason is the verdict with its reason.
func (a answer) Reason() string { return joined(": ", a.Verdict, a.Why) }

// answerOf words the answer of a group.
func answerOf(g *compare.Group) answer {
	v := g.Verdict()
	out := answer{Text: headline(g, v), Why: reason(g, v), Verdict: agreeText(v.IsUnanimous, v.Rounds)}
	switch {
	case v.IsCertain():
		out.Verdict = apart
	case len(v.Ranked) == 1:
		out.Verdict = alone
	case len(v.Faster) > 0:
		out.Verdict = inPart
	}
	out.Sign = signOf(out.Verdict)
	if len(v.Tied) > 0 {
		first := v.Tied[0]
		out.Leader, out.Step, out.Gain = first.Label, millis(first.Step.Median), ratioCell(first.Speedup)
		if first == g.Baseline {
			out.Gain = cell{Text: dash, Small: "the baseline itself"}
		}
		if more := len(v.Tied) - 1; more > 0 {
			out.Leader += " or " + spelling.Count(more, "other")
		}
	}
	if p, isThere := g.FastestAgainstPeer(); isThere {
		out.Beside = &answer{Text: besidePeer(p), Gain: ratioCell(p.Ratio),
			Verdict: levelText(p.Ratio)}
		out.Beside.Sign = signOf(out.Beside.Verdict)
	}
	return out
}

// levelText says how far the rounds of a ratio tell two rows apart.
func levelText(r stat.Ratio) string {
	if r.IsDecided() {
		return apart
	}
	return agreeText(r.IsUnanimous(), len(r.Values))
}

// agreeText says how far so many rounds go that tell no rows apart.
func agreeText(isUnanimous bool, rounds int) string {
	if isUnanimous && rounds > 1 {
		return fmt.Sprintf("all %d rounds agree, not certain", rounds)
	}
	return notTold
}

// The signs of what is not told.
const (
	likelySign = "≈"
	openSign   = "?"
)

// signOf returns the sign of a verdict, which says it without colour.
func signOf(verdict string) string {
	switch verdict {
	case apart:
		return "✓"
	case notTold:
		return openSign
	}
	return likelySign
}

// answerFirst puts the answer and the picture of the first group of several rows on top of the page, and of
// several groups a table with the answer of each.
func (p *page) answerFirst(c *compare.Comparison) {
	if len(p.Sections) == 0 {
		p.Answer = answer{Text: "No row was run, so there is nothing to compare.", Verdict: notTold,
			Sign: signOf(notTold)}
		return
	}
	first := &p.Sections[p.leading()]
	p.Picture, first.Picture = first.Picture, nil
	p.Answer = *first.Answer
	if len(p.Sections) == 1 {
		first.Answer = nil
		return
	}
	if p.Picture != nil {
		p.Picture.Title += " · " + first.Title
	}
	p.Answer.Text = first.Title + ": " + p.Answer.Text
	p.Overview = overview(p.Sections)
}

// leading returns the part whose answer and picture stand first: the first one of several rows, or with any
// picture.
func (p *page) leading() int {
	isShown := func(s section) bool { return s.Picture != nil }
	several := slices.IndexFunc(p.Sections, func(s section) bool { return isShown(s) && len(s.lines) > 1 })
	if several >= 0 {
		return several
	}
	return max(0, slices.IndexFunc(p.Sections, isShown))
}

// overview has the answer of each comparison. They have no common winner: only rows of one part did the same
// work under the same condition. Those of one row, which compare nothing, are left out.
func overview(sections []section) *block {
	sections = slices.DeleteFunc(slices.Clone(sections), func(s section) bool {
		return s.Answer.Verdict == alone
	})
	if len(sections) < 2 {
		return nil
	}
	b := block{Title: "Each comparison", IsOpen: true, Caption: "Each ranks its own rows, which did the " +
		"same work. Questions also set rows of two beside each other, by rates or after as many samples."}
	b.Table = tableOf("The answer of each comparison", sections,
		cells("comparison", "", func(s section) cell {
			return cell{Text: s.Title, Link: s.ID, Small: s.Answer.Sign + " " + s.Answer.Verdict}
		}),
		col("fastest", "", func(s section) string { return orDash(s.Answer.Leader) }),
		col("step", "ms", func(s section) string { return orDash(s.Answer.Step) }),
		cells("speed-up", "over the baseline", func(s section) cell { return s.Answer.Gain }),
		cells("over PyTorch", "its fastest row", func(s section) cell {
			if s.Answer.Beside == nil {
				return cell{Text: dash}
			}
			c := s.Answer.Beside.Gain
			c.Small = joined(" ", c.Small, s.Answer.Beside.Sign, s.Answer.Beside.Verdict)
			return c
		}))
	return &b
}
