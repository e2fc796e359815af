package setting

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/comm"
)

// Strategy is a value of --strategy: a way for workers to train together.
type Strategy struct {
	Name  string
	Usage string // what it does, for the help text
	// Inexact is why several workers may end with other bits than one, whatever the wire; "" if they do not.
	Inexact string

	takes []string                  // settings that are not for every strategy, but for this one
	check func(c Config, add adder) // adds what else a complete configuration gets wrong; nil: nothing
}

// adder adds a problem of the setting called name.
type adder = func(name, format string, args ...any)

// Strategies returns all strategies in the order of the help text. One that needs more than a line here has
// a file of its own.
func Strategies() []Strategy {
	return slices.Concat([]Strategy{
		{Name: single, takes: []string{"adaptive-batch"}, Usage: "one worker", check: wantsOneWorker},
		{Name: "gather-scatter", takes: []string{"rebalance", "adaptive-batch"},
			Usage: "rank 0 gathers and adds the gradients after the backward pass, and scatters the sum"},
		{Name: "all-reduce", takes: []string{"algorithm", "rebalance", "adaptive-batch"},
			Usage: "gradients are all-reduced after the backward pass, one parameter at a time"},
		{Name: "ddp",
			takes: []string{"algorithm", "bucket", "tune-bucket", "overlap-forward", "shard-optimizer",
				"rebalance", "adaptive-batch"},
			Usage: "gradients are all-reduced in buckets during the backward pass"},
		parameterServer(), asynchronous(),
	}, averaging(), []Strategy{
		{Name: Auto, takes: []string{"algorithm", "bucket"}, check: wantsExact,
			Usage: "a few seconds of short runs find the exact strategy with the shortest step"},
		{Name: none, Inexact: "workers never exchange gradients",
			Usage: "workers never exchange; a lower bound of the step time"},
	})
}

// strategies lists the names of all strategies.
func strategies() []string {
	var names []string
	for _, s := range Strategies() {
		names = append(names, s.Name)
	}
	return names
}

// KnownStrategy returns an error that lists the strategies unless name is one of them.
func KnownStrategy(name string) error { return known("strategy", name, strategies()) }

// strategy returns the description of c.Strategy; zero if there is none of this name.
func (c Config) strategy() Strategy {
	for _, s := range Strategies() {
		if s.Name == c.Strategy {
			return s
		}
	}
	return Strategy{}
}

// takes reports whether the strategy of c has the setting.
func (c Config) takes(setting string) bool { return slices.Contains(c.strategy().takes, setting) }

// notTaken says which strategies have a setting that c's has not; "" if it has it.
func (c Config) notTaken(setting string) string {
	if c.takes(setting) {
		return ""
	}
	var names []string
	for _, s := range Strategies() {
		if slices.Contains(s.takes, setting) {
			names = append(names, s.Name)
		}
	}
	return fmt.Sprintf("is for --strategy %s, not %s", strings.Join(names, " or "), c.Strategy)
}

// strategyProblems adds what the strategy refuses.
func (c Config) strategyProblems(add adder) {
	if check := c.strategy().check; check != nil {
		check(c, add)
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

func wantsOneWorker(c Config, add adder) {
	if c.Workers > 1 {
		add("strategy", "single is for one worker, not %d; try ddp, or none for workers that never exchange",
			c.Workers)
	}
}
