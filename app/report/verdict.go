package report

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/app/evidence/compare"
	"lockstep/internal/spelling"
)

// headline says in a sentence or two, as one would speak, what the rounds decide about the rows of a group.
func headline(g *compare.Group, v compare.Verdict) string {
	switch {
	case len(v.Ranked) == 0:
		return unrankedHeadline(g)
	case len(v.Ranked) == 1:
		return fmt.Sprintf("%s takes %s a step; there is no row to rank it against.", v.Ranked[0].Label,
			ms(v.Ranked[0].Step.Median))
	case v.IsCertain():
		return certainHeadline(g, v)
	case len(v.Faster) > 0:
		return fasterHeadline(g, v)
	}
	return stepsText(v.Tied) + "."
}

// unrankedHeadline says what the steps were where no row can be ranked, and why none can.
func unrankedHeadline(g *compare.Group) string {
	ran := slices.DeleteFunc(slices.Clone(g.Lines), func(l *compare.Line) bool { return l.OK == 0 })
	switch {
	case len(ran) == 0:
		return "No run was successful."
	case slices.ContainsFunc(ran, func(l *compare.Line) bool { return l.Disturbed }):
		return stepsText(ran) + "; others took cores, so there is no verdict."
	}
	return stepsText(ran) + "; no two rows did the same work."
}

// certainHeadline names the row that is told from all others.
func certainHeadline(g *compare.Group, v compare.Verdict) string {
	best, next := v.Ranked[0], v.Ranked[1]
	text := fmt.Sprintf("%s is the fastest, %s a step", best.Label, ms(best.Step.Median))
	switch {
	case best == g.Baseline:
		return fmt.Sprintf("No way of training is faster than %s, %s a step; the nearest, %s, has %s of its "+
			"speed.", best.Label, ms(best.Step.Median), next.Label, times(g.Pair(best, next).Ratio))
	case best.Speedup.Known():
		text += fmt.Sprintf(": %s as fast as %s", times(best.Speedup), g.Baseline.Label)
	}
	if next != g.Baseline {
		text += fmt.Sprintf("; the next, %s, has %s of its speed", next.Label, times(g.Pair(best,
			next).Ratio))
	}
	return text + "."
}

// fasterHeadline says by how much the first row that is faster than the baseline is so, and what is not told
// from the first of all: "ddp 2×1, 185 ms a step, is 1.61× (1.14–2.29) as fast as single 1×1".
func fasterHeadline(g *compare.Group, v compare.Verdict) string {
	lead, who := v.Faster[0], v.Tied[0].Label+" is "
	if lead == v.Tied[0] {
		who = ""
	}
	told := notTold + " from " + list(v.Tied[1:])
	if v.IsUnanimous {
		told = fmt.Sprintf("faster than %s in all %d rounds, not certain", list(v.Tied[1:]), v.Rounds)
	}
	return fmt.Sprintf("%s, %s a step, is %s as fast as %s; %s%s.", lead.Label, ms(lead.Step.Median),
		times(lead.Speedup), g.Baseline.Label, who, told)
}

// reason says from what the first row is told, and which rows are not ranked.
func reason(g *compare.Group, v compare.Verdict) string {
	var parts []string
	if v.IsCertain() {
		parts = append(parts, fmt.Sprintf("from each of %s.", spelling.Count(len(v.Ranked)-1, "other row")))
	}
	left := slices.DeleteFunc(slices.Clone(g.Lines), func(l *compare.Line) bool {
		return l.OK == 0 || !l.Disturbed
	})
	if len(left) > 0 {
		parts = append(parts, fmt.Sprintf("Not ranked, others took cores: %s.", list(left)))
	}
	return strings.Join(parts, " ")
}

// groupFindings says what else the rows of a group show.
func groupFindings(g *compare.Group) []string {
	var out []string
	if p, isThere := g.OnSameCores(); isThere {
		out = append(out, fmt.Sprintf("On %s, %s has %s the speed of one process (%s)%s.",
			spelling.Count(p.B.Cores, "core"), p.B.Label, times(p.Ratio), p.A.Label, doubtOf(p)))
	}
	for _, l := range g.Lines {
		if text := accuracyText(l); text != "" {
			out = append(out, text)
		}
	}
	return append(out, peerTexts(g)...)
}

// accuracyText says how the accuracy of a line that is not exact compares with its reference; "" of others.
func accuracyText(l *compare.Line) string {
	a := &l.Accuracy
	if a.Reference == nil || !a.OverSamples.Known() {
		return ""
	}
	equal := map[bool]string{true: "samples", false: "time"}[l.Setting.For == ""]
	text := fmt.Sprintf("%s reaches another result than %s. Accuracy at equal %s: %s.", l.Label,
		a.Reference.Label, equal, overText(a.OverSamples))
	if a.OverTime.Known() && l.Setting.For == "" {
		text += fmt.Sprintf(" At equal time, %s s: %s.", digits(a.Limit, 3), overText(a.OverTime))
	}
	return text
}

// overText words a difference of accuracies, and no more than its interval and its tests show.
func overText(o compare.Over) string {
	points := fmt.Sprintf("%.2f %%, %+.2f points", 100*o.Own, 100*o.Mean)
	if o.Interval.Coverage == 0 {
		return points + "; one seed has no interval, so that is no finding"
	}
	verdict := "not shown to differ"
	switch in := o.Interval; {
	case in.Lo > -compare.SameAccuracy && in.Hi < compare.SameAccuracy:
		verdict = fmt.Sprintf("the same within %g points", 100*compare.SameAccuracy)
	case in.Lo > 0:
		verdict = "above"
	case in.Hi < 0:
		verdict = "below"
	}
	return fmt.Sprintf("%s, %s (interval %+.2f to %+.2f, %d seeds)", points, verdict, 100*o.Interval.Lo,
		100*o.Interval.Hi, o.Seeds)
}

// besidePeer relates the fastest row to the one of another program with the shortest step.
func besidePeer(p compare.Pair) string {
	return fmt.Sprintf("%s is %s as fast as %s, the row of %s with the shortest step%s.", p.B.Label,
		times(p.Ratio), p.A.Label, peerName(p.A.Setting.Peer), doubtOf(p))
}

// peerTexts relates each row to the same one of another program.
func peerTexts(g *compare.Group) (out []string) {
	for _, p := range g.AgainstPeers() {
		out = append(out, fmt.Sprintf("%s takes %s a step, %s %s: %s the speed of %s%s.", p.B.Label,
			ms(p.B.Step.Median), p.A.Label, ms(p.A.Step.Median), times(p.Ratio),
			peerName(p.A.Setting.Peer), doubtOf(p)))
	}
	return out
}

// doubtOf says in brackets how far rounds tell a ratio that they do not decide; "" of one that they do.
func doubtOf(p compare.Pair) string {
	if p.IsDecided() {
		return ""
	}
	return " (" + levelText(p.Ratio) + ")"
}

// agreementText says how the parameters of an exact row compare with those of the others.
func agreementText(a compare.Agreement) string {
	return map[compare.Agreement]string{compare.OfOtherWork: "other work",
		compare.RowsDiffer: "≠ rows differ",
		compare.EqualWork:  "= rows of equal work", compare.AllRows: "= all rows"}[a]
}

// maxListed is how many rows a sentence names.
const maxListed = 4

// list names rows.
func list(lines []*compare.Line) string {
	var names []string
	for _, l := range lines {
		names = append(names, l.Label)
	}
	return listed(names)
}

// listed joins names, of many the first.
func listed(names []string) string {
	if more := len(names) - maxListed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListed], ", "), more)
	}
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " and " + names[last]
	}
	return names[0]
}

// stepsText names rows with their steps: "ddp 2×1 takes 3700 ms a step, single 1×1 7200 ms".
func stepsText(lines []*compare.Line) string {
	var parts []string
	for _, l := range lines[:min(len(lines), maxListed)] {
		takes := ""
		if len(parts) == 0 {
			takes = " takes"
		}
		parts = append(parts, l.Label+takes+" "+ms(l.Step.Median))
	}
	parts[0] += " a step"
	if more := len(lines) - maxListed; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	return strings.Join(parts, ", ")
}

// ms writes a time with its unit.
func ms(seconds float64) string { return millis(seconds) + " ms" }
