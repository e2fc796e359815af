package setting

import (
	"fmt"
	"strings"

	"lockstep/model"
	"lockstep/optim"
	"lockstep/shard"
	"lockstep/tensor"
)

// updateProblems adds the problems of the optimizer and its schedule.
func (c Config) updateProblems(add adder) {
	update := c.UpdateRule()
	switch err := update.Validate(); {
	case update.Nesterov && update.Momentum == 0:
		add("nesterov", "Nesterov's rule needs a momentum above 0")
	case !(update.LR <= optim.MaxRate):
		add("scale-lr", "%v makes %v of the learning rate %v, want at most %.4g", c.ScaleLR, update.LR,
			c.Optimizer.LR, float64(optim.MaxRate))
	case err != nil:
		add("optimizer", "%w", err)
	}
	switch err := c.Schedule.Validate(); {
	case c.Schedule.Name == "triangle" && c.Schedule.Warmup > 0:
		add("warmup", "the schedule triangle climbs by itself, as --triangle says")
	case c.Schedule.Every > 0 && len(c.Schedule.Milestones) > 0:
		add("drop-every", "--milestones say when the rate drops; leave one out")
	case err != nil:
		add("schedule", "%w", err)
	}
	if err := c.groupProblem(); err != nil {
		add("groups", "%w", err)
	}
	if err := c.Lookahead.Validate(); err != nil {
		add("lookahead", "%w", err)
	}
}

// groupProblem returns why the parameter groups do not fit the model, or nil.
func (c Config) groupProblem() error {
	network, err := c.network()
	if err != nil {
		return nil // it needs the shape of the data
	}
	return c.CheckGroups(network)
}

// network returns the network for data of a usual shape. It fails if it needs the shape of the run's data.
func (c Config) network() (model.Network, error) {
	input := tensor.Shape{32, 32, 3}
	if c.Catalog.models().ReadsTexts(c.Model) {
		input = tensor.Shape{c.Sequence}
	}
	return c.Catalog.models().Named(c.Model, 2, input)
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

// OwnShards returns the number of shards of a run that was given none, and reports whether it follows the
// number of workers, so that one worker would have another by default and end with other bits.
func (o Origins) OwnShards(c Config) (shards int, isOwn bool) {
	return c.Shards, o["shards"] == fromRule && c.Shards != c.UsualShards(1) && c.Inexact() == ""
}

// StepBatch returns the samples of one step.
func (c Config) StepBatch() int { return c.Batch * c.Accumulate }

// StepShards returns the shards of one step. Accumulation multiplies batch and shards: the batches are
// computed in turn, each in its own shards, and added along the tree over all shards. So the order of the sum
// is that of one large batch in as many shards.
func (c Config) StepShards() int { return c.Shards * c.Accumulate }
