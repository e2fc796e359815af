package train_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lockstep/compute"
	"lockstep/gradsync"
	"lockstep/optim"
	"lockstep/ps"
	"lockstep/train"
)

// swapping is the Updater of workers that swap their shards after every step.
type swapping struct {
	train.Updater
	hub *hub
	run int
}

func (u *swapping) Next(step int) (train.Work, error) {
	if step > 0 {
		u.run = len(u.hub.ranks) - 1 - u.run
		u.hub.meet(func() { slices.Reverse(u.hub.ranks) })
	}
	lo, hi := u.hub.plan.Run(u.run)
	return train.Work{Step: step, Lo: lo, Hi: hi}, nil
}

// Shards may move between workers from step to step: no bit of the result depends on it.
func TestShardsMoveBetweenSteps(t *testing.T) {
	c := example(t, "lenet", 100, 37) // in shards that do not divide by two
	c.Plan = cut(t, 5, 1)
	want := run(t, c, 1, 1, compute.Best())[0]
	join := func(h *hub, rank int, l *train.Loop) (train.Updater, error) {
		u, err := h.join(rank, l)
		return &swapping{Updater: u, hub: h, run: rank}, err
	}
	for rank, got := range runWith(t, c, 2, 1, compute.Best(), join) {
		compareOutcomes(t, fmt.Sprintf("rank %d", rank), got, want)
	}
}

// New refuses an Updater that does not fit the configuration.
func TestUpdatersRefuse(t *testing.T) {
	for _, c := range []struct {
		change func(c *train.Config)
		make   func(*train.Loop) (train.Updater, error)
		want   string
	}{
		{func(c *train.Config) { c.Clip = 1 },
			func(l *train.Loop) (train.Updater, error) { return train.NewLate(l, new(gradsync.Late)) },
			"want no clipping"},
		{func(c *train.Config) { c.Optimizer.Name = "lamb" },
			func(l *train.Loop) (train.Updater, error) {
				return train.NewSharded(l, new(gradsync.Sharded))
			}, "want sgd or adamw"},
		{func(c *train.Config) { c.Lookahead = optim.LookaheadConfig{Every: 5, Alpha: 0.5} },
			func(l *train.Loop) (train.Updater, error) { return train.NewServed(l, new(ps.Client)) },
			"want no lookahead"},
		{func(c *train.Config) { c.Isolated = true },
			func(l *train.Loop) (train.Updater, error) { return train.NewWhole(l, faulty{}) },
			"want NewLocal"},
		{func(c *train.Config) { c.Plan = cut(t, c.Plan.Shards(), 2) }, nil, "no updater to connect them"},
	} {
		config := example(t, "lenet", 20, 5)
		c.change(&config)
		cpu, err := compute.Open(compute.Config{})
		if err != nil {
			t.Fatal(err)
		}
		config.CPU, config.Updater = cpu, c.make
		l, err := train.New(config)
		if err == nil {
			l.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
		cpu.Close()
	}
}
