package setting

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"lockstep/app/rundir"
	"lockstep/checkpoint"
	"lockstep/cluster"
	"lockstep/internal/spelling"
)

// fromResume is the origin of values from a checkpoint.
const fromResume = "--resume"

// anew lists the settings that may be changed when a run is resumed. Most do not change the result; the
// exceptions are the length, the device, the kernel path, and with a lossy wire the settings of the exchange.
func anew() []string {
	return []string{"workers", "threads", "strategy", "servers", "server-place", "staleness",
		"backup-workers", "algorithm", "link", "bucket", "overlap-forward", "shard-optimizer",
		"rebalance", "slow-worker", "memory", "insecure", "streams", "master-addr", "master-port", "data-dir",
		"epochs", "steps", "for", "until", "checkpoint-every", "save", "device", "isa"}
}

// resume takes the configuration of the run in folder and applies what was edited in its file, the flags and
// LOCKSTEP_ISA. A line that was edited may say what a flag may.
func (r *resolver) resume(folder string, s Source) error {
	// The run may be older than some settings.
	former := struct{ Config Config }{Default()}
	_, err := rundir.Directory(folder).Newest(&former, func(string) {}) // Run says it
	if err != nil {
		return withoutCheckpoint(folder, err)
	}
	r.config = former.Config
	r.config.Catalog = s.Catalog
	r.config.Out, r.config.Resume = folder, folder
	for _, setting := range r.settings {
		r.origins[setting.Name] = fromResume
	}
	if s.File != "" {
		r.problems = append(r.problems, problem{"--config",
			fmt.Errorf("the configuration comes from the run that is resumed")})
	}
	edited, err := r.edited(folder, s.Note)
	if err != nil {
		return err
	}
	given, places := maps.Clone(s.Flags), map[string]string{}
	for _, e := range edited {
		if _, isGiven := given[e.name]; !isGiven {
			given[e.name], places[e.name] = e.text, e.where
		}
	}
	for name := range given {
		set := r.find(name)
		if name == "resume" || set == nil || slices.Contains(anew(), name) {
			continue
		}
		where, next := "--"+name, "leave it out"
		if place := places[name]; place != "" {
			where, next = pointTo(name, place), "undo the edit"
		}
		r.problems = append(r.problems, problem{where, fmt.Errorf("%.80s, but the run that is resumed has "+
			"%.80s; %s, or begin another run with its weights: --weights %s", given[name],
			cmp.Or(set.text(), "none"), next, folder)})
	}
	slices.SortFunc(r.problems, func(a, b problem) int { return strings.Compare(a.where, b.where) })
	if isa := s.Environment[cluster.EnvISA]; isa != "" {
		r.set("isa", isa, cluster.EnvISA)
	}
	r.reopen(given)
	for _, name := range slices.Sorted(maps.Keys(places)) {
		r.set(name, given[name], places[name])
	}
	return nil
}

// edited returns the lines of the file of the run in folder that do not say what its checkpoint does, if
// someone has edited the file since the run wrote it. A path to what was moved since then is taken at once.
func (r *resolver) edited(folder string, note func(string)) (edited []entry, err error) {
	d := rundir.Directory(folder)
	if !d.IsEdited() {
		return nil, nil
	}
	former := map[string]string{}
	for _, s := range r.settings {
		former[s.Name] = s.text()
	}
	entries, err := entriesOf(d.Path(rundir.ConfigFile), fromResume)
	for _, e := range entries {
		s := r.find(e.name)
		if s == nil || s.set(e.text) != nil {
			edited = append(edited, e)
			continue
		}
		was, is := former[e.name], s.text()
		s.set(was) // which it was read from
		isName := e.name == "data" && !r.config.Datasets().IsPath(is)
		switch {
		case is == was, e.text == auto, !isName && isPathOf(is, was):
		case isMoved(is, was):
			s.set(is)
			r.origins[e.name] = e.where
			if note != nil {
				note(fmt.Sprintf("%s: %s is not there any more, and %s is: the run goes on with it", e.where,
					was, is))
			}
		default:
			edited = append(edited, e)
		}
	}
	return edited, err
}

// isPathOf reports whether text, as it was given somewhere, names the file at an absolute path.
func isPathOf(text, path string) bool {
	if !filepath.IsAbs(path) || filepath.IsAbs(text) {
		return false
	}
	here, err := filepath.Abs(text)
	rest := filepath.ToSlash(filepath.Clean(text))
	for strings.HasPrefix(rest, "../") {
		rest = rest[len("../"):]
	}
	return err == nil && here == path || strings.HasSuffix(filepath.ToSlash(path), "/"+rest)
}

// isMoved reports whether what was at an absolute path is not there any more, and something of its name is
// at another path.
func isMoved(to, from string) bool {
	if !filepath.IsAbs(from) || filepath.Base(to) != filepath.Base(from) {
		return false
	}
	_, gone := os.Stat(from)
	_, failed := os.Stat(to)
	return errors.Is(gone, fs.ErrNotExist) && failed == nil
}

// withoutCheckpoint adds to err, with which no checkpoint was found in folder, what to do.
func withoutCheckpoint(folder string, err error) error {
	none := (*checkpoint.NoneError)(nil)
	if !errors.As(err, &none) || none.Absent != "" || len(none.Tried) > 0 {
		return err
	}
	above := filepath.Dir(filepath.Clean(folder))
	for _, run := range []string{above, filepath.Dir(above)} { // of its folder, or of a checkpoint
		if _, _, failed := rundir.Directory(run).Store().Newest(); failed == nil {
			return fmt.Errorf("%w; the run is in %s: want --resume %s", err, run, spelling.Word(run))
		}
	}
	dir, why := rundir.Directory(folder), "ended before it had written one"
	switch c, failed := ReadFile(dir.Path(rundir.ConfigFile)); {
	case failed != nil:
		return fmt.Errorf("%w; --resume wants the directory of a run", err)
	case !c.KeepsCheckpoints():
		why = "was one without --checkpoint-every"
	case dir.IsGoingOn():
		return fmt.Errorf("%w yet; the run there is going on", err)
	}
	if cause := dir.Cause(); cause != "" {
		why += "; " + cause
	}
	return fmt.Errorf("%w; the run there %s", err, why)
}

// takeHosts decides the number of workers on several hosts, unless it was given: as many as they have slots,
// or when a run is resumed at most as many. It refuses more.
func (r *resolver) takeHosts(s Source) {
	slots := s.Environment.NumSlots()
	if slots == 0 {
		return
	}
	isLimited := s.Environment[cluster.EnvOversubscribe] == ""
	c := &r.config
	if c.Link == linkLocal && r.origins["link"] != fromResume && r.origins["workers"] == "" {
		r.problems = append(r.problems, problem{r.where("link"), errors.New("local keeps all workers in " +
			"one process, on the first host; want shm or tcp, or --workers")})
	}
	switch origin := r.origins["workers"]; {
	case origin == "":
		c.Workers, r.origins["workers"] = min(slots, MaxWorkers), fromRule
	case origin == fromResume:
		if isLimited {
			c.Workers = min(c.Workers, slots)
		}
		if r.origins["link"] == fromResume {
			c.Link = auto // whether two workers share a host may have changed
			delete(r.origins, "link")
		}
		if r.origins["threads"] == fromResume {
			c.Threads = 0
			delete(r.origins, "threads")
		}
	case c.Workers > slots && isLimited && s.Environment[cluster.EnvRestarts] != "":
		c.Workers = slots // a host was lost before the first checkpoint
	case c.Workers > slots && isLimited:
		r.problems = append(r.problems, problem{r.where("workers"), fmt.Errorf("%d, but the hosts have %s; "+
			"want at most as many, more slots, or `lockstep launch --oversubscribe`", c.Workers,
			spelling.Count(slots, "slot"))})
	}
}

// reopen opens the settings that depend on one that was changed.
func (r *resolver) reopen(flags map[string]string) {
	c := &r.config
	has := func(name string) bool { return flags[name] != "" }
	changesWorkers := has("workers") && flags["workers"] != strconv.Itoa(c.Workers)
	if has("steps") || has("epochs") || has("for") {
		c.Steps, c.Epochs, c.For = 0, 0, ""
		for _, name := range []string{"steps", "epochs", "for"} {
			delete(r.origins, name)
		}
	}
	if !changesWorkers && !has("servers") && !has("server-place") {
		return
	}
	c.Threads, c.Link = 0, auto
	delete(r.origins, "threads")
	delete(r.origins, "link")
	if changesWorkers && c.strategy().IsAlone {
		c.Strategy = ""
		delete(r.origins, "strategy")
	}
}

// drop leaves out what the run that is resumed had and its new strategy, number of workers or device has no
// use for, unless it was given anew. Nothing of it changes a result, but for the math of another device.
func (r *resolver) drop() {
	c := &r.config
	for name, isOn := range map[string]*bool{"rebalance": &c.Rebalance,
		"overlap-forward": &c.OverlapForward, "shard-optimizer": &c.ShardOptimizer} {
		if *isOn && r.origins[name] == fromResume && c.Complete().notTaken(name) != "" {
			*isOn = false
			delete(r.origins, name)
		}
	}
	if len(c.SlowWorkers) > 0 && r.origins["slow-worker"] == fromResume {
		c.SlowWorkers = c.SlowWorkers.Below(c.Workers)
		if c.IsOnGPU() {
			c.SlowWorkers = nil
		}
	}
	if r.origins["math"] == fromResume && r.origins["device"] != fromResume {
		*c = c.moved()
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
	for _, s := range rooted.table() {
		if !slices.Contains(free, s.Name) {
			texts[s.Name] = s.text()
		}
	}
	return texts
}
