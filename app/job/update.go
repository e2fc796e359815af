package job

import (
	"fmt"
	"strings"

	"lockstep/model"
	"lockstep/optim"
	"lockstep/tensor"
)

// updateProblems adds what is wrong with the settings of the update.
func (c Config) updateProblems(add func(name, format string, args ...any)) {
	if _, err := optim.ParseScaleRule(c.ScaleLR); err != nil {
		add("scale-lr", "%q is no rule such as linear,256 or sqrt,256", c.ScaleLR)
	} else if rate := c.rate(); !(rate <= optim.MaxRate) {
		add("scale-lr", "%s makes %v of the learning rate %v, want at most %.4g", c.ScaleLR, rate, c.LR,
			float64(optim.MaxRate))
	}
	if _, err := optim.ParseTriangle(c.Triangle); err != nil {
		add("triangle", "%q is no START,PEAK,END, each from 0 to 1, such as 0.2,0.23,0.07", c.Triangle)
	}
	if c.Schedule == "triangle" && c.Warmup > 0 {
		add("warmup", "the schedule triangle climbs by itself, as --triangle says")
	}
	if err := c.groupProblem(); err != nil {
		add("groups", "%w", err)
	}
	if _, err := optim.ParseLookahead(c.Lookahead); err != nil {
		add("lookahead", "%q is no EVERY,ALPHA or EVERY,ALPHA,POWER such as 5,0.5", c.Lookahead)
	}
	if c.Nesterov && c.Momentum == 0 {
		add("nesterov", "Nesterov's rule needs a momentum above 0")
	}
}

// groupProblem returns why the groups cannot be those of the model's parameters, or nil.
func (c Config) groupProblem() error {
	groups, err := optim.ParseGroups(c.Groups)
	if err != nil || len(groups) == 0 {
		return err
	}
	input := tensor.Shape{32, 32, 3}
	if (model.Catalog{}).ReadsTexts(c.Model) {
		input = tensor.Shape{c.Sequence}
	}
	network, err := model.Named(c.Model, 2, input)
	if err != nil {
		return nil // it needs the shape of the data
	}
	return checkGroups(groups, network)
}

// checkGroups returns an error if a group matches none of the network's parameters.
func checkGroups(groups []optim.Group, network model.Network) error {
	names := network.Parameters()
	if err := optim.CheckGroups(groups, names); err != nil {
		return fmt.Errorf("%w of %s; its parameters are %s", err, network.Name, strings.Join(names, ", "))
	}
	return nil
}

// shardProblems adds what is wrong with sharing out the update.
func (c Config) shardProblems(add func(name, format string, args ...any)) {
	switch {
	case !c.hasShards():
	case c.Strategy != "ddp":
		add("shard-optimizer", "is for --strategy ddp, not %s", c.Strategy)
	case !optim.IsElementwise(c.Optimizer):
		add("shard-optimizer", "%s needs whole tensors, which shares cut; want sgd or adamw", c.Optimizer)
	case c.Clip > 0:
		add("shard-optimizer", "no worker has the whole gradient that --clip takes the norm of")
	case c.Wire == auto || c.hasMemory():
		add("shard-optimizer", "is not for --wire %s, which holds back gradients or is not decided yet",
			c.Wire)
	case c.Algorithm != auto && c.Algorithm != "direct":
		add("shard-optimizer", "exchanges directly, not by --algorithm %s", c.Algorithm)
	}
}

// optimizer returns the update rule's configuration, with the rate for the global batch.
func (c Config) optimizer() (optim.Config, error) {
	rule, err := optim.ParseScaleRule(c.ScaleLR)
	if err != nil {
		return optim.Config{}, err
	}
	groups, err := optim.ParseGroups(c.Groups)
	return optim.Config{Name: c.Optimizer, LR: rule.Apply(c.LR, c.stepBatch()), Momentum: c.Momentum,
		WeightDecay: c.WeightDecay, DecayMatrices: c.Decay == decayMatrices, Groups: groups,
		Nesterov: c.Nesterov}, err
}

// rate returns the learning rate of a step, which the schedule multiplies.
func (c Config) rate() float64 {
	update, _ := c.optimizer() // its error is a problem of Validate's
	return update.LR
}

// stepBatch and stepShards return the samples and the shards of one step. Accumulation makes both as many
// times as large: each batch keeps its shards, which are computed one after the other and added along the
// tree over all of them, so that the order of the sum is that of a large batch in as many shards.
func (c Config) stepBatch() int  { return c.Batch * c.Accumulate }
func (c Config) stepShards() int { return c.Shards * c.Accumulate }

// schedule returns the course of the learning rate.
func (c Config) schedule() (optim.ScheduleConfig, error) {
	triangle, err := optim.ParseTriangle(c.Triangle)
	return optim.ScheduleConfig{Name: c.Schedule, Warmup: c.Warmup, Triangle: triangle}, err
}
