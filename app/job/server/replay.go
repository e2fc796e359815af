package server

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/app/strategy"
	"lockstep/ps"
)

// CheckReplay refuses to repeat the updates of another run, of a part of one, or of a damaged file.
func CheckReplay(c setting.Config) error {
	if c.Replay == "" || !c.IsAsync() {
		return nil
	}
	o, updates, err := rundir.ReadUpdates(c.Replay)
	if err != nil {
		return setting.Refuse("--replay: %v; want the updates.jsonl of a run with --strategy %s", err,
			strings.Join(strategy.Taking("replay"), " or "))
	}
	own := c.ReplaySettings()
	for _, name := range slices.Sorted(maps.Keys(own)) {
		if own[name] != o.Settings[name] {
			return setting.Refuse("--replay: %s is of another run: its %s is %.80q, here it is %.80q%s",
				c.Replay, name, o.Settings[name], own[name], wanted(name, o.Settings[name]))
		}
	}
	if err := checkUpdates(updates, o.Steps); err != nil {
		return setting.Refuse("--replay: %s %v", c.Replay, err)
	}
	l := ps.LedgerConfig{Workers: c.Workers, PerEpoch: o.PerEpoch}
	repeat(&l, o, updates)
	if err := l.Validate(); err != nil {
		return setting.Refuse("--replay: %s is damaged: %v", c.Replay, err)
	}
	return nil
}

// wanted names the flag that makes a setting that of the file; "" if none has to be given for it.
func wanted(name, text string) string {
	if text == "" || text == "0" {
		return ""
	}
	return fmt.Sprintf("; want --%s=%s", name, text)
}

// checkUpdates returns an error unless the updates are all those of an asynchronous run of so many steps, in
// their order; 0 steps: of any number.
func checkUpdates(updates []record.Update, steps int) error {
	next, lacks := 0, error(nil)
	for _, u := range updates {
		switch {
		case u.Update < next:
			return fmt.Errorf("is damaged: update %d comes where %d or a later one must", u.Update, next)
		case u.Update-u.Version != u.Staleness:
			return fmt.Errorf("is damaged: update %d of version %d has staleness %d, want %d", u.Update,
				u.Version, u.Staleness, u.Update-u.Version)
		case u.Update > next && lacks == nil:
			lacks = fmt.Errorf("lacks updates %d to %d, which another strategy made or the file has lost; "+
				"only a run that was asynchronous throughout can be replayed", next, u.Update-1)
		}
		next = u.Update + 1
	}
	switch {
	case lacks != nil:
		return lacks
	case steps > 0 && next < steps:
		return fmt.Errorf("has %d of the %d updates of its run: resume the run if it has not ended; if "+
			"another strategy made the rest, it cannot be replayed", next, steps)
	case steps > 0 && next > steps:
		return fmt.Errorf("has %d updates of a run that began with %d and was made longer; only a run that "+
			"kept its length can be replayed", next, steps)
	}
	return nil
}

// repeat makes l the configuration of a ledger that repeats the updates, with the bound of their run; that of
// a part that was resumed can be greater.
func repeat(l *ps.LedgerConfig, o record.Order, updates []record.Update) {
	l.Replay, l.Backup, l.Staleness, l.To = []ps.Applied{}, 0, o.Bound, len(updates)
	for _, u := range updates {
		l.Replay = append(l.Replay, ps.Applied{Batch: u.Batch, Version: u.Version})
		l.Staleness = max(l.Staleness, u.Staleness)
	}
}
