package analysis

import (
	"fmt"
	"slices"
	"strings"
)

// Answer says which row of a group is the fastest, by how much, and whether that is certain. It is made from
// the same decisions as [Group.Findings] and says no more.
type Answer struct {
	Text      string  // one sentence
	Why       string  // what makes it certain, or what is missing
	IsCertain bool    // the rounds tell one row apart from all others
	First     []*Line // the row with the shortest step, and those that cannot be told from it; nil: no rivals
	Slower    []*Line // the other rivals, in order of their steps
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

// Answer returns the group's answer.
func (g *Group) Answer() Answer {
	s := g.standing()
	if len(s.ranked) < 2 {
		return g.withoutRivals(s.ranked)
	}
	a := Answer{First: s.tied}
	for _, l := range s.ranked {
		if !slices.Contains(s.tied, l) {
			a.Slower = append(a.Slower, l)
		}
	}
	best, next := s.ranked[0], s.ranked[1]
	switch {
	case s.isOnce:
		a.First, a.Slower = s.ranked[:1], s.ranked[1:]
		a.Text = fmt.Sprintf("%s had the shortest step, %s%s, in one run of each row.", best.Label,
			ms(best.Step.Median), g.against(best))
		a.Why = "One run of each row decides nothing; --repeats 6 may."
	case len(s.tied) == 1 && best == g.Baseline:
		a.Text = fmt.Sprintf("No way of training is faster than %s: %s a step; the nearest, %s, reaches %s "+
			"of its speed.", best.Label, ms(best.Step.Median), next.Label, times(g.pairOf(best, next).Ratio))
	case len(s.tied) == 1:
		a.Text = fmt.Sprintf("%s has the shortest step: %s%s; %s as fast as the next, %s.", best.Label,
			ms(best.Step.Median), g.against(best), times(g.pairOf(next, best).Ratio), next.Label)
	case slices.Contains(s.tied, g.Baseline):
		a.Text = fmt.Sprintf("No way of training is shown to be faster than %s: the shortest steps, %s, "+
			"cannot be told apart.", g.Baseline.Label, span(s.tied))
	default:
		a.Text = fmt.Sprintf("%s cannot be told apart; their steps are the shortest, %s", list(s.tied),
			span(s.tied))
		if more := g.against(best); more != "" && g.pairOf(best, g.Baseline).IsDecided() {
			a.Text += fmt.Sprintf("; %s is%s", best.Label, strings.TrimPrefix(more, ","))
		}
		a.Text += "."
	}
	switch {
	case s.isOnce:
	case len(s.tied) > 1:
		a.Why = fmt.Sprintf("The rounds do not tell these %d rows apart.", len(s.tied))
		if rounds := len(g.pairOf(best, s.tied[1]).Ratio.Values); rounds < enoughRounds {
			a.Why += fmt.Sprintf(" Fewer than %d rounds rarely do; --repeats %d.", enoughRounds, enoughRounds)
		}
	default:
		a.IsCertain = true
		a.Why = fmt.Sprintf("The rounds tell it apart from each of the other %d rows that are ranked.",
			len(s.ranked)-1)
		if len(s.ranked) == 2 {
			a.Why = "The rounds tell the two rows apart."
		}
	}
	return a
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
