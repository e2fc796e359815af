package setting

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lockstep/cluster"
)

// Idle returns a line for each setting that has no effect although it was given on the command line or by a
// variable, according to origins. c is complete, as Resolve returns it.
func (c Config) Idle(origins Origins) []string {
	var lines []string
	for _, s := range c.table() {
		origin := origins[s.Name]
		isGiven := origin == "--"+s.Name || strings.HasPrefix(origin, cluster.EnvTrain)
		if why := c.whyIdle(s); isGiven && why != "" {
			lines = append(lines, fmt.Sprintf("%s has no effect: %s", origin, why))
		}
	}
	return lines
}

// whyIdle returns why a setting of c's table has no effect; "" if it has one.
func (c Config) whyIdle(s Setting) string {
	if c.EvalOnly && !c.isEvaluated(s.Name) {
		return "--eval-only trains nothing"
	}
	return s.idle
}

// isEvaluated reports whether a run with EvalOnly reads or refuses the setting of a name. All others are of
// training.
func (c Config) isEvaluated(name string) bool {
	switch name {
	case "strategy": // all workers of none evaluate all samples
		return c.IsIsolated()
	case "batch", "shards": // a GPU evaluates as many samples at once as a shard has
		return c.Device != DeviceCPU
	}
	return slices.Contains(strings.Fields(`model stem data data-dir size vocab sequence text-column
		pair-column label-column limit-test weights fresh-head normalize eval-only tta workers threads
		link insecure streams slow-worker master-addr master-port device isa math until out
		checkpoint-every resume trace`), name)
}

// unless returns why a setting has no effect; "" if it is used.
func unless(isUsed bool, why string, args ...any) string {
	if isUsed {
		return ""
	}
	return fmt.Sprintf(why, args...)
}

func (c Config) readsTexts() bool { return c.Models().ReadsTexts(c.Model) }

func (c Config) whyNoImages() string { return unless(!c.readsTexts(), "%s reads texts", c.Model) }
func (c Config) whyNoTexts() string  { return unless(c.readsTexts(), "%s reads images", c.Model) }

// whyOneSize: data sets have images of one size, but for those that are scaled or made to it.
func (c Config) whyOneSize() string {
	hasSizes := c.Datasets().IsPath(c.Data) || c.Data == "synthetic"
	return cmp.Or(c.whyNoImages(), unless(hasSizes, "all images of %s have the same size", c.Data))
}

// whyNoColumns: only in a file of the user's own is it open which columns are read.
func (c Config) whyNoColumns() string {
	return cmp.Or(c.whyNoTexts(), unless(c.Datasets().IsPath(c.Data), "the columns of %s are known", c.Data))
}

func (c Config) whyNoEvaluation() string {
	return unless(c.LimitTest != 0, "--limit-test 0 leaves nothing to evaluate")
}

func (c Config) whyNoMeeting() string {
	return unless(c.Link != linkLocal, "workers of one process need no place to meet")
}

// whyAlone returns why nothing travels.
func (c Config) whyAlone() string {
	return cmp.Or(unless(c.Workers > 1 || c.NumServers() > 0, "one worker exchanges nothing"),
		unless(!c.IsIsolated(), "workers of --strategy none exchange nothing"))
}

// whyNoSharing: what is among several workers, one has no use for, even if it exchanges with servers.
func (c Config) whyNoSharing() string {
	return cmp.Or(c.whyAlone(), unless(c.Workers > 1, "one worker shares its steps with nobody"))
}

// whyNoGradients: weights that are averaged have a wire of their own.
func (c Config) whyNoGradients() string {
	return cmp.Or(c.whyAlone(), unless(!c.takes("outer-wire"),
		"workers of --strategy %s send no gradients; want --outer-wire", c.Strategy))
}

// whyNoExchange: not every strategy that exchanges leaves a setting open; why is said of the others.
func (c Config) whyNoExchange(setting, why string) string {
	return cmp.Or(c.whyAlone(), unless(c.takes(setting), "--strategy %s %s", c.Strategy, why))
}

// whyNotTaken: only some strategies have the setting.
func (c Config) whyNotTaken(setting string) string {
	return unless(c.takes(setting), "it %s", c.notTaken(setting))
}

// whyNoMomentum and whyNoMoments: update rules have the one, the others, or muon's both.
func (c Config) whyNoMomentum() string {
	return unless(c.Optimizer.Name != "adamw" && c.Optimizer.Name != "lamb", "--optimizer %s has none",
		c.Optimizer.Name)
}

func (c Config) whyNoMoments() string {
	return unless(slices.Contains([]string{"adamw", "lamb", "muon"}, c.Optimizer.Name),
		"--optimizer %s has none", c.Optimizer.Name)
}

func (c Config) whyNotScheduled(name string) string {
	return unless(c.Schedule.Name == name, "it is for --schedule %s, not %s", name, c.Schedule.Name)
}
