package analysis

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Thresholds of the cautions.
const (
	noiseLimit  = 0.10 // spread of a row's runs that is worth a warning
	fewestRuns  = 5    // below it the range of the runs covers the median with under 94 %
	fewestSteps = 5    // timed steps of a run
	chanceLimit = 0.95 // share of ln(classes) above which a loss is that of guessing
)

func contention(r *Results, c *Comparison) []string {
	names, any := c.where(func(l *Line) bool { return l.Cores() > r.Host.Cores })
	if !any {
		return nil
	}
	return one("More workers × threads than the %d cores of this machine: %s. Their step "+
		"times show contention for cores, not scaling, so they get no efficiency.",
		r.Host.Cores, names)
}

func oneRepeat(r *Results, c *Comparison) []string {
	names, any := c.where(func(l *Line) bool { return l.OK == 1 })
	if !any {
		return nil
	}
	if r.Rounds == 1 {
		names = "every row"
	}
	return one("One run only: %s. A single run has no spread, and a difference between two "+
		"single runs is no finding.", names)
}

func fewRepeats(_ *Results, c *Comparison) []string {
	least := math.MaxInt
	c.lines(func(_ *Group, l *Line) {
		if l.OK > 1 {
			least = min(least, l.OK)
		}
	})
	if least >= fewestRuns {
		return nil
	}
	coverage := 1 - math.Ldexp(1, 1-least)
	return one("%d runs per row: the range from the smallest to the largest covers the true "+
		"median with only %.0f %% probability. Six runs reach 97 %%.", least, 100*coverage)
}

func noise(_ *Results, c *Comparison) []string {
	var worst *Line
	var list []string
	c.lines(func(g *Group, l *Line) {
		if spread := l.RunMedian.Spread(); spread > noiseLimit {
			list = append(list, c.name(g, l)+" "+percent(spread))
			if worst == nil || spread > worst.RunMedian.Spread() {
				worst = l
			}
		}
	})
	if worst == nil {
		return nil
	}
	return one("The median step time varies by more than %s from run to run in: %s. "+
		"Differences of that size between rows are noise.",
		percent(noiseLimit), strings.Join(list, ", "))
}

func fewSteps(_ *Results, c *Comparison) []string {
	names, any := c.where(func(l *Line) bool { return l.Timed < fewestSteps })
	if !any {
		return nil
	}
	return one("Fewer than %d timed steps per run: %s. Percentiles of so few steps say little.",
		fewestSteps, names)
}

func notLearned(_ *Results, c *Comparison) []string {
	found := map[int][]string{} // by number of classes
	var order []int
	c.lines(func(g *Group, l *Line) {
		k := l.Setting.Classes
		if k < 2 || len(l.Loss) == 0 {
			return
		}
		tail := Mean(l.Loss[len(l.Loss)-(len(l.Loss)+9)/10:])
		if tail < chanceLimit*math.Log(float64(k)) {
			return
		}
		if !slices.Contains(order, k) {
			order = append(order, k)
		}
		found[k] = append(found[k], fmt.Sprintf("%s (%.2f)", c.name(g, l), tail))
	})
	var out []string
	for _, k := range order {
		out = append(out, fmt.Sprintf("The final loss is that of guessing, ln(%d) = %.2f, or "+
			"near it: %s. These runs measure speed; they have not learned.",
			k, math.Log(float64(k)), strings.Join(found[k], ", ")))
	}
	return out
}

func generated(_ *Results, c *Comparison) []string {
	var sets []string
	c.lines(func(_ *Group, l *Line) {
		if l.Setting.Generated && !slices.Contains(sets, l.Setting.Data) {
			sets = append(sets, l.Setting.Data)
		}
	})
	if sets == nil {
		return nil
	}
	return one("Generated data: %s is drawn by the program. Accuracies on it say nothing "+
		"about photographs.", strings.Join(sets, ", "))
}

func noExchange(_ *Results, c *Comparison) []string {
	names, any := c.where(func(l *Line) bool { return l.Setting.Strategy == "none" })
	if !any {
		return nil
	}
	return one("Strategy none never exchanges gradients: %s trains as many different models "+
		"as it has workers. It is the floor of the step time, not a way to train.", names)
}

func ring(_ *Results, c *Comparison) []string {
	names, any := c.where(func(l *Line) bool {
		return l.Setting.Workers > 1 && !l.Exact() &&
			l.Setting.Strategy != "none"
	})
	if !any {
		return nil
	}
	return one("The ring adds gradients in an order that depends on the number of workers: "+
		"%s ends with other bits than one process does.", names)
}

func oneMachine(_ *Results, c *Comparison) []string {
	_, any := c.where(func(l *Line) bool { return l.Setting.Workers > 1 })
	if !any {
		return nil
	}
	return one("All workers shared one machine: its memory and caches, and a link that never " +
		"leaves it. The figures say nothing about a network between machines.")
}

func parametersDiffer(_ *Results, c *Comparison) []string {
	var out []string
	for i := range c.Groups {
		g := &c.Groups[i]
		if len(g.Hashes) > 1 {
			out = append(out, fmt.Sprintf("%s: the rows end with %d different sets of "+
				"parameters, although every one of them promises the bits of one process.",
				c.Title(g), len(g.Hashes)))
		}
	}
	names, any := c.where(func(l *Line) bool { return l.Disagree && l.Exact() })
	if any {
		out = append(out, fmt.Sprintf("Repeating a run changed its parameters: %s.", names))
	}
	return out
}
