package launcher_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lockstep/app/job"
	"lockstep/app/job/launcher"
	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/optim"
)

// growing is a run whose batch may grow from 12 to 48.
func growing(t *testing.T, change func(*setting.Config)) setting.Config {
	c := short(t)
	c.LimitTrain, c.LimitTest, c.Batch, c.Epochs, c.AdaptiveBatch = 150, 30, 12, 4, 48
	c.ScaleLR = optim.ScaleRule{Name: "sqrt", Batch: 12}
	change(&c)
	return c
}

// sizes lists the batches of a run.
func sizes(growth []record.Growth) []int {
	list := []int{growth[0].From}
	for _, g := range growth {
		list = append(list, g.To)
	}
	return list
}

// The batch grows at the same places by the same figures on any number of workers, over every link, with
// shards that move or not, and the result has the same bits; also if the run is resumed in between.
func TestTheBatchGrowsAlikeOnAllWorkers(t *testing.T) {
	want := run(t, growing(t, func(*setting.Config) {}), launcher.Options{})
	if got := sizes(want.Growth); !slices.Equal(got, []int{12, 24, 48, 48}) {
		t.Fatalf("batches %v", got)
	}
	check := func(name string, s *record.Summary, growth []record.Growth) {
		t.Helper()
		if s.ParameterSHA256 != want.ParameterSHA256 || s.Steps != want.Steps {
			t.Errorf("%s: parameters %s after %d steps, want %s after %d", name, s.ParameterSHA256, s.Steps,
				want.ParameterSHA256, want.Steps)
		}
		if got, want := fmt.Sprint(s.Growth), fmt.Sprint(growth); got != want { // NaN is equal too
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for name, change := range map[string]func(*setting.Config){
		"ddp":      func(c *setting.Config) { c.Workers, c.Link = 2, "shm" },
		"gathered": func(c *setting.Config) { c.Workers, c.Link, c.Strategy = 3, "tcp", "gather-scatter" },
		"balanced": func(c *setting.Config) {
			c.Workers, c.Link, c.Rebalance, c.Strategy = 2, "local", true, "all-reduce"
			c.SlowWorkers = setting.SlowWorkers{{Rank: 1, Factor: 6}}
		},
	} {
		check(name, run(t, growing(t, change), launcher.Options{}), want.Growth)
	}
	first := growing(t, func(c *setting.Config) {
		c.Workers, c.Link, c.Epochs, c.CheckpointEvery = 2, "local", 2, "1"
	})
	run(t, first, launcher.Options{})
	if s, err := job.Unfinished(first.Out); err != nil || s.Standing.Planned != "2 epochs" {
		t.Errorf("%v, planned %q", err, s.Standing.Planned)
	}
	s, _, err := resumed(t, first.Out, "epochs", "4", "workers", "3")
	if err != nil {
		t.Fatal(err)
	}
	check("resumed", s, want.Growth)
	// 13 steps of 12 samples, 7 of 24 and twice 4 of 48; three epochs of steps of the first size would be 39.
	_, _, err = resumed(t, first.Out, "epochs", "3")
	if bad := (*setting.UsageError)(nil); !errors.As(err, &bad) ||
		!strings.Contains(err.Error(), "has done 28 steps") {
		t.Errorf("error %v, want that 28 steps are done", err)
	}
}
