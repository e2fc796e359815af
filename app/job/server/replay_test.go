package server

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/app/job"
	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/app/setting"
)

// replayed returns a configuration that repeats these updates of a run of its own settings.
func replayed(t *testing.T, o record.Order, updates []record.Update) setting.Config {
	t.Helper()
	c := setting.Default()
	c.Strategy, c.Workers, c.Out = "ps-async", 2, filepath.Join(t.TempDir(), "run")
	c = c.Complete()
	o.Settings = c.ReplaySettings()
	dir := rundir.Directory(t.TempDir())
	log, err := dir.OpenUpdateLog(o, false)
	for _, u := range updates {
		if err == nil {
			err = log.Add(u)
		}
	}
	if err == nil {
		err = log.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	c.Replay = dir.Path(rundir.UpdatesFile)
	return c
}

// A file that no asynchronous run can have written from its start to its end is refused in one line, before
// a process starts.
func TestDamagedReplaysAreRefused(t *testing.T) {
	order := record.Order{Steps: 6, PerEpoch: 3}
	good := []record.Update{{Update: 0, Batch: 1}, {Update: 1, Batch: 0, Staleness: 1},
		{Update: 2, Batch: 2, Version: 2}, {Update: 3, Batch: 3, Version: 3},
		{Update: 4, Batch: 4, Version: 3, Staleness: 1}, {Update: 5, Batch: 5, Version: 5}}
	if err := CheckReplay(replayed(t, order, good)); err != nil {
		t.Error(err)
	}
	type updates = []record.Update
	for want, change := range map[string]func(updates) updates{
		"is damaged: update 1 comes where 3 or a later one": func(u updates) updates {
			u[1], u[2] = u[2], u[1]
			return u
		},
		"is damaged: update 0 comes where 1 or a later one": func(u updates) updates {
			u[1].Update = 0
			return u
		},
		"is damaged: update 4 of version 2 has staleness 1, want 2": func(u updates) updates {
			u[4].Version = 2
			return u
		},
		"update 2 is of batch 0, want one of 6 that was not used before": func(u updates) updates {
			u[2].Batch = 0
			return u
		},
		"update 0 reads version -3": func(u updates) updates {
			u[0].Version, u[0].Staleness = -3, 3
			return u
		},
		"lacks updates 1 to 3, which another strategy made or the file has lost; only a run that was " +
			"asynchronous throughout can be replayed": func(u updates) updates {
			return slices.Delete(u, 1, 4)
		},
		"has 4 of the 6 updates of its run: resume the run if it has not ended": func(u updates) updates {
			return u[:4]
		},
		"has 7 updates of a run that began with 6 and was made longer": func(u updates) updates {
			return append(u, record.Update{Update: 6, Batch: 6, Version: 6})
		},
	} {
		err := CheckReplay(replayed(t, order, change(slices.Clone(good))))
		if err == nil || job.ExitCode(err) != job.ExitUsage || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// A replay is bound as its run was, whatever the number of its own workers, and so is the replay of a replay.
func TestReplayHasTheBoundOfItsRun(t *testing.T) {
	// The second file is older than the field.
	updates := []record.Update{{}, {Update: 1, Batch: 1, Staleness: 1}}
	for want, o := range map[int]record.Order{12: {Steps: 2, Bound: 12}, 1: {Steps: 2}} {
		c := replayed(t, o, updates)
		l, err := ledgerOf(c, Blueprint{Samples: 64})
		if err != nil || l.Staleness != want {
			t.Errorf("bound %d, %v, want %d", l.Staleness, err, want)
		}
		book := newUpdateBook(&job.Seat{Config: c}, Blueprint{Samples: 64}, l.Staleness)
		if book.order.Bound != want || book.stat.Bound != want {
			t.Errorf("written bounds %d and %d, want %d", book.order.Bound, book.stat.Bound, want)
		}
	}
}

// A replay with other workers has other shards if none are given; the refusal names the flag to give.
func TestReplayNamesTheFlagToGive(t *testing.T) {
	order := record.Order{Steps: 1, PerEpoch: 1}
	for want, change := range map[string]func(*setting.Config){
		`its shards is "4", here it is "3"; want --shards=4`: func(c *setting.Config) { c.Shards = 3 },
		`its staleness-rate is "false", here it is "true"; want --staleness-rate=false`: func(
			c *setting.Config) {
			c.StalenessRate = true
		},
		`its steps is "0", here it is "5"`: func(c *setting.Config) { c.Steps = 5 },
	} {
		c := replayed(t, order, []record.Update{{}})
		change(&c)
		err := CheckReplay(c)
		if err == nil || job.ExitCode(err) != job.ExitUsage || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
