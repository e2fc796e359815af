package setting

import (
	"slices"
	"strings"

	"lockstep/app/strategy"
	"lockstep/gradsync"
	"lockstep/internal/spelling"
	"lockstep/optim"
)

// outerSettings are those of the strategies that average weights.
func outerSettings() []Setting {
	return inGroup("Averages of weights",
		number("average-every", "with local-sgd and diloco: steps from one average of the weights to the "+
			"next; they are also averaged after each epoch and at the end", 1, maxCount,
			func(c *Config) *int { return &c.AverageEvery }).
			unless(hasOuter("average-every")),
		real("outer-lr", "with diloco: learning rate of the outer optimizer", 10,
			func(c *Config) *float64 { return &c.OuterLR }).
			unless(hasOuter("outer-lr")),
		share("outer-momentum", "with diloco: Nesterov momentum of the outer optimizer, 0 to below 1",
			func(c *Config) *float64 { return &c.OuterMomentum }).
			unless(hasOuter("outer-momentum")),
		choice("outer-wire", "with local-sgd and diloco: compression of what is averaged, the changes of "+
			"the weights since the last average", outerWires(),
			func(c *Config) *string { return &c.OuterWire }).
			unless(hasOuter("outer-wire")),
		number("outer-parts", "with local-sgd and diloco: parts of the weights that are averaged in turn, "+
			"spread over the steps from one average to the next", 1, maxCount,
			func(c *Config) *int { return &c.OuterParts }).
			unless(hasOuter("outer-parts")),
		number("outer-overlap", "with local-sgd and diloco: steps that go on while an average is on its "+
			"way; then the weights move half the way to it", 0, maxCount,
			func(c *Config) *int { return &c.OuterOverlap }).
			unless(hasOuter("outer-overlap")),
	)
}

// outerWires lists the wires of averages: none that keeps residuals or is decided during the run.
func outerWires() []string {
	var names []string
	for _, w := range gradsync.Wires() {
		if w.IsFixed() {
			names = append(names, w.String())
		}
	}
	return names
}

// hasOuter: not every strategy averages weights.
func hasOuter(name string) reason {
	return func(c Config) string {
		if why := c.notTaken(name); why != "" {
			return "it " + why
		}
		return ""
	}
}

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
