package setting

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"lockstep/app/rundir"
	"lockstep/checkpoint"
	"lockstep/cluster"
	"lockstep/internal/spelling"
)

// fromResume is the origin of values from a checkpoint.
const fromResume = "--resume"

// anew lists the settings that may be changed when a run is resumed. Most do not change the result; the
// exceptions are the length, the device, the kernel path, and with a lossy wire the settings of the exchange.
// The data may be elsewhere, but its samples have to be the same.
func anew() []string {
	return []string{"workers", "threads", "strategy", "servers", "server-place", "staleness",
		"backup-workers", "algorithm", "link", "bucket", "overlap-forward", "shard-optimizer",
		"rebalance", "slow-worker", "slow-loader", "memory", "insecure", "streams", "socket-buffer",
		"master-addr", "master-port", "data", "data-dir", "vocab", "validation", "class-weights",
		"class-shares", "epochs", "steps", "for", "until", "patience", "checkpoint-every", "save", "device",
		"isa"}
}

// resume takes the configuration of the run in folder, and refuses flags that it cannot be resumed with.
func (r *resolver) resume(folder string, s Source) error {
	// The run may be older than some settings.
	former := struct{ Config Config }{Default()}
	_, err := rundir.Directory(folder).Newest(&former, func(string) {}) // Run says it
	if none := (*checkpoint.NoneError)(nil); errors.As(err, &none) && none.Absent == "" &&
		len(none.Tried) == 0 {
		return fmt.Errorf("%w; --resume wants the directory of a run that had --checkpoint-every", err)
	}
	if err != nil {
		return err
	}
	r.config = former.Config
	r.config.Catalog = s.Catalog
	r.config.Out, r.config.Resume = folder, folder
	for _, setting := range r.settings {
		r.origins[setting.Name] = fromResume
	}
	if s.File != "" {
		r.refuse("--config", "the configuration comes from the run that is resumed")
	}
	if rundir.Directory(folder).IsEdited() {
		r.refuse(rundir.ConfigFile, "edited since the run wrote it, but a resumed run has the settings of "+
			"its checkpoint; undo the edit or remove the file, and give as flags what may change, or begin "+
			"another run with its weights: --weights %s", folder)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Flags)) {
		if set := r.find(name); set != nil && name != "resume" && !slices.Contains(anew(), name) {
			r.refuse("--"+name, "%.80s, but the run that is resumed has %.80s; leave it out, or begin "+
				"another run with its weights: --weights %s", s.Flags[name], cmp.Or(set.text(), none), folder)
		}
	}
	if isa := s.Environment[cluster.EnvISA]; isa != "" {
		r.set("isa", isa, cluster.EnvISA)
	}
	r.reopen(s.Flags)
	return nil
}

// takeHosts decides the number of workers on several hosts, unless it was given: as many as they have slots,
// or when a run is resumed at most as many. It refuses more.
func (r *resolver) takeHosts(s Source) {
	slots := s.Environment.NumSlots()
	if slots == 0 {
		return
	}
	c := &r.config
	if c.Link == linkLocal && r.origins["link"] != fromResume && r.origins["workers"] == "" {
		r.refuse(r.where("link"), "local keeps all workers in one process, on the first host; want shm or "+
			"tcp, or --workers")
	}
	switch origin := r.origins["workers"]; {
	case origin == "":
		c.Workers, r.origins["workers"] = min(slots, MaxWorkers), fromRule
	case origin == fromResume:
		c.Workers = min(c.Workers, slots)
		for _, name := range []string{"link", "threads"} { // two workers may now be on hosts of their own
			if r.origins[name] == fromResume {
				r.open(name)
			}
		}
	case c.Workers > slots && s.Environment[cluster.EnvRestarts] != "":
		c.Workers = slots // a host was lost before the first checkpoint
	case c.Workers > slots:
		r.refuse(r.where("workers"), "%d, but the hosts have %s; want at most as many, or more slots",
			c.Workers, spelling.Count(slots, "slot"))
	}
}

// open gives settings their defaults again, as if nobody had given them.
func (r *resolver) open(names ...string) {
	initial := newResolver(nil)
	for _, name := range names {
		r.find(name).set(initial.find(name).text())
		delete(r.origins, name)
	}
}

// reopen opens the settings that depend on one that was changed.
func (r *resolver) reopen(flags map[string]string) {
	has := func(name string) bool { return flags[name] != "" }
	changesWorkers := has("workers") && flags["workers"] != strconv.Itoa(r.config.Workers)
	if has("steps") || has("epochs") || has("for") {
		r.open("steps", "epochs", "for")
	}
	if changesWorkers || has("servers") || has("server-place") {
		r.open("threads", "link")
	}
	if changesWorkers && r.config.strategy().IsAlone {
		r.open("strategy")
	}
}

// drop leaves out what the run that is resumed had and its new strategy, number of workers or device has no
// use for, unless it was given anew. Nothing of it changes a result, but for the math of another device.
func (r *resolver) drop() {
	if r.config.Resume == "" {
		return
	}
	c := r.config.Complete()
	for _, name := range c.extras() {
		if r.origins[name] == fromResume && !c.takes(name) {
			r.open(name)
		}
	}
	if r.origins["slow-worker"] == fromResume {
		r.config.SlowWorkers = c.SlowWorkers.Below(c.Workers)
	}
	if r.origins["device"] != fromResume && r.origins["math"] == fromResume {
		r.config = r.config.Placed(c.Device)
	}
}

// ReplaySettings returns the settings, as texts by name, that a replay of c must share with it: those that
// change what an update computes.
func (c Config) ReplaySettings() map[string]string {
	free := append(anew(), "out", "replay", "resume", "trace", "eval-every", "tta", "resident")
	texts := map[string]string{"steps": strconv.Itoa(c.Steps), "epochs": strconv.Itoa(c.Epochs), "for": c.For}
	if c.GradientWire().IsLossy() {
		free = slices.DeleteFunc(free, func(name string) bool {
			return name == "bucket" || name == "servers"
		})
	}
	rooted := c.Rooted()
	for _, s := range rooted.table() {
		if !slices.Contains(free, s.Name) {
			texts[s.Name] = s.text()
		}
	}
	return texts
}
