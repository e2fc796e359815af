package setting

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/cluster"
	"lockstep/optim"
)

// A reason returns why a setting has no effect on a run of c, which is complete; "" if it has one.
type reason func(c Config) string

// unless returns s with why as the reason for having no effect.
func (s Setting) unless(idle reason) Setting {
	s.idle = idle
	return s
}

// Idle returns a line for each setting that has no effect although it was given on the command line or by a
// variable, according to origins. c is complete, as Resolve returns it.
func (c Config) Idle(origins Origins) []string {
	var lines []string
	for _, s := range Settings(c.Catalog) {
		origin := origins[s.Name]
		isGiven := origin == "--"+s.Name || strings.HasPrefix(origin, cluster.EnvTrain)
		if !isGiven {
			continue
		}
		if why := c.whyIdle(s); why != "" {
			lines = append(lines, fmt.Sprintf("%s has no effect: %s", origin, why))
		}
	}
	return lines
}

// whyIdle returns why s has no effect on c; "" if it has one.
func (c Config) whyIdle(s Setting) string {
	if why := c.ofTraining(s.Name); why != "" || s.idle == nil {
		return why
	}
	return s.idle(c)
}

// ownSize: data sets have images of one size, but for those that are scaled or made to it.
func ownSize(c Config) string {
	if c.Catalog.models().ReadsTexts(c.Model) {
		return readsImages(c)
	}
	if c.Catalog.data().IsPath(c.Data) || c.Data == "synthetic" {
		return ""
	}
	return fmt.Sprintf("all images of %s have the same size", c.Data)
}

// hasStems: only resnet50 begins in more than one way.
func hasStems(c Config) string {
	if c.Model == "resnet50" {
		return ""
	}
	return fmt.Sprintf("%s begins in one way", c.Model)
}

// readsImages: a model of texts has no use for what is for images.
func readsImages(c Config) string {
	if c.Catalog.models().ReadsTexts(c.Model) {
		return fmt.Sprintf("%s reads texts", c.Model)
	}
	return ""
}

// readsTexts: a model of images has no use for what is for texts.
func readsTexts(c Config) string {
	if c.Catalog.models().ReadsTexts(c.Model) {
		return ""
	}
	return fmt.Sprintf("%s reads images", c.Model)
}

// hasColumns: only in a file of the user's own is it open which columns are read.
func hasColumns(c Config) string {
	if why := readsTexts(c); why != "" || c.Catalog.data().IsPath(c.Data) {
		return why
	}
	return fmt.Sprintf("the columns of %s are known", c.Data)
}

// exchanges: without an exchange nothing travels.
func exchanges(c Config) string {
	switch {
	case c.Workers == 1 && c.NumServers() == 0:
		return "one worker exchanges nothing"
	case c.IsIsolated():
		return "workers of --strategy none exchange nothing"
	}
	return ""
}

// sharesSteps: what is among several workers, one has no use for, even if it exchanges with servers.
func sharesSteps(c Config) string {
	if why := exchanges(c); why != "" || c.Workers > 1 {
		return why
	}
	return "one worker shares its steps with nobody"
}

// sendsGradients: weights that are averaged have a wire of their own.
func sendsGradients(c Config) string {
	if why := exchanges(c); why != "" || !c.takes("outer-wire") {
		return why
	}
	return fmt.Sprintf("workers of --strategy %s send no gradients; want --outer-wire", c.Strategy)
}

// hasBuckets: not every strategy sends gradients in buckets.
func hasBuckets(c Config) string {
	if why := exchanges(c); why != "" || c.takes("bucket") {
		return why
	}
	return fmt.Sprintf("--strategy %s has no buckets", c.Strategy)
}

// hasAlgorithm: not every strategy leaves the all-reduce open.
func hasAlgorithm(c Config) string {
	if why := exchanges(c); why != "" || c.takes("algorithm") {
		return why
	}
	return fmt.Sprintf("--strategy %s has an algorithm of its own", c.Strategy)
}

// meets: workers of one process need no place to meet.
func meets(c Config) string {
	if c.Link == linkLocal {
		return "workers of one process need no place to meet"
	}
	return ""
}

// hasLinks: workers of one process are not linked by TCP. Whether processes are depends on their hosts too.
func hasLinks(c Config) string {
	if c.Link == linkLocal {
		return "workers of one process are not linked by TCP"
	}
	return ""
}

// evaluates: without test samples there is no evaluation.
func evaluates(c Config) string {
	if c.LimitTest == 0 {
		return "--limit-test 0 leaves nothing to evaluate"
	}
	return ""
}

// hasDecay: what weight decay holds for matters where there is one.
func hasDecay(c Config) string {
	if c.Optimizer.WeightDecay == 0 {
		return "--weight-decay is 0"
	}
	return ""
}

// ofOptimizers: only these update rules have the setting.
func ofOptimizers(names ...string) reason {
	return func(c Config) string {
		if slices.Contains(names, c.Optimizer.Name) {
			return ""
		}
		return fmt.Sprintf("--optimizer %s has none", c.Optimizer.Name)
	}
}

// momentumRules lists the update rules with a momentum.
func momentumRules() []string {
	return slices.DeleteFunc(optim.Names(), func(name string) bool {
		return name == "adamw" || name == "lamb"
	})
}

// ofSchedule: only this schedule has the setting.
func ofSchedule(name string) reason {
	return func(c Config) string {
		if c.Schedule.Name == name {
			return ""
		}
		return fmt.Sprintf("it is for --schedule %s, not %s", name, c.Schedule.Name)
	}
}
