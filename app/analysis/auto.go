package analysis

import (
	"fmt"
	"slices"
)

// choices relates what strategy auto chose to the fastest of the other exact rows.
func (g *Group) choices() []string {
	ranked := g.ranked(func(l *Line) bool { return l.Setting.Workers > 1 && l.Setting.Strategy != "auto" })
	var out []string
	for _, l := range g.Lines {
		if l.Setting.Strategy != "auto" || l.OK == 0 || len(ranked) == 0 {
			continue
		}
		for _, chosen := range l.chosen() {
			out = append(out, g.verdict(l, chosen, ranked[0]))
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

// verdict says how a choice compares with the fastest row: by the row of the chosen way if there is one, else
// by the row that chose.
func (g *Group) verdict(auto *Line, chosen string, best *Line) string {
	rounds := 0
	for _, run := range auto.runs {
		if run.Chosen == chosen {
			rounds++
		}
	}
	text := fmt.Sprintf("%s chose %s in %d of %d runs", auto.Label, chosen, rounds, auto.OK)
	at := slices.IndexFunc(g.Lines, func(l *Line) bool {
		return l.way() == chosen && l.OK > 0 && !l.Disturbed
	})
	row := auto
	if at >= 0 {
		row = g.Lines[at]
	}
	switch r := PairedRatio(row.stepByRound, best.stepByRound); {
	case row == best:
		return text + ", the fastest of the exact rows."
	case !r.Known():
		return text + "; it cannot be compared with the others."
	default:
		return fmt.Sprintf("%s. The step of %s is %s that of the fastest, %s.", text, row.Label, times(r),
			best.Label)
	}
}

// way names the strategy with the row's own settings, as strategy auto does.
func (l *Line) way() string {
	if l.Setting.Options == "" {
		return l.Setting.Strategy
	}
	return l.Setting.Strategy + ":" + l.Setting.Options
}
