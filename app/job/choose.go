package job

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"lockstep/app/choice"
	"lockstep/app/host"
	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/app/strategy"
	"lockstep/cluster"
	"lockstep/internal/regular"
	"lockstep/optim"
)

// Lengths of the short runs before a run with strategy auto.
const (
	probeTime = 800 * time.Millisecond // of computing without exchange
	tryTime   = 0.8                    // seconds that each finalist is tried, by its predicted step
	leastTry  = 6                      // steps that each finalist is tried at least, the first not counted
	leastMove = 40                     // the same if shards move, which they do in the first dozen
	mostTry   = 200
	tryLimit  = 20.0 // seconds for all finalists; the last of them are left out
	checkRuns = 2    // of each way, to check a choice
)

// choose returns c with the exact strategy that is predicted, or by short runs found, to have the shortest
// step, and why. Threads and link of c are open unless they were given. Its short runs leave nothing behind.
// Every way that it chooses from has the bits of one worker, so no bit of the result depends on what it
// measures.
func choose(ctx context.Context, c setting.Config, o Options) (setting.Config, *record.StrategyChoice,
	error) {
	if c.EvalOnly {
		c.Strategy = strategy.DDP // nothing is exchanged but counts
		return c, nil, nil
	}
	folder, remove, err := regular.MakeFolder("", "choice")
	if err != nil {
		return c, nil, fmt.Errorf("job: probe the machines: %w", err)
	}
	defer remove()
	p := prober{config: brief(c), folder: folder,
		options: Options{Environment: o.Environment, Worker: o.Worker}}
	begin := time.Now()
	found := &record.StrategyChoice{}
	if found.Probe, err = p.probe(ctx); err != nil {
		return c, nil, fmt.Errorf("strategy auto: probe the machines: %w", err)
	}
	found.Ranking = choice.Rank(found.Probe, usable(c))
	if err := p.tryFinalists(ctx, found.Ranking); err != nil {
		return c, nil, err
	}
	first, second := choice.Choose(found.Ranking)
	if first < 0 {
		return c, nil, setting.Refuse("strategy auto: no exact strategy takes these settings; name one")
	}
	found.Chosen = wayOf(found.Ranking[first]).String()
	if c.CheckChoice && second >= 0 {
		if found.Check, err = p.check(ctx, found.Ranking[first], found.Ranking[second]); err != nil {
			return c, nil, err
		}
	}
	found.Seconds = time.Since(begin).Seconds()
	c, err = with(c, wayOf(found.Ranking[first]))
	return c, found, err
}

// ProbeSeconds is how long the workers of a probe compute.
const ProbeSeconds = float64(probeTime) / float64(time.Second)

// Probe measures the machines of a run by a short run without exchange, which leaves nothing behind.
func Probe(ctx context.Context, c setting.Config, o Options) (record.Probe, error) {
	o.setDefaults()
	folder, remove, err := regular.MakeFolder("", "probe")
	if err != nil {
		return record.Probe{}, fmt.Errorf("job: probe the machines: %w", err)
	}
	defer remove()
	p := prober{config: brief(c.On(o.Environment).Complete()), folder: folder,
		options: Options{Environment: o.Environment, Worker: o.Worker}}
	return p.probe(ctx)
}

// brief returns c as a short run: no evaluation, no files, no schedule that wants to know the length. Its
// data are as many samples as a few steps take, its steps take as long. They change no weight, so that none
// diverges that a schedule would have kept from it.
func brief(c setting.Config) setting.Config {
	c.Vocab = c.DataOptions(nil).Vocabulary // may lie beside Weights
	c.Optimizer.LR = 0
	c.Epochs, c.Steps, c.For, c.Until, c.EvalEvery = 0, 0, "", 0, 0
	c.Save, c.Trace, c.CheckpointEvery, c.Resume, c.CheckChoice = false, false, "", "", false
	c.Weights, c.FreshHead = "", false
	c.Schedule, c.Lookahead = optim.ScheduleConfig{Name: "constant"}, optim.LookaheadConfig{}
	if few := 4 * c.StepBatch(); c.LimitTrain < 0 || c.LimitTrain > few {
		c.LimitTrain = few
	}
	c.LimitTest = 0
	return c
}

// usable returns the ways that c can be run by, with the reason why some are not exact.
func usable(c setting.Config) []choice.Way {
	var ways []choice.Way
	for _, w := range choice.Ways() {
		one, err := with(c, w)
		if err != nil || one.Validate() != nil {
			continue
		}
		w.Inexact = one.Inexact()
		ways = append(ways, w)
	}
	return ways
}

// with returns c with a strategy and its settings. Threads and link stay as they are: given, or open, because
// they depend on where servers are.
func with(c setting.Config, w choice.Way) (setting.Config, error) {
	values := []setting.Value{{Name: "strategy", Text: w.Strategy}}
	for part := range strings.SplitSeq(w.Options, "+") {
		if name, value, _ := strings.Cut(part, "="); part != "" {
			values = append(values, setting.Value{Name: name, Text: value})
		}
	}
	c.CheckChoice = false
	one, err := c.With(values)
	one.Threads, one.Link = c.Threads, c.Link
	return one, err
}

func wayOf(t record.StrategyTerms) choice.Way {
	return choice.Way{Strategy: t.Strategy, Options: t.Options, Inexact: t.Inexact}
}

// prober makes short runs of one configuration.
type prober struct {
	config  setting.Config
	folder  string
	options Options
	runs    int
	taken   takenTime // while maths were timed
}

// run makes a short run and returns its summary. Its error names no log of the short run, which is removed.
func (p *prober) run(ctx context.Context, c setting.Config, o Options) (*record.Summary, error) {
	p.runs++
	c.Out = filepath.Join(p.folder, fmt.Sprint(p.runs))
	s, err := Run(ctx, c, o)
	if ended := (*EndedError)(nil); errors.As(err, &ended) {
		err = ended.Unwrap()
	}
	if lost := (*cluster.WorkerError)(nil); errors.As(err, &lost) {
		lost.Log = ""
	}
	return s, err
}

// probe measures computing, links and memory by a run whose workers exchange nothing.
func (p *prober) probe(ctx context.Context) (record.Probe, error) {
	c, o := p.config, p.options
	c.Strategy, c.For = strategy.None, probeTime.String()
	c.Algorithm, c.Wire, c.Rebalance = "auto", "fp32", false
	c.OverlapForward, c.ShardOptimizer, c.TuneBucket = false, false, false
	c = c.On(o.Environment).Complete()
	o.probes = true
	s, err := p.run(ctx, c, o)
	if err != nil {
		return record.Probe{}, err
	}
	return probeOf(s, c), nil
}

// probeOf reads a probe out of the summary of a run without exchange.
func probeOf(s *record.Summary, c setting.Config) record.Probe {
	p := record.Probe{Bytes: float64(s.GradientBytes), Tensors: float64(s.Tensors), Bucket: float64(c.Bucket),
		Shards: c.StepShards(), AverageEvery: float64(c.AverageEvery),
		IsCrowded: c.Workers*c.Threads >= host.Cores()}
	if t := s.AlgorithmChoice; t != nil {
		p.Link, p.Add = t.Outside, t.Add
		if p.Link.Byte == 0 {
			p.Link = t.Inside
		}
	}
	workers := float64(len(s.Ranks))
	for _, r := range s.Ranks {
		step := r.StepMS.Median / 1e3
		ph := r.Phases
		sum := ph.Forward + ph.Backward + ph.SyncExposed + ph.Optimizer + ph.Data + ph.Other
		part := func(seconds float64) float64 {
			return step * seconds / max(sum, math.SmallestNonzeroFloat64)
		}
		p.Compute = append(p.Compute, step-part(ph.Optimizer))
		p.Forward += part(ph.Forward) / workers
		shards := max(1, float64(c.StepShards())/workers) // of a worker; the last one's backward hides
		p.Backward += part(ph.Backward) / shards / workers
		p.Update = max(p.Update, part(ph.Optimizer))
		p.Memory = max(p.Memory, r.PlannedBytes)
	}
	return p
}

// trial is a short run that tries a way.
type trial struct {
	way   int // index in the ranking
	steps int // the first is not counted
}

// tryPlans are the ways to spend tryLimit, the best first: every finalist twice, because a moment's
// disturbance lengthens one run by more than the strategies differ, or once, and with fewer steps the longer
// these are.
var tryPlans = []struct {
	rounds, steps int // steps of each run at least, the first not counted
}{{2, leastTry}, {2, 3}, {1, leastTry}, {1, 2}}

// trials returns the short runs that decide between the ways that the prediction cannot tell apart, by the
// first of tryPlans that has time for all of them, else by the last of them with the ways that it has time
// for; none if these are fewer than two. The second round is in reverse order, so that what drifts hurts all.
func trials(ranking []record.StrategyTerms) []trial {
	for k, plan := range tryPlans {
		var round []trial
		total := 0.0
		for _, i := range choice.Finalists(ranking) {
			t := trial{i, trySteps(ranking[i], plan.steps)}
			if total += ranking[i].Step * float64(t.steps*plan.rounds); total > tryLimit {
				break
			}
			round = append(round, t)
		}
		switch {
		case total > tryLimit && k < len(tryPlans)-1:
		case len(round) < 2:
			return nil
		case plan.rounds == 2:
			back := slices.Clone(round)
			slices.Reverse(back)
			return append(round, back...)
		default:
			return round
		}
	}
	return nil
}

// tryFinalists measures the steps of the ways that the prediction cannot tell apart. Of two runs of a way the
// shorter step counts: others can only lengthen it.
func (p *prober) tryFinalists(ctx context.Context, ranking []record.StrategyTerms) error {
	for _, t := range trials(ranking) {
		step, err := p.try(ctx, ranking[t.way], t.steps)
		if err != nil {
			return err
		}
		if m := float64(ranking[t.way].Measured); math.IsNaN(m) || step < m {
			ranking[t.way].Measured = record.Number(step)
		}
	}
	return nil
}

// trySteps returns how many steps a way is tried.
func trySteps(t record.StrategyTerms, least int) int {
	if strings.Contains(t.Options, "rebalance") {
		least = leastMove
	}
	return 1 + min(mostTry, max(least, int(tryTime/t.Step)))
}

// try returns the median step of a way in seconds, without the first.
func (p *prober) try(ctx context.Context, t record.StrategyTerms, steps int) (float64, error) {
	c, err := with(p.config, wayOf(t))
	if err != nil {
		return 0, err
	}
	c.Steps = steps
	s, err := p.run(ctx, c, p.options)
	if err != nil {
		return 0, fmt.Errorf("strategy auto: try %v: %w", wayOf(t), err)
	}
	return s.StepMS.Median / 1e3, nil
}

// check compares the choice with the next way by short runs of both in turn.
func (p *prober) check(ctx context.Context, chosen, other record.StrategyTerms) (*record.ChoiceCheck, error) {
	steps := map[bool][]float64{}
	each := max(trySteps(chosen, leastTry), trySteps(other, leastTry))
	for i := range 2 * checkRuns {
		isChosen := i%4 == 0 || i%4 == 3 // ABBA
		way := other
		if isChosen {
			way = chosen
		}
		step, err := p.try(ctx, way, each)
		if err != nil {
			return nil, err
		}
		steps[isChosen] = append(steps[isChosen], step)
	}
	c := &record.ChoiceCheck{Other: wayOf(other).String(), Step: slices.Min(steps[true]),
		OtherStep: slices.Min(steps[false]), Steps: checkRuns * (each - 1)}
	c.Regret = max(0, c.Step/c.OtherStep-1)
	return c, nil
}

// tellChoice writes the ranking with its terms.
func tellChoice(o Options, found *record.StrategyChoice) {
	fmt.Fprintf(o.Stderr, "strategy auto: %s, found in %.1f s; times of a step in ms\n", found.Chosen,
		found.Seconds)
	w := tabwriter.NewWriter(o.Stderr, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "  strategy\tpredicted\tcompute\twaiting\texposed exchange\tupdate\tbusiest MB\ttried\t")
	for _, t := range found.Ranking {
		tried, note := "-", ""
		if !math.IsNaN(float64(t.Measured)) {
			tried = fmt.Sprintf("%.3g", 1e3*float64(t.Measured))
		}
		if t.Inexact != "" {
			note = "not chosen: another result"
		}
		fmt.Fprintf(w, "  %v\t%.3g\t%.3g\t%.3g\t%.3g\t%.3g\t%.3g\t%s\t%s\n", wayOf(t), 1e3*t.Step,
			1e3*t.Compute, 1e3*t.Waiting, 1e3*t.Exposed, 1e3*t.Update, t.BusiestBytes/1e6, tried, note)
	}
	_ = w.Flush() // as other notes
	if c := found.Check; c != nil {
		fmt.Fprintf(o.Stderr, "strategy auto: checked against %s: %.3g ms and %.3g ms, regret %.1f %%\n",
			c.Other, 1e3*c.Step, 1e3*c.OtherStep, 100*c.Regret)
	}
}

// chooseAll returns given, with its math and its strategy chosen if they are auto. An error is that of a run
// that has not begun.
func chooseAll(ctx context.Context, given setting.Config, o *Options) (setting.Config, error) {
	isOpen := given.Math == setting.Auto || given.On(o.Environment).Complete().Strategy == setting.Auto
	if isOpen && given.Out != "" && given.Resume == "" && !isLeft(given.Out, o.Environment) {
		dir, err := rundir.Claim(given.Out) // whether it can be, is told before some seconds are spent
		if err == nil {
			err = dir.Abandon(false)
			dir.Unlock()
		}
		if err != nil {
			return given, err
		}
	}
	if isOpen && given.Weights != "" {
		if _, err := openWeights(given.Weights); err != nil {
			return given, err
		}
	}
	c, err := chooseMath(ctx, given, o)
	if err == nil {
		c, err = chooseStrategy(ctx, c, o)
	}
	if err == nil || ctx.Err() == nil || !isInterrupt(err) || !given.KeepsCheckpoints() {
		return c, err
	}
	if given.Resume == "" {
		return c, &StoppedError{IsPreempted: errors.Is(context.Cause(ctx), ErrTerminated)}
	}
	dir := rundir.Directory(given.Resume)
	return c, stopped(ctx, given, dir, resumeCommand(dir, o.Origins.FromFlags(given)...), err)
}

// chooseStrategy returns given, complete, with the strategy that is chosen for this run in place of auto.
func chooseStrategy(ctx context.Context, given setting.Config, o *Options) (setting.Config, error) {
	c := given.On(o.Environment).Complete()
	if c.Strategy != setting.Auto {
		return c, nil
	}
	c = c.Reopen(given, o.Origins)
	if o.Meeting != nil {
		return c, setting.Refuse("strategy auto makes short runs first, which another launcher's workers " +
			"cannot join; name a strategy")
	}
	fmt.Fprintln(o.Stderr, "strategy auto: probing the machines")
	chosen, found, err := choose(ctx, c, *o)
	if err == nil && found != nil {
		o.choice = found
		o.Origins = o.Origins.Changed(c, chosen, "chosen by strategy auto")
		tellChoice(*o, found)
	}
	return chosen.On(o.Environment).Complete(), err
}
