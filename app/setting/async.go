package setting

import (
	"fmt"
	"slices"
	"strconv"

	"lockstep/internal/spelling"
)

// asyncSettings are those of asynchronous updates.
func asyncSettings() []Setting {
	return inGroup("Asynchronous updates",
		staleness(),
		number("backup-workers", "with ps-async: workers whose gradients are not waited for; of each round "+
			"of gradients the last so many are dropped, and their batches computed again", 0, MaxWorkers,
			func(c *Config) *int { return &c.BackupWorkers }).
			unless(ofStrategies("backup-workers")),
		toggle("staleness-rate", "with ps-async: divide the learning rate of an update by its staleness",
			func(c *Config) *bool { return &c.StalenessRate }).
			unless(ofStrategies("staleness-rate")),
		text("replay", "FILE", "with ps-async: make the updates of another run again, in the order of its "+
			"updates.jsonl, to the same bits; with any number of workers and servers",
			func(c *Config) *string { return &c.Replay }).
			unless(ofStrategies("replay")),
	)
}

// staleness is the setting of the bound of asynchronous updates.
func staleness() Setting {
	s := text("staleness", "N", "with ps-async: the most updates that may come between the weights from "+
		"which a gradient was computed and its own update; 0 is the strategy ps, auto four for each worker",
		func(c *Config) *string { return &c.Staleness }).unless(ofStrategies("staleness"))
	s.check = func(c *Config) error {
		if n, err := strconv.Atoi(c.Staleness); c.Staleness != auto && (err != nil || n < 0) {
			return fmt.Errorf("%.80q is no bound; want auto, or a whole number from 0", c.Staleness)
		}
		return nil
	}
	return s
}

// defaultStaleness is the bound for each worker. A worker as many times slower than the others then
// delays nobody.
const defaultStaleness = 4

// StalenessBound returns the largest staleness of an update.
func (c Config) StalenessBound() int {
	n, err := strconv.Atoi(c.Staleness)
	if err != nil {
		return defaultStaleness * c.Workers
	}
	return n
}

// IsAsync reports whether workers compute whole batches and do not wait for each other.
func (c Config) IsAsync() bool { return c.strategy().IsAsync && !c.EvalOnly && c.StalenessBound() > 0 }

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

// ReplaySettings returns the settings, as texts by name, that a replay of c must share with it: those that
// change what an update computes.
func (c Config) ReplaySettings() map[string]string {
	free := append(anew(), "out", "replay", "resume", "trace", "eval-every", "tta")
	texts := map[string]string{"steps": strconv.Itoa(c.Steps), "epochs": strconv.Itoa(c.Epochs), "for": c.For}
	if path, err := c.KernelPath(); err == nil { // an error is a problem of Validate's
		texts["isa"] = path.String()
	}
	if c.GradientWire().IsLossy() {
		free = slices.DeleteFunc(free, func(name string) bool {
			return name == "bucket" || name == "servers"
		})
	}
	rooted := c.Rooted()
	for _, s := range Settings(c.Catalog) {
		if !slices.Contains(free, s.Name) {
			texts[s.Name] = s.format(&rooted)
		}
	}
	return texts
}
