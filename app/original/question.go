package original

import (
	"fmt"
	"math"
	"strings"

	"lockstep/app/analysis"
	"lockstep/app/record"
)

// original is what is known about a report.
type original struct {
	title      string
	quantities []quantity
	questions  []question
}

// results are ours.
type results struct {
	record *record.Results
	*analysis.Comparison
}

// selector chooses a row.
type selector func(s record.Setting) bool

// find returns the first row with a successful run that a selector chooses, and its group; nil without one.
func (r *results) find(is selector) (*analysis.Group, *analysis.Line) {
	for i := range r.Groups {
		for _, l := range r.Groups[i].Lines {
			if l.OK > 0 && l.Setting.Peer == "" && is(l.Setting) {
				return &r.Groups[i], l
			}
		}
	}
	return nil, nil
}

// name returns a row's label, with its group's.
func (r *results) name(g *analysis.Group, l *analysis.Line) string {
	if len(r.Groups) == 1 {
		return l.Label
	}
	return r.Title(g) + ", " + l.Label
}

// quantity is a figure of the original with what it is compared with.
type quantity struct {
	what, theirs string
	is           selector
	ours         func(g *analysis.Group, l *analysis.Line) string
}

// The verdicts of ours on a sentence.
const (
	holds      = "holds here"
	fails      = "does not hold here"
	undecided  = "not decided"
	unmeasured = "not measured"
)

// question is how ours answer a sentence.
type question struct {
	sentence string // its beginning
	answer   func(r *results) string
}

// isFaster answers whether row a takes less time for a step than row b, as the pairs of the analysis decide.
func isFaster(a, b selector) func(*results) string {
	return func(r *results) string {
		g, first := r.find(a)
		other, second := r.find(b)
		if first == nil || second == nil || g != other {
			return unmeasured + ": one of the rows has no run, or they are not of one group"
		}
		for _, p := range g.Pairs {
			ratio, isOf := p.Ratio, p.A == first && p.B == second
			if p.A == second && p.B == first {
				ratio, isOf = analysis.InverseRatio(p.Ratio), true
			}
			if !isOf {
				continue
			}
			text := fmt.Sprintf("a step of %s takes %.2f times that of %s (%.2f to %.2f, %d rounds)",
				first.Label,
				ratio.Median, second.Label, ratio.Interval.Lo, ratio.Interval.Hi, len(ratio.Values))
			if !p.IsDecided() {
				return undecided + ": " + text
			}
			if ratio.Median < 1 {
				return holds + ": " + text
			}
			return fails + ": " + text
		}
		return unmeasured + ": the rows do no equal work, or others took the cores"
	}
}

// isAbove answers whether a figure of a row is above a limit, from its runs; there is no test of it.
func isAbove(is selector, what string, of func(*analysis.Line) float64, limit float64) func(*results) string {
	return func(r *results) string {
		_, l := r.find(is)
		if l == nil || math.IsNaN(of(l)) {
			return unmeasured + ": the row has no run"
		}
		if l.Disturbed {
			return undecided + ": others took cores from every run of " + l.Label
		}
		text := fmt.Sprintf("%s is %.3g in %s; the limit is %.3g", what, of(l), l.Label, limit)
		if of(l) > limit {
			return holds + ": " + text
		}
		return fails + ": " + text
	}
}

// isBelow is the reverse of isAbove.
func isBelow(is selector, what string, of func(*analysis.Line) float64, limit float64) func(*results) string {
	above := isAbove(is, what, of, limit)
	return func(r *results) string {
		text := above(r)
		switch {
		case strings.HasPrefix(text, holds):
			return fails + strings.TrimPrefix(text, holds)
		case strings.HasPrefix(text, fails):
			return holds + strings.TrimPrefix(text, fails)
		}
		return text
	}
}

// all joins selectors.
func all(of ...selector) selector {
	return func(s record.Setting) bool {
		for _, is := range of {
			if !is(s) {
				return false
			}
		}
		return true
	}
}

func strategy(name string) selector {
	return func(s record.Setting) bool { return s.Strategy == name }
}
func workers(n int) selector     { return func(s record.Setting) bool { return s.Workers == n } }
func batch(n int) selector       { return func(s record.Setting) bool { return s.Batch == n } }
func model(name string) selector { return func(s record.Setting) bool { return s.Model == name } }
func wire(name string) selector  { return func(s record.Setting) bool { return s.Wire == name } }
func options(text string) selector {
	return func(s record.Setting) bool { return s.Options == text }
}

// layout chooses rows by hosts and workers on each.
func layout(hosts, each int) selector {
	return func(s record.Setting) bool { return s.Hosts == hosts && s.PerHost == each }
}

// The figures of a row.
func stepTime(_ *analysis.Group, l *analysis.Line) string  { return seconds(l.RunMedian.Median) }
func totalTime(_ *analysis.Group, l *analysis.Line) string { return seconds(l.Total.Median) }
func epochTime(_ *analysis.Group, l *analysis.Line) string { return seconds(l.Epoch.Median) }
func perSecond(_ *analysis.Group, l *analysis.Line) string { return number(l.PerSecond) + "/s" }
func lastLoss(_ *analysis.Group, l *analysis.Line) string  { return number(l.LossLast) }
func accuracy(_ *analysis.Group, l *analysis.Line) string {
	if math.IsNaN(l.TestAccuracy) {
		return "–"
	}
	return fmt.Sprintf("%.2f %% of %d", 100*l.TestAccuracy, l.TestSamples)
}
func speedup(_ *analysis.Group, l *analysis.Line) string    { return ratio(l.Speedup) }
func efficiency(_ *analysis.Group, l *analysis.Line) string { return ratio(l.Efficiency) }

// share returns the share of a step's time that a phase takes.
func share(phase string) func(*analysis.Line) float64 {
	return func(l *analysis.Line) float64 {
		sum, part := 0.0, math.NaN()
		for i, name := range analysis.Phases() {
			if i >= len(l.Phases) {
				return math.NaN()
			}
			sum += l.Phases[i]
			if name == phase {
				part = l.Phases[i]
			}
		}
		return part / sum
	}
}

// phase shows the share of a phase.
func phase(name string) func(*analysis.Group, *analysis.Line) string {
	return func(_ *analysis.Group, l *analysis.Line) string {
		v := share(name)(l)
		if math.IsNaN(v) {
			return "–"
		}
		return fmt.Sprintf("%.0f %% of a step", 100*v)
	}
}

func seconds(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return number(v) + " s"
}

func number(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return fmt.Sprintf("%.4g", v)
}

func ratio(r analysis.Ratio) string {
	if !r.Known() {
		return "–"
	}
	if r.Interval.Coverage == 0 {
		return fmt.Sprintf("%.2f", r.Median)
	}
	return fmt.Sprintf("%.2f (%.2f to %.2f)", r.Median, r.Interval.Lo, r.Interval.Hi)
}
