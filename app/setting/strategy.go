package setting

import (
	"fmt"
	"strings"

	"lockstep/app/strategy"
	"lockstep/comm"
)

// adder adds a problem of the setting called name.
type adder = func(name, format string, args ...any)

// KnownStrategy returns an error that lists the strategies unless name is one of them.
func KnownStrategy(name string) error { return known("strategy", name, strategy.Names()) }

// strategy returns the description of c.Strategy; zero if there is none of this name.
func (c Config) strategy() strategy.Strategy { return strategy.Named(c.Strategy) }

// takes reports whether the strategy of c has the setting.
func (c Config) takes(setting string) bool { return c.strategy().HasSetting(setting) }

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
