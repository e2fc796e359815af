package chooser

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"lockstep/app/job/launcher"
	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/app/strategy"
)

// Lengths of the short runs that try a strategy.
const (
	tryTime   = 1.2 // seconds of each run, by its predicted step
	leastTry  = 2   // steps of each run at least, the first not counted
	leastMove = 40  // the same if shards move, which they do in the first dozen
	mostTry   = 200
	tryLimit  = 30.0 // seconds for all finalists; the last of them are left out
)

// chooseStrategy completes the configuration, with the exact strategy in place of auto that is predicted, or
// by short runs found, to have the shortest step. Threads and link are open unless they were given.
func chooseStrategy(ctx context.Context, done *launcher.Choice, o launcher.Options) error {
	given := done.Config
	done.Config = given.On(o.Environment).Complete()
	if done.Config.Strategy != setting.Auto {
		return nil
	}
	c := done.Config.Reopen(given, done.Origins)
	chosen := c
	if c.EvalOnly {
		chosen.Strategy = strategy.DDP // nothing is exchanged but counts
	} else {
		fmt.Fprintln(o.Stderr, "strategy auto: probing the machines")
		found, err := rankStrategies(ctx, c, o)
		if err != nil {
			return err
		}
		first := choose(found.Ranking)
		if first < 0 {
			return setting.Refuse("strategy auto: no exact strategy takes these settings; name one")
		}
		found.Chosen = found.Ranking[first].Way
		if chosen, err = with(c, found.Chosen); err != nil {
			return err
		}
		done.Strategy, done.Origins = found, done.Origins.Changed(c, chosen, "chosen by strategy auto")
		fmt.Fprintf(o.Stderr, "strategy auto: %s, found in %.1f s; summary.json has the ranking\n",
			found.Chosen, found.Seconds)
	}
	done.Config = chosen.On(o.Environment).Complete()
	return nil
}

// rankStrategies ranks the ways that c can be run by, and tries those that the prediction cannot tell apart.
func rankStrategies(ctx context.Context, c setting.Config, o launcher.Options) (*record.StrategyChoice,
	error) {
	begin := time.Now()
	found := &record.StrategyChoice{}
	err := withProber(c, o, func(p *prober) (err error) {
		if found.Probe, err = p.probe(ctx); err != nil {
			return fmt.Errorf("strategy auto: probe the machines: %w", err)
		}
		found.Ranking = rank(found.Probe, c)
		return p.tryFinalists(ctx, found.Ranking)
	})
	found.Seconds = time.Since(begin).Seconds()
	return found, err
}

// with returns c as a way. Threads and link stay as they are: given, or open, because they depend on where
// servers are.
func with(c setting.Config, way string) (setting.Config, error) {
	one, err := c.As(way)
	one.Threads, one.Link = c.Threads, c.Link
	return one, err
}

// Bounds of finalists.
const (
	closeness    = 1.25 // predicted steps within this factor of the shortest cannot be told apart
	maxFinalists = 4
)

// finalists returns the indices of the exact ways whose prediction is too near the shortest to decide, the
// fastest of each strategy first: ways of one strategy share the errors of its model.
func finalists(ranking []record.StrategyTerms) []int {
	var firsts, others []int
	isKnown := map[string]bool{} // strategies
	best := math.Inf(1)
	for i, t := range ranking {
		if t.Inexact != "" {
			continue
		}
		best = min(best, t.Step)
		switch {
		case t.Step > closeness*best:
		case isKnown[strategy.Named(t.Way).Name]:
			others = append(others, i)
		default:
			isKnown[strategy.Named(t.Way).Name] = true
			firsts = append(firsts, i)
		}
	}
	near := append(firsts, others...)
	return near[:min(len(near), maxFinalists)]
}

// choose returns the index of the fastest exact way: by the measured step if any was measured, else by the
// predicted one; -1 if there is none.
func choose(ranking []record.StrategyTerms) int {
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

// trial is a short run that tries a way.
type trial struct {
	way   int // index in the ranking
	steps int // the first is not counted
}

// trials returns the short runs that decide between the ways that the prediction cannot tell apart: each
// twice, because a moment's disturbance lengthens one run by more than the strategies differ, and the
// second time in reverse order, so that what drifts hurts all. There are none if there is no time for two
// ways.
func trials(ranking []record.StrategyTerms) []trial {
	var round []trial
	total := 0.0
	for _, i := range finalists(ranking) {
		t := trial{i, trySteps(ranking[i])}
		if total += 2 * ranking[i].Step * float64(t.steps); total > tryLimit {
			break
		}
		round = append(round, t)
	}
	if len(round) < 2 {
		return nil
	}
	back := slices.Clone(round)
	slices.Reverse(back)
	return append(round, back...)
}

// trySteps returns how many steps a way is tried.
func trySteps(t record.StrategyTerms) int {
	least := leastTry
	if strings.Contains(t.Way, "rebalance") {
		least = leastMove
	}
	return 1 + min(mostTry, max(least, int(tryTime/t.Step)))
}

// tryFinalists measures the steps of the ways that the prediction cannot tell apart: medians, without the
// first. Of two runs of a way the shorter step counts, since others can only lengthen it.
func (p *prober) tryFinalists(ctx context.Context, ranking []record.StrategyTerms) error {
	for _, t := range trials(ranking) {
		way := ranking[t.way].Way
		c, err := with(p.config, way)
		if err != nil {
			return err
		}
		c.Steps = t.steps
		s, err := p.run(ctx, c, p.options)
		if err != nil {
			return fmt.Errorf("strategy auto: try %s: %w", way, err)
		}
		step := s.StepMS.Median / 1e3
		if m := float64(ranking[t.way].Measured); math.IsNaN(m) || step < m {
			ranking[t.way].Measured = record.Number(step)
		}
	}
	return nil
}
