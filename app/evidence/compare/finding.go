package compare

import (
	"cmp"
	"fmt"
	"lockstep/app/evidence/stat"
	"math"
	"slices"
	"strings"

	"lockstep/internal/spelling"
)

// Findings states in plain sentences what the rows of the group show, and no more than they show.
//
// A finding ranks the rivals as speed-ups do, by the medians of the ratios of their steps in a round, and
// names all of them that cannot be told from the first ([Pair.IsDecided]). Two names of one row are never
// told apart here. Rows that others took cores from in every run are left out.
func (g *Group) Findings() []string {
	var out []string
	for _, text := range []string{g.fastest(), g.processes(), g.exchange(), g.disturbed(),
		g.thin(), g.contradicting()} {
		if text != "" {
			out = append(out, text)
		}
	}
	return slices.Concat(out, g.choices(), g.accuracies(), g.peers())
}

// contradicting explains speed-ups that say faster where the step shown says slower, or the reverse: they
// are medians of the ratios in a round, others than the ratio of the medians if rounds differ much.
func (g *Group) contradicting() string {
	var lines []*Line
	for _, l := range g.Lines {
		if !l.Speedup.Known() || l == g.Baseline {
			continue
		}
		shown, paired := g.Baseline.Step.Median/l.Step.Median, l.Speedup.Median
		if (shown-1)*(paired-1) < 0 && max(shown/paired, paired/shown) > 1+NoiseLimit {
			lines = append(lines, l)
		}
	}
	if lines == nil {
		return ""
	}
	return fmt.Sprintf("The rounds differ so much that a speed-up, the median of the ratios to %s in "+
		"each round, contradicts the median steps: %s. Speed-ups and findings go by the rounds.",
		g.Baseline.Label, list(lines))
}

// ranked returns the rivals that satisfy is, in the order of the speed-ups that the table shows, in
// hundredths, relative to the baseline if it is a rival and else to another one; then in that of the steps.
func (g *Group) ranked(is func(*Line) bool) []*Line {
	all := g.rivals()
	if len(all) == 0 {
		return nil
	}
	reference := all[0]
	if slices.Contains(all, g.Baseline) {
		reference = g.Baseline
	}
	speedup := func(l *Line) float64 {
		if r := g.pairOf(reference, l).Ratio; r.Known() {
			return math.Round(100 * r.Median)
		}
		return math.Round(100 * reference.Step.Median / l.Step.Median) // they have no round in common
	}
	rivals := slices.DeleteFunc(all, func(l *Line) bool { return !is(l) })
	slices.SortStableFunc(rivals, func(a, b *Line) int {
		return cmp.Or(cmp.Compare(speedup(b), speedup(a)), cmp.Compare(a.Step.Median, b.Step.Median))
	})
	return rivals
}

// fastest names the rows with the shortest step and relates them to the baseline.
func (g *Group) fastest() string {
	s := g.standing()
	if len(s.ranked) < 2 {
		return ""
	}
	best, base := s.ranked[0], g.Baseline
	if s.isOnce {
		in := "in it"
		if !s.isOneRun() {
			in = "in those that count"
		}
		return fmt.Sprintf("%s; %s, %s has the shortest step: %s%s.%s", s.decidesNothing(), in, best.Label,
			ms(best.Step.Median), g.asFast(best), contending(s.ranked[:1]))
	}
	if !slices.Contains(s.tied, base) {
		return g.shortest(s)
	}
	if len(s.tied) > 1 && !s.areShortest() {
		return fmt.Sprintf("No way of training is shown to be faster than %s; %s.", base.Label, g.untold(s))
	}
	others := slices.DeleteFunc(slices.Clone(s.tied), func(l *Line) bool { return l == base })
	if len(others) == 0 {
		return fmt.Sprintf("No way of training is faster than %s; the nearest, %s, reaches %s of its speed.",
			base.Label, s.ranked[1].Label, times(g.pairOf(base, s.ranked[1]).Ratio))
	}
	return fmt.Sprintf("No way of training is shown to be faster than %s; the shortest steps cannot be told "+
		"apart: %s (%s).", base.Label, list(s.tied), g.evidence(s.tied))
}

// isOnce reports whether no two of the rivals have two rounds in common.
func (g *Group) isOnce(rivals []*Line) bool {
	return !slices.ContainsFunc(g.Pairs, func(p Pair) bool {
		return len(p.Ratio.Values) > 1 && slices.Contains(rivals, p.A) && slices.Contains(rivals, p.B)
	})
}

// shortest names the rows that have the shortest step, the baseline not among them.
func (g *Group) shortest(s standing) string {
	tied := s.tied
	if len(tied) == 1 {
		return fmt.Sprintf("%s has the shortest step: %s%s.%s", tied[0].Label, ms(tied[0].Step.Median),
			g.against(tied[0]), contending(tied))
	}
	text := fmt.Sprintf("%s have the shortest steps; they cannot be told apart (%s).", list(tied),
		g.evidence(tied))
	if !s.areShortest() {
		text = fmt.Sprintf("%s cannot be told from %s (%s).", list(tied[1:]), tied[0].Label, g.evidence(tied))
	}
	var undecided []*Line
	for i, l := range tied {
		more := g.against(l)
		switch {
		case more == "":
		case !g.pairOf(l, g.Baseline).IsDecided():
			undecided = append(undecided, l)
		case i < maxListed:
			text += fmt.Sprintf(" %s is%s.", l.Label, strings.TrimPrefix(more, ","))
		}
	}
	if undecided != nil {
		text += fmt.Sprintf(" Not shown to be faster than %s: %s.", g.Baseline.Label, list(undecided))
	}
	return text + contending(tied)
}

// evidence says why rows cannot be told apart: their medians, of two rows how the rounds went, and whether
// more rounds might tell the first from the last.
func (g *Group) evidence(tied []*Line) string {
	first, last := tied[0], tied[len(tied)-1]
	p := g.pairOf(first, last)
	if len(tied) > 2 { // the rounds order them, and perhaps not as their medians
		return fmt.Sprintf("medians from %s%s", span(tied), p.doubt())
	}
	return fmt.Sprintf("medians %s and %s, %s the shorter in %d of %d rounds%s", ms(first.Step.Median),
		ms(last.Step.Median), first.Label, p.won(), len(p.Ratio.Values), p.doubt())
}

// asFast relates a row to the baseline; "" where it has no speed-up, or the baseline is no rival.
func (g *Group) asFast(l *Line) string {
	if l == g.Baseline || !l.Speedup.Known() || !g.pairOf(l, g.Baseline).Ratio.Known() {
		return ""
	}
	return fmt.Sprintf(", %s as fast as %s", times(l.Speedup), g.Baseline.Label)
}

// against is asFast with what the cores do of it.
func (g *Group) against(l *Line) string {
	text := g.asFast(l)
	if text == "" || !l.Efficiency.Known() {
		return text
	}
	text += fmt.Sprintf(", %s per core", percent(l.Efficiency.Median))
	if l.isSuperlinear() {
		text += ", where a core does more than in the baseline (see the cautions)"
	}
	return text
}

// contending warns of rows with more threads than cores.
func contending(lines []*Line) string {
	text := ""
	for _, l := range lines {
		if l.Contended {
			text += fmt.Sprintf(" %s has more workers × threads than there are cores: contention, not "+
				"scaling.", l.Label)
		}
	}
	return text
}

// maxListed is how many rows a sentence names.
const maxListed = 4

// list names rows.
func list(lines []*Line) string {
	var names []string
	for _, l := range lines[:min(len(lines), maxListed)] {
		names = append(names, l.Label)
	}
	if more := len(lines) - maxListed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names, ", "), more)
	}
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// processes relates the fastest line of several workers to one process on the same cores.
func (g *Group) processes() string {
	several := g.ranked(func(l *Line) bool { return l.Setting.Workers > 1 })
	if len(several) == 0 {
		return ""
	}
	best := several[0]
	alone := g.ranked(func(l *Line) bool { return l.Setting.Workers == 1 && l.Cores == best.Cores })
	if len(alone) == 0 {
		return ""
	}
	p := g.pairOf(likest(alone, best), best)
	switch {
	case !p.Ratio.Known():
		return ""
	case !p.IsDecided():
		return fmt.Sprintf("On the same %s, %s and one process (%s) are not shown to differ: %s%s.",
			cores(best.Cores), best.Label, p.A.Label, times(p.Ratio), p.doubt())
	}
	return fmt.Sprintf("On the same %s, %s is %s as fast as one process (%s).", cores(best.Cores), best.Label,
		times(p.Ratio), p.A.Label)
}

// cores returns "core" for one, and else "2 cores".
func cores(n int) string {
	if n == 1 {
		return "core"
	}
	return spelling.Count(n, "core")
}

// likest returns the first of some rows that has the options of another one, such as its checkpoints; else
// the first without options, else the first.
func likest(lines []*Line, other *Line) *Line {
	for _, options := range []string{other.Setting.Options, ""} {
		i := slices.IndexFunc(lines, func(l *Line) bool { return l.Setting.Options == options })
		if i >= 0 {
			return lines[i]
		}
	}
	return lines[0]
}

// exchange relates the lines to the floor, the same workers without exchange.
func (g *Group) exchange() string {
	var parts []string
	for _, l := range g.Lines {
		if l.OverFloor.Known() {
			parts = append(parts, fmt.Sprintf("%s %s", l.Label, times(l.OverFloor)))
		}
	}
	if parts == nil {
		return ""
	}
	return "Step time relative to the same workers without exchange: " +
		strings.Join(parts, ", ") + "."
}

// disturbed says which rows are left out, and so why a finding may be missing.
func (g *Group) disturbed() string {
	left, ran := g.taken(), 0
	for _, l := range g.Lines {
		if l.OK > 0 {
			ran++
		}
	}
	switch {
	case len(left) == 0:
		return ""
	case len(left) == ran:
		return "Other programs or virtual machines used the cores during every row, so nothing is said " +
			"about which is the faster. Run it again when the machine is idle."
	case g.Baseline != nil && g.Baseline.Disturbed:
		return fmt.Sprintf("Other programs or virtual machines used the cores during these rows: %s. So no "+
			"speed-ups: the baseline, %s, is one of them. Run it again when the machine is idle.", list(left),
			g.Baseline.Label)
	}
	return fmt.Sprintf("Other programs or virtual machines used the cores during these rows, which "+
		"are left out here: %s.", list(left))
}

// taken returns the rows of which others disturbed every run.
func (g *Group) taken() []*Line {
	return slices.DeleteFunc(slices.Clone(g.Lines), func(l *Line) bool { return !l.Disturbed })
}

// times writes a ratio with its interval: "1.72× (1.69–1.75)".
func times(r stat.Ratio) string {
	if r.Interval.Coverage == 0 {
		return fmt.Sprintf("%.2f×", r.Median)
	}
	return fmt.Sprintf("%.2f× (%.2f–%.2f)", r.Median, r.Interval.Lo, r.Interval.Hi)
}
