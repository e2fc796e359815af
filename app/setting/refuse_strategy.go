package setting

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/app/strategy"
	"lockstep/cluster"
	"lockstep/comm"
	"lockstep/gradsync"
	"lockstep/internal/spelling"
	"lockstep/optim"
)

// takers says which strategies have a setting that c's lacks.
func (c Config) takers(setting string) string {
	return fmt.Sprintf("is for --strategy %s, not %s", strings.Join(strategy.Taking(setting), " or "),
		c.Strategy)
}

// Idle returns a line for each setting that was given on the command line or by a variable, according to
// origins, and that the strategy lacks. c is complete, as Resolve returns it.
func (c Config) Idle(origins Origins) (lines []string) {
	for _, s := range c.table() {
		origin := origins[s.Name]
		isGiven := origin == "--"+s.Name || strings.HasPrefix(origin, cluster.EnvTrain)
		if isGiven && len(strategy.Taking(s.Name)) > 0 && !c.takes(s.Name) {
			lines = append(lines, fmt.Sprintf("%s has no effect: it %s", origin, c.takers(s.Name)))
		}
	}
	return lines
}

// extras lists what is on of that which shapes an update and only some strategies have.
func (c Config) extras() (names []string) {
	for _, s := range []struct {
		name string
		isOn bool
	}{{"overlap-forward", c.IsLate()}, {"shard-optimizer", c.IsSharded()}, {"rebalance", c.IsBalanced()},
		{"replay", c.Replay != "" && c.Resume == "" && !c.EvalOnly}} {
		if s.isOn {
			names = append(names, s.name)
		}
	}
	return names
}

// checkStrategy refuses what the strategy lacks, or cannot do with others.
func (c Config) checkStrategy(refuse refuser) {
	s, wire := c.strategy(), c.GradientWire()
	refuse(s.IsAlone && c.Workers > 1, "strategy", "%s is for one worker, not %d; try %s, or %s for workers "+
		"that never exchange", s.Name, c.Workers, strategy.DDP, strategy.None)
	refuse(s.Name == Auto && (wire.IsLossy() || wire.IsAuto()), "strategy", "auto chooses among exact "+
		"strategies, which none is with --wire %s; name one", c.Wire)
	refuse(s.Name == Auto && !comm.IsExact(c.Algorithm), "strategy", "auto chooses among exact "+
		"strategies, which none is with --algorithm %s; name one", c.Algorithm)
	for _, name := range c.extras() {
		refuse(!c.takes(name), name, "%s", c.takers(name))
	}
	hasOwn := s.Exchange == strategy.Updates || s.Exchange == strategy.Averages
	refuse(hasOwn && c.Lookahead.Every > 0, "lookahead", "moves the weights of workers, and --strategy %s "+
		"keeps others beside them; want --strategy ddp", c.Strategy)
	refuse((c.IsAsync() || s.Exchange == strategy.Averages) && c.EMA > 0, "ema", "follows the weights of "+
		"one worker, and with --strategy %s none has those after every update; want --ema 0", c.Strategy)
	if w, err := gradsync.ParseWire(c.Wire); c.takes("algorithm") && !c.takes("outer-wire") {
		if err == nil {
			err = w.Check(c.Algorithm)
		}
		refuse(err != nil, "wire", "%w", err)
	}
}

// checkServers refuses what no strategy with servers can do.
func (c Config) checkServers(refuse refuser) {
	if c.strategy().Exchange != strategy.Updates {
		return
	}
	wire := c.GradientWire()
	refuse(!wire.IsServable(), "wire", "%s is not for --strategy %s; want a codec such as --wire bf16, or "+
		"top-k", wire, c.Strategy)
	refuse(wire.HasResiduals() && c.KeepsCheckpoints(), "checkpoint-every", "no checkpoint of --strategy %s "+
		"has the gradients that --wire %s holds back; want a codec such as --wire bf16, or --strategy ddp",
		c.Strategy, wire)
}

// checkAsync refuses what asynchronous updates do not allow.
func (c Config) checkAsync(refuse refuser) {
	if !c.strategy().IsAsync {
		return
	}
	least := c.Workers - c.BackupWorkers - 1
	refuse(least < 0, "backup-workers", "%d of %s leave none to wait for; want at most %d", c.BackupWorkers,
		spelling.Count(c.Workers, "worker"), c.Workers-1)
	refuse(!c.IsAsync() && (c.BackupWorkers > 0 || c.StalenessRate || c.Replay != ""), "staleness", "with 0 "+
		"all workers wait for each other, so there are no backup workers, stale rates or replays; want 1 or "+
		"more")
	refuse(c.IsAsync() && c.BackupWorkers > 0 && c.StalenessBound() < least, "staleness", "a round of %d "+
		"gradients, with %s, needs %d or more", least+1, spelling.Count(c.BackupWorkers, "backup worker"),
		least)
	refuse(c.IsAsync() && c.Replay != "" && c.GradientWire().HasResiduals(), "replay", "what --wire %s "+
		"holds back is not recorded", c.Wire)
}

// checkAverages refuses what averages of weights do not allow.
func (c Config) checkAverages(refuse refuser) {
	if c.strategy().Exchange != strategy.Averages {
		return
	}
	refuse(c.OuterParts > c.AverageEvery, "outer-parts", "%s cannot take turns in %s; want at most %d, or a "+
		"greater --average-every", spelling.Count(c.OuterParts, "part"),
		spelling.Count(c.AverageEvery, "step"), c.AverageEvery)
	refuse(c.OuterOverlap >= c.AverageEvery, "outer-overlap", "an average that is %s on its way would meet "+
		"the next, after %s; want at most %d, or a greater --average-every",
		spelling.Count(c.OuterOverlap, "step"), spelling.Count(c.AverageEvery, "step"), c.AverageEvery-1)
	lr, momentum := c.Outer()
	refuse(lr == 0, "outer-lr", "0 would undo all updates at each average; want more than 0")
	isFrozen := func(g optim.Group) bool { return g.Steps > 0 }
	refuse(momentum > 0 && slices.ContainsFunc(c.Optimizer.Groups, isFrozen), "groups", "--outer-momentum "+
		"would go on to move what a group freezes after some steps; want 0")
	w, err := gradsync.ParseWire(c.OuterWire)
	if err == nil {
		err = w.Check(c.Algorithm)
	}
	refuse(err != nil, "outer-wire", "%w", err)
}

// partial names the setting for which nobody has the whole gradient before it is used; "": none.
func (c Config) partial() string {
	switch {
	case c.IsSharded():
		return "--shard-optimizer"
	case c.IsLate():
		return "--overlap-forward"
	case c.IsAsync():
		return "--strategy " + c.Strategy
	case c.NumServers() > 1:
		return fmt.Sprintf("--servers %d", c.Servers)
	}
	return ""
}

// checkShared refuses what workers cannot do that share an update or their shards.
func (c Config) checkShared(refuse refuser) {
	wire, partial := c.GradientWire(), c.partial()
	refuse(c.Clip > 0 && partial != "", "clip", "nobody has the whole gradient, of which it takes the norm, "+
		"with %s; leave one out", partial)
	for _, name := range c.extras() {
		refuse(name != "rebalance" && name != "replay" && !wire.IsFixed(), name, "is not for --wire %s, "+
			"which holds back gradients or is not decided yet", c.Wire)
	}
	refuse(c.IsLate() && c.ShardOptimizer, "overlap-forward", "--shard-optimizer has the weights come "+
		"behind the next forward pass already")
	refuse(c.IsSharded() && !optim.IsElementwise(c.Optimizer.Name), "shard-optimizer", "%s needs whole "+
		"tensors, which shares cut; want sgd or adamw", c.Optimizer.Name)
	refuse(c.IsSharded() && c.Algorithm != auto && c.Algorithm != "direct", "shard-optimizer", "exchanges "+
		"directly, not by --algorithm %s", c.Algorithm)
	const moves = "changes no result, but with %s the sums would depend on who has which shards"
	refuse(c.IsBalanced() && (wire.IsAuto() || wire.IsLossy()), "rebalance", moves, "--wire "+c.Wire)
	refuse(c.IsBalanced() && c.takes("algorithm") && !comm.IsExact(c.Algorithm), "rebalance", moves,
		"--algorithm "+c.Algorithm)
}
