package setting

import (
	"fmt"
	"lockstep/app/strategy"
	"lockstep/comm/shm"
	"lockstep/gradsync"
	"lockstep/model"
	"lockstep/optim"
	"lockstep/shard"
	"lockstep/tensor"
	"lockstep/train"
	"strconv"
	"strings"
)

// KnownStrategy returns an error that lists the strategies unless name is one of them.
func KnownStrategy(name string) error { return known("strategy", name, strategy.Names()) }

// strategy returns the description of c.Strategy; zero if there is none of this name.
func (c Config) strategy() strategy.Strategy { return strategy.Named(c.Strategy) }

// takes reports whether the strategy of c has the setting.
func (c Config) takes(setting string) bool { return c.strategy().HasSetting(setting) }

// defaultStaleness is the bound for each worker. A worker as many times slower than the others then
// delays nobody.
const defaultStaleness = 4

// parseStaleness reads a bound; auto is -1.
func parseStaleness(text string) (int, error) {
	n, err := strconv.Atoi(text)
	switch {
	case text == auto:
		return -1, nil
	case err != nil || n < 0:
		return 0, fmt.Errorf("%.80q is no bound; want auto, or a whole number from 0", text)
	}
	return n, nil
}

// StalenessBound returns the largest staleness of an update.
func (c Config) StalenessBound() int {
	n, err := parseStaleness(c.Staleness)
	if n < 0 || err != nil { // which is a problem of Validate's
		return defaultStaleness * c.Workers
	}
	return n
}

// IsAsync reports whether workers compute whole batches and do not wait for each other.
func (c Config) IsAsync() bool { return c.strategy().IsAsync && !c.EvalOnly && c.StalenessBound() > 0 }

// Averages reports whether workers update their own weights and average them. One worker has nothing to
// average, but DiLoCo's outer optimizer has something to do.
func (c Config) Averages() bool {
	return c.takes("average-every") && !c.EvalOnly && (c.Workers > 1 || c.takes("outer-lr"))
}

// Outer returns the learning rate and the momentum of the outer optimizer. Without one the average
// becomes the weights, which is the rate 1.
func (c Config) Outer() (lr, momentum float64) {
	if !c.takes("outer-lr") {
		return 1, 0
	}
	return c.OuterLR, c.OuterMomentum
}

// balancedShards is the default number of shards of each worker with Rebalance: of four workers, one three
// times slower, 5, 5, 5 and 1 of 16 shards take 5, where 4.8 is ideal.
const balancedShards = 4

// BalancedShards returns the default number of shards of a batch for workers with Rebalance.
func BalancedShards(workers, batch int) int {
	return max(workers, min(balancedShards*workers, batch))
}

// IsBalanced reports whether shards move from slow workers to fast ones.
func (c Config) IsBalanced() bool {
	return c.Rebalance && c.Workers > 1 && !c.EvalOnly
}

// IsLate reports whether gradients are exchanged during the next forward pass.
func (c Config) IsLate() bool { return c.OverlapForward && c.Workers > 1 && !c.EvalOnly }

// HoldsBack reports whether workers keep residuals of error feedback.
func (c Config) HoldsBack() bool {
	return c.GradientWire().HasResiduals() && c.Workers > 1 && !c.IsIsolated()
}

// IsSharded reports whether each worker updates only its shard of the weights.
func (c Config) IsSharded() bool {
	return c.ShardOptimizer && c.Workers > 1 && !c.EvalOnly
}

// IsTuning reports whether the all-reduce is chosen by measuring.
func (c Config) IsTuning() bool { return c.Algorithm == auto && c.takes("algorithm") }

// IsIsolated reports whether workers never exchange anything.
func (c Config) IsIsolated() bool { return c.strategy().IsFloor }

// NumServers returns the number of servers of the run.
func (c Config) NumServers() int {
	if c.EvalOnly || !c.takes("servers") {
		return 0
	}
	return c.Servers
}

// NumApart returns how many servers have a process and a rank of their own.
func (c Config) NumApart() int {
	if c.ServerPlace != apart {
		return 0
	}
	return c.NumServers()
}

// World returns the number of ranks: the workers, and after them the servers that are apart.
func (c Config) World() int { return c.Workers + c.NumApart() }

// ServerRank returns the rank at which server s lives: its own, or that of a worker.
func (c Config) ServerRank(s int) int {
	if c.ServerPlace == apart {
		return c.Workers + s
	}
	return s % c.Workers
}

// NumThreads returns the number of compute threads of all processes. A server apart has one; a server with a
// worker works while that waits for it.
func (c Config) NumThreads() int { return c.Workers*c.Threads + c.NumApart() }

// Inexact returns why the run may end with other bits than one worker on the same shards, as a phrase
// such as "top-k leaves out gradients"; "" if it ends with the same. A wire or a length that is decided
// during the run counts as what it says now.
func (c Config) Inexact() string {
	switch {
	case c.Workers == 1 && c.NumServers() > 0 && c.GradientWire().IsLossy():
		return fmt.Sprintf("the wire %s rounds or drops gradients", c.Wire)
	case c.Workers == 1 || c.EvalOnly:
		return ""
	case c.strategy().Inexact != "" && (!c.strategy().IsAsync || c.IsAsync()):
		return c.strategy().Inexact
	case c.GradientWire().IsLossy():
		return fmt.Sprintf("the wire %s rounds or drops gradients", c.Wire)
	case c.Algorithm == "ring" && c.takes("algorithm"):
		return "the ring adds gradients in an order that depends on the number of workers"
	}
	return ""
}

// GradientWire returns the compression of gradients, or of the averages that the strategy exchanges in
// their place: none if nothing is exchanged.
func (c Config) GradientWire() gradsync.Wire {
	name := c.Wire
	if c.takes("outer-wire") {
		name = c.OuterWire
	}
	w, err := gradsync.ParseWire(name)
	if err != nil || c.EvalOnly {
		return gradsync.Wire{} // Validate refuses an unknown wire
	}
	return w
}

// IsLossy reports whether a wire rounds or drops gradients, so that the result differs from that of one
// worker. For "auto" and for unknown names it returns false.
func IsLossy(wire string) bool {
	return Config{Exchange: Exchange{Wire: wire}}.GradientWire().IsLossy()
}

// IsOneProcess reports whether all workers share one process.
func (c Config) IsOneProcess() bool { return c.Link == linkLocal }

// SharesMemory reports whether workers are processes linked by shared memory.
func (c Config) SharesMemory() bool { return c.Link == linkSHM }

// betweenProcesses returns the link of workers in processes of this host.
func betweenProcesses() string {
	if shm.IsSupported {
		return linkSHM
	}
	return linkTCP
}

// InProcesses returns c with each worker in a process of its own.
func (c Config) InProcesses() Config {
	c.Link = betweenProcesses()
	return c
}

// network returns the network for data of a usual shape. It fails if it needs the shape of the run's data.
func (c Config) network() (model.Network, error) {
	input := tensor.Shape{32, 32, 3}
	if model.IsFile(c.Model) {
		return c.Models().Named(c.Model, 0, nil)
	}
	if c.Models().ReadsTexts(c.Model) {
		input = tensor.Shape{c.Sequence}
	}
	return c.Models().Named(c.Model, 2, input)
}

// CheckGroups returns an error if a group matches none of the network's parameters.
func (c Config) CheckGroups(network model.Network) error {
	if len(c.Optimizer.Groups) == 0 {
		return nil
	}
	names := network.Parameters()
	if err := c.Optimizer.Groups.Check(names); err != nil {
		return fmt.Errorf("%w of %s; its parameters are %s", err, network.Name, strings.Join(names, ", "))
	}
	return nil
}

// UpdateRule returns the optimizer's configuration, with the learning rate scaled to the batch of a step. The
// schedule multiplies this rate.
func (c Config) UpdateRule() optim.Config {
	update := c.Optimizer
	update.LR = c.ScaleLR.Apply(update.LR, c.StepBatch())
	return update
}

// UsualShards returns the default number of shards for so many workers, see [shard.Usual]: it depends on the
// model and the batch, and follows the workers only where those cannot share it. A GPU computes a batch in
// fewest parts fastest, so that there it always follows them.
func (c Config) UsualShards(workers int) int {
	network, err := c.network()
	if err != nil || c.IsOnGPU() {
		return workers
	}
	return shard.Usual(c.Batch, network.LeastShard(), workers)
}

// StepBatch returns the samples of one step.
func (c Config) StepBatch() int { return c.Batch * c.Accumulate }

// StepShards returns the shards of one step. Accumulation multiplies batch and shards: the batches are
// computed in turn, each in its own shards, and added along the tree over all shards. So the order of the sum
// is that of one large batch in as many shards.
func (c Config) StepShards() int { return c.Shards * c.Accumulate }

// NumSteps returns the length in steps for a number of training samples, unless the length is a time.
func (c Config) NumSteps(samples int) int {
	if c.Steps > 0 {
		return c.Steps
	}
	return c.Epochs * c.StepsPerEpoch(samples)
}

// StepsPerEpoch returns the number of steps that see every one of so many samples once.
func (c Config) StepsPerEpoch(samples int) int {
	return (samples + c.StepBatch() - 1) / c.StepBatch()
}

// KeepsCheckpoints reports whether the run writes checkpoints.
func (c Config) KeepsCheckpoints() bool { return c.CheckpointEvery != "" }

// Selection returns how a run with validation samples chooses its weights. Workers that do not share their
// steps choose nothing.
func (c Config) Selection() train.Selection {
	if c.IsIsolated() || c.IsAsync() {
		return train.Selection{}
	}
	return train.Selection{By: train.By(c.BestBy), Patience: c.Patience, Restore: c.RestoreBest}
}

// StopsTogether reports whether a run that is asked to stop goes on until all workers have made the same
// step, because several processes have a part of the checkpoint that is then written.
func (c Config) StopsTogether() bool {
	isApart := c.NumServers() > 0 && !c.IsAsync() || c.IsSharded() || c.HoldsBack() || c.Averages()
	return c.KeepsCheckpoints() && isApart
}
