package setting

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/app/strategy"
	"lockstep/comm"
	"lockstep/gradsync"
	"lockstep/internal/spelling"
	"lockstep/optim"
)

// notTaken says which strategies have a setting that c's has not; "" if it has it.
func (c Config) notTaken(setting string) string {
	if c.takes(setting) {
		return ""
	}
	return fmt.Sprintf("is for --strategy %s, not %s", strings.Join(strategy.Taking(setting), " or "),
		c.Strategy)
}

// strategyProblems adds what the strategy refuses.
func (c Config) strategyProblems(add adder) {
	switch s := c.strategy(); {
	case s.IsAlone && c.Workers > 1:
		add("strategy", "%s is for one worker, not %d; try %s, or %s for workers that never exchange", s.Name,
			c.Workers, strategy.DDP, strategy.None)
	case s.Name == Auto:
		wantsExact(c, add)
	case s.Exchange == strategy.Updates:
		serverProblems(c, add)
		asyncProblems(c, add)
	case s.Exchange == strategy.Averages:
		checkOuter(c, add)
	}
}

// wantsExact refuses what makes every strategy inexact, so that there is nothing to choose from.
func wantsExact(c Config, add adder) {
	if w := c.GradientWire(); w.IsLossy() || w.IsAuto() {
		add("strategy", "auto chooses among exact strategies, which none is with --wire %s; name one", c.Wire)
	}
	if !comm.IsExact(c.Algorithm) && c.Algorithm != auto {
		add("strategy", "auto chooses among exact strategies, which none is with --algorithm %s; name one",
			c.Algorithm)
	}
}

// serverProblems adds what no strategy with servers can do.
func serverProblems(c Config, add adder) {
	if n, ok := c.numParameters(); ok && c.Servers > n {
		add("servers", "%d are more than the %s of %s; want at most %d", c.Servers,
			spelling.Count(n, "parameter"), c.Model, n)
	}
	wire := c.GradientWire()
	switch {
	case !wire.IsServable():
		add("wire", "%s is not for --strategy %s; want a codec such as --wire bf16, or top-k", wire,
			c.Strategy)
	case wire.HasResiduals() && c.KeepsCheckpoints():
		add("checkpoint-every", "no checkpoint of --strategy %s has the gradients that --wire %s holds "+
			"back; want a codec such as --wire bf16, or --strategy ddp", c.Strategy, wire)
	case c.Clip > 0 && c.Servers > 1 && !c.IsAsync():
		add("clip", "no server has the whole gradient that it takes the norm of; want --servers 1")
	case c.Lookahead.Every > 0:
		add("lookahead", "it moves the weights of workers, and the servers of --strategy %s have their "+
			"own; want --strategy ddp", c.Strategy)
	}
}

// asyncProblems adds what asynchronous updates refuse.
func asyncProblems(c Config, add adder) {
	if !c.strategy().IsAsync {
		return
	}
	least := c.Workers - c.BackupWorkers - 1
	switch {
	case c.BackupWorkers >= c.Workers:
		add("backup-workers", "%d of %s leave none to wait for; want at most %d", c.BackupWorkers,
			spelling.Count(c.Workers, "worker"), c.Workers-1)
	case !c.IsAsync() && (c.BackupWorkers > 0 || c.StalenessRate || c.Replay != ""):
		add("staleness", "with 0 all workers wait for each other, so there are no backup workers, stale "+
			"rates or replays; want 1 or more")
	case c.BackupWorkers > 0 && c.StalenessBound() < least:
		add("staleness", "a round of %d gradients, with %s, needs %d or more", least+1,
			spelling.Count(c.BackupWorkers, "backup worker"), least)
	}
	if !c.IsAsync() {
		return
	}
	if c.Replay != "" && c.GradientWire().HasResiduals() {
		add("replay", "what --wire %s holds back is not recorded", c.Wire)
	}
	if c.Clip > 0 {
		add("clip", "not for --strategy %s, whose gradients are sent before their norm is known; want "+
			"--clip 0, or --strategy ps --servers 1", c.Strategy)
	}
	if c.EMA > 0 {
		add("ema", "not for --strategy %s: no worker has the weights after every update; want --ema 0, or "+
			"--strategy ps", c.Strategy)
	}
}

// replayProblems refuses to replay with a strategy that makes no updates in an order of its own. A run
// that is resumed has what it replayed behind it.
func (c Config) replayProblems(add adder) {
	if c.Replay != "" && c.Resume == "" && !c.EvalOnly && !c.takes("replay") {
		add("replay", "%s", c.notTaken("replay"))
	}
}

// checkOuter adds the problems of the strategies that average weights.
func checkOuter(c Config, add adder) {
	if c.OuterParts > c.AverageEvery {
		add("outer-parts", "%s cannot take turns in %s; want at most %d, or a greater --average-every",
			spelling.Count(c.OuterParts, "part"), spelling.Count(c.AverageEvery, "step"), c.AverageEvery)
	}
	if c.OuterOverlap >= c.AverageEvery {
		add("outer-overlap", "an average that is %s on its way would meet the next, after %s; want at most "+
			"%d, or a greater --average-every", spelling.Count(c.OuterOverlap, "step"),
			spelling.Count(c.AverageEvery, "step"), c.AverageEvery-1)
	}
	if lr, _ := c.Outer(); lr == 0 {
		add("outer-lr", "0 would undo all updates at each average; want more than 0")
	}
	_, momentum := c.Outer()
	isFrozen := func(g optim.Group) bool { return g.Steps > 0 }
	if momentum > 0 && slices.ContainsFunc(c.Optimizer.Groups, isFrozen) {
		add("groups", "--outer-momentum would go on to move what a group freezes after some steps; want 0")
	}
	if c.EMA > 0 {
		add("ema", "follows the weights of one worker, which --strategy %s replaces by averages", c.Strategy)
	}
	if c.Lookahead.Every > 0 {
		add("lookahead", "has slow weights of one worker; --strategy %s has them for all workers",
			strings.Join(strategy.Taking("outer-lr"), " or "))
	}
	w, err := gradsync.ParseWire(c.OuterWire)
	if err == nil {
		err = w.Check(c.Algorithm)
	}
	if err != nil {
		add("outer-wire", "%w", err)
	}
}

// wireProblem returns why the wire cannot be used, or nil.
func (c Config) wireProblem() error {
	w, err := gradsync.ParseWire(c.Wire)
	if err != nil || !c.takes("algorithm") || c.takes("outer-wire") {
		return err
	}
	return w.Check(c.Algorithm)
}

// overlapProblems adds the problems of OverlapForward.
func (c Config) overlapProblems(add adder) {
	switch {
	case !c.IsLate():
	case !c.takes("overlap-forward"):
		add("overlap-forward", "%s", c.notTaken("overlap-forward"))
	case c.Clip > 0:
		add("overlap-forward", "no weight can change before --clip has the norm of the whole gradient")
	case c.ShardOptimizer:
		add("overlap-forward", "--shard-optimizer has the weights come behind the next forward pass already")
	case !c.GradientWire().IsFixed():
		add("overlap-forward", "is not for --wire %s, which holds back gradients or is not decided yet",
			c.Wire)
	}
}

// balanceProblems adds the problems of Rebalance.
func (c Config) balanceProblems(add adder) {
	switch wire := c.GradientWire(); {
	case !c.IsBalanced():
	case !c.takes("rebalance"):
		add("rebalance", "%s", c.notTaken("rebalance"))
	case wire.IsAuto() || wire.IsLossy():
		add("rebalance", "changes no result, but with --wire %s the sums would depend on who has which "+
			"shards; want a lossless wire", c.Wire)
	case c.takes("algorithm") && !comm.IsExact(c.Algorithm):
		add("rebalance", "changes no result, but the sums of --algorithm %s depend on who has which shards; "+
			"want another", c.Algorithm)
	}
}

// shardProblems adds the problems of ShardOptimizer.
func (c Config) shardProblems(add adder) {
	switch {
	case !c.IsSharded():
	case !c.takes("shard-optimizer"):
		add("shard-optimizer", "%s", c.notTaken("shard-optimizer"))
	case !optim.IsElementwise(c.Optimizer.Name):
		add("shard-optimizer", "%s needs whole tensors, which shares cut; want sgd or adamw",
			c.Optimizer.Name)
	case c.Clip > 0:
		add("shard-optimizer", "no worker has the whole gradient that --clip takes the norm of")
	case !c.GradientWire().IsFixed():
		add("shard-optimizer", "is not for --wire %s, which holds back gradients or is not decided yet",
			c.Wire)
	case c.Algorithm != auto && c.Algorithm != "direct":
		add("shard-optimizer", "exchanges directly, not by --algorithm %s", c.Algorithm)
	}
}
