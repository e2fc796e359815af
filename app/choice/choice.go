package choice

import (
	"cmp"
	"math"
	"slices"

	"lockstep/app/record"
	"lockstep/gradsync"
)

// Way is a strategy with settings of its own.
type Way struct {
	Strategy string
	Options  string // such as "servers=2+server-place=apart"; "": none
	Inexact  string // why its result has other bits than one worker's; "": it has the same
}

// String returns the way as --strategies of bench takes it.
func (w Way) String() string {
	if w.Options == "" {
		return w.Strategy
	}
	return w.Strategy + ":" + w.Options
}

// Ways lists all ways that the model knows. The caller leaves out what its run cannot use, and says which
// are inexact.
func Ways() []Way {
	var ways []Way
	for _, m := range models() {
		ways = append(ways, m.Way)
	}
	return ways
}

// Rank predicts the step of each of the ways, the fastest first. Ways that the model does not know are left
// out, and those that move shards between workers that are equally fast or have more servers than gradients.
func Rank(p record.Probe, ways []Way) []record.StrategyTerms {
	var ranking []record.StrategyTerms
	for _, m := range models() {
		i := slices.IndexFunc(ways, func(w Way) bool { return w.String() == m.String() })
		if i < 0 || len(p.Compute) < 2 || m.form.IsBalanced && isEven(p) {
			continue
		}
		t, err := m.terms(p)
		if err != nil { // more servers than gradients to share, for instance
			continue
		}
		t.Strategy, t.Options, t.Inexact = m.Strategy, m.Options, ways[i].Inexact
		t.Measured = record.Number(math.NaN())
		ranking = append(ranking, t)
	}
	slices.SortStableFunc(ranking, func(a, b record.StrategyTerms) int { return cmp.Compare(a.Step, b.Step) })
	return ranking
}

// Predict returns the predicted step of one way. A way that the model does not know is taken for its strategy
// alone, and an unknown strategy, or one that the probe cannot be of, for all-reduce.
func Predict(p record.Probe, w Way) record.StrategyTerms {
	all := models()
	for _, name := range []string{w.String(), w.Strategy, gradsync.AllReduce} {
		i := slices.IndexFunc(all, func(m model) bool { return m.String() == name })
		if i >= 0 {
			if t, err := all[i].terms(p); err == nil {
				return t
			}
		}
	}
	return record.StrategyTerms{}
}

// Bounds of Finalists.
const (
	closeness    = 1.25 // predicted steps within this factor of the shortest cannot be told apart
	maxFinalists = 4
)

// Finalists returns the indices of the exact ways whose prediction is too near the shortest to decide, the
// fastest of each strategy first: ways of one strategy share the errors of its model.
func Finalists(ranking []record.StrategyTerms) []int {
	var firsts, others []int
	isKnown := map[string]bool{}
	best := math.Inf(1)
	for i, t := range ranking {
		if t.Inexact != "" {
			continue
		}
		best = min(best, t.Step)
		switch {
		case t.Step > closeness*best:
		case isKnown[t.Strategy]:
			others = append(others, i)
		default:
			isKnown[t.Strategy] = true
			firsts = append(firsts, i)
		}
	}
	near := append(firsts, others...)
	return near[:min(len(near), maxFinalists)]
}

// Choose returns the index of the fastest exact way: by the measured step if any was measured, else by the
// predicted one; -1 if there is none.
func Choose(ranking []record.StrategyTerms) int {
	best := -1
	isTimed := func(i int) bool { return !math.IsNaN(float64(ranking[i].Measured)) }
	isFaster := func(a, b int) bool {
		switch {
		case isTimed(a) != isTimed(b):
			return isTimed(a)
		case isTimed(a):
			return ranking[a].Measured < ranking[b].Measured
		}
		return ranking[a].Step < ranking[b].Step
	}
	for i, t := range ranking {
		if t.Inexact == "" && (best < 0 || isFaster(i, best)) {
			best = i
		}
	}
	return best
}
