package report

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/stat"
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
	case v.IsOnce:
		few := "one run of each decides nothing"
		if !v.IsOneRun() {
			few = "no two rows have two rounds in common, which decides nothing"
		}
		return fmt.Sprintf("%s; %s (--repeats %d).", stepsText(v.Ranked), few, v.Repeats)
	case v.IsCertain():
		return certainHeadline(g, v) + crowded(g, v)
	}
	return tiedHeadline(g, v) + crowded(g, v)
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
	case best.Speedup.Known() && g.Unranked(g.Baseline) == "":
		text += fmt.Sprintf(": %s as fast as %s", times(best.Speedup), g.Baseline.Label)
	}
	if next != g.Baseline {
		text += fmt.Sprintf("; the next, %s, has %s of its speed", next.Label, times(g.Pair(best,
			next).Ratio))
	}
	return text + "."
}

// tiedHeadline names the rows that are not told from the first.
func tiedHeadline(g *compare.Group, v compare.Verdict) string {
	first, others := v.Tied[0], slices.DeleteFunc(slices.Clone(v.Tied), func(l *compare.Line) bool {
		return l == g.Baseline
	})
	switch {
	case v.Repeats == 0 && len(others) < len(v.Tied):
		doubt := "the rounds do not tell it from " + list(others)
		if v.IsClose {
			doubt = fmt.Sprintf("it and %s are too close to call, perhaps less than %s apart", list(others),
				least())
		}
		return fmt.Sprintf("No way of training is shown to be faster than %s, %s a step: %s.",
			g.Baseline.Label,
			ms(g.Baseline.Step.Median), doubt)
	case v.IsFaster:
		return fmt.Sprintf("%s %s; the rounds do not tell %s from %s%s.", subject(v.Tied), gainText(g,
			v.Tied),
			first.Label, list(v.Tied[1:]), repeatsText(v))
	}
	which := "them apart"
	if len(v.Tied) > 2 {
		which = "the first from the others"
	}
	text := fmt.Sprintf("%s; %s do not tell %s%s", stepsText(v.Tied), roundsText(v), which, repeatsText(v))
	if r := first.Speedup; r.Interval.Coverage > 0 && !r.Interval.Contains(1) {
		text += fmt.Sprintf("; %s is %s as fast as %s", first.Label, times(r), g.Baseline.Label)
	}
	return text + "."
}

// roundsText counts the rounds that did not decide where more may.
func roundsText(v compare.Verdict) string {
	if v.Repeats == 0 {
		return "the rounds"
	}
	return spelling.Count(v.Rounds, "round")
}

// repeatsText says how many runs of each row may decide; "" where it hardly helps.
func repeatsText(v compare.Verdict) string {
	if v.Repeats == 0 {
		return ""
	}
	return fmt.Sprintf(" (--repeats %d)", v.Repeats)
}

// subject begins a sentence about rows: "Four workers are", if all have as many.
func subject(lines []*compare.Line) string {
	workers := lines[0].Setting.Workers
	isOther := func(l *compare.Line) bool { return l.Setting.Workers != workers }
	if workers == 1 || slices.ContainsFunc(lines, isOther) {
		return list(lines) + " are"
	}
	words := []string{2: "Two", 3: "Three", 4: "Four", 5: "Five", 6: "Six", 7: "Seven", 8: "Eight"}
	if workers < len(words) {
		return words[workers] + " workers are"
	}
	return fmt.Sprintf("%d workers are", workers)
}

// gainText says by how much rows are faster than the baseline, from the least end of their intervals to the
// greatest: "1.6 to 1.9 times as fast as one (single 1×1)".
func gainText(g *compare.Group, lines []*compare.Line) string {
	lo, hi := lines[0].Speedup.Interval.Lo, lines[0].Speedup.Interval.Hi
	for _, l := range lines {
		lo, hi = min(lo, l.Speedup.Interval.Lo), max(hi, l.Speedup.Interval.Hi)
	}
	gain := digits(lo, 2)
	if most := digits(hi, 2); most != gain {
		gain += " to " + most
	}
	return fmt.Sprintf("%s times as fast as one (%s)", gain, g.Baseline.Label)
}

// crowded says that a speed-up is no measure of scaling, if its row or the baseline has more threads than
// cores; "" if neither has.
func crowded(g *compare.Group, v compare.Verdict) string {
	for _, l := range []*compare.Line{v.Ranked[0], g.Baseline} {
		if l != nil && l.Contended && v.Ranked[0] != g.Baseline {
			return fmt.Sprintf(" %d threads shared %s, so that is no measure of scaling.",
				l.Setting.NumThreads(), spelling.Count(l.Cores, "core"))
		}
	}
	return ""
}

// reason says what makes a headline certain, or what hinders it, and which rows are not ranked.
func reason(g *compare.Group, v compare.Verdict) string {
	var parts []string
	switch {
	case v.IsCertain():
		parts = append(parts, fmt.Sprintf("The rounds tell it from each of %s.",
			spelling.Count(len(v.Ranked)-1, "other row")))
	case v.IsClose:
		parts = append(parts, "Another hour may turn so small a difference.")
	case len(v.Ranked) > 1 && v.Repeats > 0:
		parts = append(parts, fmt.Sprintf("Fewer than %d rounds rarely tell rows apart.",
			compare.EnoughRounds))
	}
	why := map[string][]*compare.Line{}
	for _, l := range g.Lines {
		why[g.Unranked(l)] = append(why[g.Unranked(l)], l)
	}
	for _, left := range []string{compare.TakenCores, compare.FewRounds, compare.UnevenRuns,
		compare.OtherWork} {
		if lines := why[left]; lines != nil {
			parts = append(parts, fmt.Sprintf("Not ranked, %s: %s.", left, list(lines)))
		}
	}
	return strings.Join(parts, " ")
}

// groupFindings says what else the rows of a group show.
func groupFindings(g *compare.Group) []string {
	var out []string
	if p, isThere := g.OnSameCores(); isThere {
		text := fmt.Sprintf("On %s, %s has %s the speed of one process (%s)", spelling.Count(p.B.Cores,
			"core"),
			p.B.Label, times(p.Ratio), p.A.Label)
		if !p.IsDecided() {
			text += ", which is not shown to differ"
		}
		out = append(out, text+".")
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
	if a.OverSamples.Tests == 0 {
		return ""
	}
	apart := ""
	if names := compare.SettingsApart(l.Setting, a.Reference.Setting); len(names) > 1 {
		apart = ", from which it differs in " + listed(names)
	}
	text := fmt.Sprintf("%s reaches another result than %s%s. Accuracy at equal samples: %s.", l.Label,
		a.Reference.Label, apart, overText(a.OverSamples))
	if a.OverTime.Known() {
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
	switch {
	case o.ZeroP < stat.Significance:
		verdict = fmt.Sprintf("the same within %g points", 100*compare.SameAccuracy)
	case o.NonzeroP < stat.Significance && o.Mean > 0:
		verdict = "above"
	case o.NonzeroP < stat.Significance:
		verdict = "below"
	case !o.Interval.Contains(0):
		verdict += fmt.Sprintf(" after a correction for %d comparisons", o.Tests)
	}
	return fmt.Sprintf("%s, %s (95 %% interval %+.2f to %+.2f, %d seeds)", points, verdict, 100*o.Interval.Lo,
		100*o.Interval.Hi, o.Seeds)
}

// besidePeer relates the fastest row to the one of another program with the shortest step.
func besidePeer(p compare.Pair) string {
	text := fmt.Sprintf("%s is %s as fast as %s, the row of %s with the shortest step", p.B.Label,
		times(p.Ratio), p.A.Label, peerName(p.A.Setting.Peer))
	if doubt := doubtOf(p); doubt != "" {
		text += ", which " + doubt
	}
	return text + "."
}

// peerTexts words what [compare.Group.FastestAgainstPeer] and [compare.Group.AgainstPeers] find.
func peerTexts(g *compare.Group) (out []string) {
	each := g.AgainstPeers()
	if p, isThere := g.FastestAgainstPeer(); isThere && (len(each) != 1 || each[0].A != p.A) {
		out = append(out, besidePeer(p))
	}
	for _, p := range each {
		text := fmt.Sprintf("%s takes %s a step, %s %s: %s the speed of %s", p.B.Label, ms(p.B.Step.Median),
			p.A.Label, ms(p.A.Step.Median), times(p.Ratio), peerName(p.A.Setting.Peer))
		if doubt := doubtOf(p); doubt != "" {
			text += ", which " + doubt
		}
		out = append(out, text+".")
	}
	return out
}

// doubtOf says why a ratio to a peer is no finding; "" if it is one.
func doubtOf(p compare.Pair) string {
	switch {
	case !p.IsTest():
		return fmt.Sprintf("decides nothing: it has %d of the %d rounds that this takes", len(p.Ratio.Values),
			compare.EnoughRounds)
	case p.IsClose():
		return fmt.Sprintf("is too close to call: perhaps less than %s apart", least())
	case !p.IsDecided():
		return "is not told apart"
	}
	return ""
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
