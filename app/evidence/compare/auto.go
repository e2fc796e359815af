package compare

import (
	"fmt"
	"slices"
)

// choices relates what strategy auto chose to the other exact row with the shortest step.
func (g *Group) choices() []string {
	ranked := g.ranked(func(l *Line) bool { return l.Setting.Workers > 1 && l.Setting.Strategy != "auto" })
	var out []string
	for _, l := range g.Lines {
		if l.Setting.Strategy != "auto" || l.OK == 0 || len(ranked) == 0 {
			continue
		}
		for _, chosen := range l.chosen() {
			out = append(out, g.verdict(l, chosen, ranked))
		}
	}
	return out
}

// chosen returns what the runs of the line chose, each once.
func (l *Line) chosen() []string {
	var all []string
	for _, run := range l.runs {
		if run.Chosen != "" && !slices.Contains(all, run.Chosen) {
			all = append(all, run.Chosen)
		}
	}
	return all
}

// verdict says how a choice compares with the row that has the shortest step: by the row of the chosen way if
// there is one, else by the row that chose.
func (g *Group) verdict(auto *Line, chosen string, ranked []*Line) string {
	runs := 0
	for _, run := range auto.runs {
		if run.Chosen == chosen {
			runs++
		}
	}
	text := fmt.Sprintf("%s chose %s in %d of %d runs", auto.Label, chosen, runs, auto.OK)
	at := slices.IndexFunc(g.Lines, func(l *Line) bool {
		return l.way() == chosen && l.OK > 0 && !l.Disturbed
	})
	row := auto
	if at >= 0 {
		row = g.Lines[at]
	}
	best := ranked[0]
	p := g.pairOf(row, best)
	switch {
	case row == best && len(ranked) > 1 && !g.pairOf(best, ranked[1]).IsDecided():
		return fmt.Sprintf("%s, whose step is the shortest but not told from that of %s%s.", text,
			ranked[1].Label, g.pairOf(best, ranked[1]).doubt())
	case row == best:
		return text + ", the exact row with the shortest step."
	case !p.Ratio.Known():
		return text + "; it cannot be compared with the others."
	case !p.IsDecided():
		return fmt.Sprintf("%s. The step of %s, %s, is not shown to differ from the shortest, that of %s, "+
			"%s%s.", text, row.Label, ms(row.Step.Median), best.Label, ms(best.Step.Median), p.doubt())
	}
	return fmt.Sprintf("%s. The step of %s is %s that of %s, which has the shortest.", text, row.Label,
		times(p.Ratio), best.Label)
}

// way names the strategy with the row's own settings, as strategy auto does.
func (l *Line) way() string {
	if l.Setting.Options == "" {
		return l.Setting.Strategy
	}
	return l.Setting.Strategy + ":" + l.Setting.Options
}
