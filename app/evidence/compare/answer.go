package compare

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/internal/spelling"
)

// Answer says which row of a group is the fastest, by how much, and whether that is certain. It is made from
// the same decisions as [Group.Findings] and says no more.
type Answer struct {
	Text      string  // a sentence, or two
	Why       string  // what makes it certain, or what is missing
	IsCertain bool    // the rounds tell one row apart from all others
	IsFaster  bool    // they tell the first from the slower baseline, but not from all others
	TooFew    int     // rounds that did not decide, where more may; 0: no such
	IsOneRun  bool    // one run counts of each row
	Repeats   int     // that may decide then
	First     []*Line // the row with the shortest step, and those that cannot be told from it; nil: no rivals
	Slower    []*Line // the other rivals, in order of their steps
	named     []*Line // those beside the first that the text names
}

// standing is what the rounds decide about the rivals of a group.
type standing struct {
	ranked []*Line // in the order of [Group.ranked]
	tied   []*Line // those that cannot be told from the first, which is one of them
	isOnce bool    // no two have two rounds in common
}

func (g *Group) standing() standing {
	s := standing{ranked: g.ranked(func(*Line) bool { return true })}
	if len(s.ranked) == 0 {
		return s
	}
	s.isOnce = g.isOnce(s.ranked)
	s.tied = slices.DeleteFunc(slices.Clone(s.ranked), func(l *Line) bool {
		p := g.pairOf(s.ranked[0], l)
		return p.IsDecided() && p.Ratio.Median < 1 && !p.isCopy()
	})
	return s
}

// Answer returns the group's answer. Rows that are not ranked because they have too few rounds, or because
// others took cores from all of them, are named beside it.
func (g *Group) Answer() Answer {
	a := g.answer()
	if len(a.First) > 0 {
		text := g.inContention(a.Text, a.First[0])
		if text == a.Text {
			text += crowded(a.named)
		}
		a.Text = text
	}
	if left := g.thin(); left != "" {
		a.Why += " " + left
	}
	if left := g.taken(); len(left) > 0 && len(a.First)+len(a.Slower) > 1 {
		a.Why += fmt.Sprintf(" Others took cores from every run of %s: not ranked.", list(left))
	}
	return a
}

// inContention says of the speed-up in an answer that it is no measure of scaling, if its row or the baseline
// has more threads than cores.
func (g *Group) inContention(text string, l *Line) string {
	speed := strings.TrimPrefix(g.asFast(l), ",")
	if speed == "" || !strings.Contains(text, speed) {
		return text
	}
	crowded := l
	if !l.Contended {
		crowded = g.Baseline
	}
	if !crowded.Contended {
		return text
	}
	return fmt.Sprintf("%s %d threads shared %s, so the %.2f× is no measure of scaling.", text,
		crowded.Setting.NumThreads(), spelling.Count(crowded.Cores, "core"), l.Speedup.Median)
}

// crowded says which of the rows that an answer names beside the first has more threads than cores; "" if
// none has.
func crowded(named []*Line) string {
	for _, l := range named {
		if l.Contended {
			return fmt.Sprintf(" The %d threads of %s shared %s.", l.Setting.NumThreads(), l.Label,
				spelling.Count(l.Cores, "core"))
		}
	}
	return ""
}

// answer is Answer without the rows that have too few rounds, and without what contention does to it.
func (g *Group) answer() Answer {
	s := g.standing()
	if len(s.ranked) < 2 {
		return g.withoutRivals(s.ranked)
	}
	if s.isOnce {
		return g.answerOnce(s)
	}
	a := Answer{Text: g.answerText(s), First: s.tied, IsCertain: len(s.tied) == 1,
		IsFaster: len(s.tied) > 1 && g.areFaster(s.tied[:1]), TooFew: g.fewRounds(s),
		Repeats: s.ranked[0].moreRepeats(), named: s.tied[1:]}
	if a.IsCertain {
		a.named = s.ranked[1:2]
	}
	for _, l := range s.ranked {
		if !slices.Contains(s.tied, l) {
			a.Slower = append(a.Slower, l)
		}
	}
	a.Why = g.answerReason(s, a.Text)
	return a
}

// answerOnce answers where no two rows have two rounds in common.
func (g *Group) answerOnce(s standing) Answer {
	best, in := s.ranked[0], "in one run of each row"
	if !s.isOneRun() {
		in = "in the few runs that count"
	}
	a := Answer{First: s.ranked[:1], Slower: s.ranked[1:], TooFew: 1, Repeats: best.moreRepeats(),
		IsOneRun: s.isOneRun(),
		Text: fmt.Sprintf("%s had the shortest step, %s%s, %s.", best.Label, ms(best.Step.Median),
			g.asFast(best), in),
		Why: fmt.Sprintf("%s; --repeats %d may.", s.decidesNothing(), best.moreRepeats())}
	if slices.ContainsFunc(s.ranked, func(l *Line) bool { return l.Measured < l.OK }) {
		a.Why += " Others took cores from the other runs."
	}
	return a
}

// isOneRun reports whether one run counts of each of the rivals.
func (s standing) isOneRun() bool {
	return !slices.ContainsFunc(s.ranked, func(l *Line) bool { return l.Measured > 1 })
}

// decidesNothing says what is too little where no two rivals have two rounds in common.
func (s standing) decidesNothing() string {
	if s.isOneRun() {
		return "One run of each row decides nothing"
	}
	return "No two rows have two rounds in common, which decides nothing"
}

// areFaster reports whether the rounds tell each of some rows apart from a slower baseline.
func (g *Group) areFaster(lines []*Line) bool {
	return !slices.ContainsFunc(lines, func(l *Line) bool {
		p := g.pairOf(l, g.Baseline)
		return l == g.Baseline || g.asFast(l) == "" || !p.IsDecided() || p.isCopy() ||
			p.Ratio.Median >= 1
	})
}

// answerText says what several rounds decide about the first of the rivals.
func (g *Group) answerText(s standing) string {
	best, next := s.ranked[0], s.ranked[1]
	switch {
	case len(s.tied) == 1 && best == g.Baseline:
		return fmt.Sprintf("No way of training is faster than %s: %s a step; the nearest, %s, reaches %s "+
			"of its speed.", best.Label, ms(best.Step.Median), next.Label, times(g.pairOf(best, next).Ratio))
	case len(s.tied) == 1 && next == g.Baseline && g.against(best) != "": // which says how far the next is
		return fmt.Sprintf("%s has the shortest step: %s%s.", best.Label, ms(best.Step.Median),
			g.against(best))
	case len(s.tied) == 1:
		return fmt.Sprintf("%s has the shortest step: %s%s; %s as fast as the next, %s.", best.Label,
			ms(best.Step.Median), g.against(best), times(g.pairOf(next, best).Ratio), next.Label)
	case g.fewRounds(s) > 0 && s.isShortest():
		rest, more := s.tied[1:], ""
		if !slices.Contains(rest, g.Baseline) {
			more = g.asFast(best)
		}
		return fmt.Sprintf("%s had the shortest step, %s%s, but %s rounds cannot tell it from %s, %s "+
			"(--repeats %d).", best.Label, ms(best.Step.Median), more, g.roundsText(s), list(rest),
			upTo(rest), best.moreRepeats())
	case g.fewRounds(s) > 0 && g.asFast(best) != "":
		return fmt.Sprintf("%s was the fastest in the median round%s, but %s rounds cannot tell it from %s "+
			"(--repeats %d).", best.Label, g.asFast(best), g.roundsText(s), list(s.tied[1:]),
			best.moreRepeats())
	case slices.Contains(s.tied, g.Baseline):
		return fmt.Sprintf("No way of training is shown to be faster than %s: %s.", g.Baseline.Label,
			g.untold(s))
	}
	text := fmt.Sprintf("%s; their steps are the shortest, %s", g.together(s.tied), span(s.tied))
	if !s.areShortest() {
		text = fmt.Sprintf("%s cannot be told from %s, whose step is %s", list(s.tied[1:]), best.Label,
			ms(best.Step.Median))
	}
	if more := g.against(best); more != "" && g.pairOf(best, g.Baseline).IsDecided() {
		text += fmt.Sprintf("; %s is%s", best.Label, strings.TrimPrefix(more, ","))
	}
	return text + "."
}

// isShortest reports whether the first of the rivals has the shortest step: rounds, which rank by ratios, may
// rank what medians do not.
func (s standing) isShortest() bool {
	first := s.ranked[0].Step.Median
	return !slices.ContainsFunc(s.ranked, func(l *Line) bool { return l.Step.Median < first })
}

// fewRounds returns how many rounds did not tell the first of the rivals from those that are tied with it, if
// more of them may; otherwise 0.
func (g *Group) fewRounds(s standing) int {
	best, most, mayTell := s.ranked[0], 0, false
	for _, l := range s.tied[1:] {
		p := g.pairOf(best, l)
		most = max(most, len(p.Ratio.Values))
		mayTell = mayTell || !p.isClose() && !p.isCopy()
	}
	if !mayTell || most < 2 || most >= EnoughRounds {
		return 0
	}
	return most
}

// roundsText words how many rounds the first of the rivals has in common with those that are tied with it:
// "3" or, where it is not the same number for all, "2 to 3".
func (g *Group) roundsText(s standing) string {
	least, most := EnoughRounds, 0
	for _, l := range s.tied[1:] {
		n := len(g.pairOf(s.ranked[0], l).Ratio.Values)
		least, most = min(least, n), max(most, n)
	}
	if least < most {
		return fmt.Sprintf("%d to %d", least, most)
	}
	return fmt.Sprint(most)
}

// roundsLeft says beside which of the rows that are tied with the first rounds are left out, because others
// took cores in them; "" if beside none.
func (g *Group) roundsLeft(s standing) string {
	var parts []string
	for _, l := range s.tied[1:] {
		if p := g.pairOf(s.ranked[0], l); p.left() > 0 && len(parts) < maxListed {
			parts = append(parts, fmt.Sprintf("%d remain beside %s", len(p.Ratio.Values), l.Label))
		}
	}
	if parts == nil {
		return ""
	}
	return fmt.Sprintf(" Others took cores in some rounds: %s.", strings.Join(parts, ", "))
}

// areShortest reports whether no row that is told from the first has a shorter step than one that is not:
// rows whose runs vary much are told from nothing.
func (s standing) areShortest() bool {
	longest := 0.0
	for _, l := range s.tied {
		longest = max(longest, l.Step.Median)
	}
	return !slices.ContainsFunc(s.ranked, func(l *Line) bool {
		return !slices.Contains(s.tied, l) && l.Step.Median < longest
	})
}

// untold says what keeps the baseline, which is not told from the first of the rivals, from being beaten.
func (g *Group) untold(s standing) string {
	best := s.ranked[0]
	if best == g.Baseline {
		return fmt.Sprintf("%s cannot be told from it", list(s.tied[1:]))
	}
	return fmt.Sprintf("its step, %s, cannot be told from that of %s, %s", ms(g.Baseline.Step.Median),
		best.Label, ms(best.Step.Median))
}

// answerReason says what makes an answer certain, or what is missing from its text too.
func (g *Group) answerReason(s standing, text string) string {
	switch {
	case len(s.tied) == 1 && len(s.ranked) == 2:
		return "The rounds tell the two rows apart."
	case len(s.tied) == 1:
		return fmt.Sprintf("The rounds tell it apart from each of the other %d rows that are ranked.",
			len(s.ranked)-1)
	}
	why := fmt.Sprintf("The rounds do not tell these %d rows apart.", len(s.tied))
	if !g.isOneBlock(s.tied) || !s.areShortest() {
		why = fmt.Sprintf("The rounds do not tell the first of these %d rows apart from the others.",
			len(s.tied))
	}
	if near := g.closeTo(s.ranked[0], s.tied); len(near) == len(s.tied)-1 {
		why = fmt.Sprintf("Beside %s, %s: %s.", s.ranked[0].Label, list(near), TooClose())
	} else if len(near) > 0 {
		why += fmt.Sprintf(" Beside %s, %s: %s.", s.ranked[0].Label, list(near), TooClose())
	}
	if rounds := len(g.pairOf(s.ranked[0], s.tied[1]).Ratio.Values); rounds < EnoughRounds {
		why += fmt.Sprintf(" Fewer than %d rounds rarely do", EnoughRounds)
		if !strings.Contains(text, "--repeats") {
			why += fmt.Sprintf("; --repeats %d", s.ranked[0].moreRepeats())
		}
		why += "."
	}
	if g.fewRounds(s) > 0 {
		why += g.roundsLeft(s)
	}
	switch {
	case g.areFaster(s.tied):
		return fmt.Sprintf("Each of these %d rows is faster than %s. %s", len(s.tied), g.Baseline.Label, why)
	case g.areFaster(s.tied[:1]):
		return fmt.Sprintf("%s is faster than %s. %s", s.ranked[0].Label, g.Baseline.Label, why)
	}
	return why
}

// closeTo returns those of some rows that the rounds tell from the first, but perhaps by less than decides.
func (g *Group) closeTo(first *Line, tied []*Line) []*Line {
	return slices.DeleteFunc(slices.Clone(tied), func(l *Line) bool {
		p := g.pairOf(first, l)
		return l == first || !p.isClose() || p.isCopy()
	})
}

// together says that rows cannot be told from the first of them, nor from one another where that is so.
func (g *Group) together(tied []*Line) string {
	if g.isOneBlock(tied) {
		return list(tied) + " cannot be told apart"
	}
	return fmt.Sprintf("%s cannot be told from %s", list(tied[1:]), tied[0].Label)
}

// isOneBlock reports whether no two of some rows are told apart: of three, the second and the third may be,
// although neither is told from the first.
func (g *Group) isOneBlock(tied []*Line) bool {
	for i, a := range tied {
		for _, b := range tied[:i] {
			if p := g.pairOf(a, b); p.IsDecided() && !p.isCopy() {
				return false
			}
		}
	}
	return true
}

// withoutRivals answers for a group with at most one row that may be ranked.
func (g *Group) withoutRivals(ranked []*Line) Answer {
	why := g.disturbed()
	if len(ranked) == 0 {
		if why == "" {
			why = "No run was successful, or no two rows did the same work."
		}
		return Answer{Text: "No row can be ranked.", Why: why}
	}
	if why == "" {
		why = "No other row did the same work and reached the same result."
	}
	return Answer{Text: fmt.Sprintf("%s takes %s a step; there is no row to rank it against.",
		ranked[0].Label, ms(ranked[0].Step.Median)), Why: why, First: ranked}
}

// span words the least and the greatest step of rows.
func span(lines []*Line) string {
	least, most := lines[0].Step.Median, lines[0].Step.Median
	for _, l := range lines {
		least, most = min(least, l.Step.Median), max(most, l.Step.Median)
	}
	return fmt.Sprintf("%s to %s", ms(least), ms(most))
}

// upTo words the step of one row, or the greatest of several.
func upTo(lines []*Line) string {
	most := 0.0
	for _, l := range lines {
		most = max(most, l.Step.Median)
	}
	if len(lines) == 1 {
		return ms(most)
	}
	return "up to " + ms(most)
}
