package launcher_test

import (
	"slices"
	"testing"

	"lockstep/app/job/launcher"
	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/data"
)

// balancing is a run whose last worker becomes slow, so that its shards move away.
func balancing(t *testing.T, link string, change func(*setting.Config)) setting.Config {
	c := short(t)
	c.Epochs, c.Steps, c.LimitTest, c.Shards = 0, 30, 0, 9
	c.Workers, c.Link, c.Rebalance = 3, link, true
	c.SlowWorkers = setting.SlowWorkers{{Rank: 2, Pace: data.Pace{Factor: 8}}}
	change(&c)
	return c
}

// Shards move away from a slowed worker, over every link and with every exchange, and the run ends with the
// bits of one worker.
func TestShardsMoveFromASlowedWorker(t *testing.T) {
	one := short(t)
	one.Epochs, one.Steps, one.LimitTest, one.Shards = 0, 30, 0, 9
	want := run(t, one, launcher.Options{})
	for name, c := range map[string]setting.Config{
		"all-reduce": balancing(t, "local", func(c *setting.Config) { c.Strategy = "all-reduce" }),
		"gathered":   balancing(t, "shm", func(c *setting.Config) { c.Strategy = "gather-scatter" }),
		"ddp":        balancing(t, "tcp", func(c *setting.Config) { c.Bucket = 4096 }),
		"late": balancing(t, "shm", func(c *setting.Config) {
			c.OverlapForward, c.Bucket = true, 4096
		}),
		"sharded": balancing(t, "local", func(c *setting.Config) {
			c.ShardOptimizer, c.Wire = true, "zstd"
		}),
	} {
		t.Run(name, func(t *testing.T) {
			s := run(t, c, launcher.Options{})
			if s.ParameterSHA256 != want.ParameterSHA256 || s.Loss != want.Loss {
				t.Errorf("parameters %s, want %s", s.ParameterSHA256, want.ParameterSHA256)
			}
			checkMoves(t, s)
		})
	}
}

// checkMoves checks that shards moved away from the last of three workers within 20 steps.
func checkMoves(t *testing.T, s *record.Summary) {
	t.Helper()
	at := slices.IndexFunc(s.Moves, func(m record.Move) bool { return m.To[2] < 3 })
	if at < 0 || s.Moves[at].Step > 20 {
		t.Fatalf("moves %+v", s.Moves)
	}
	m := s.Moves[at]
	isSlow := m.ShardSeconds[2] >= 2*min(m.ShardSeconds[0], m.ShardSeconds[1]) // load slows one of these, too
	if m.From[2] != 3 || m.After >= m.Before || m.Ideal > m.After || !isSlow {
		t.Errorf("move %+v", m)
	}
	last, samples := s.Moves[len(s.Moves)-1].To, int64(0)
	for _, r := range s.Ranks {
		samples += r.Samples
	}
	if s.Ranks[2].Samples >= s.Ranks[0].Samples || samples != s.Samples || last[0]+last[1]+last[2] != 9 {
		t.Errorf("%v shards at last, ranks have %d and %d of %d samples", last, s.Ranks[0].Samples,
			s.Ranks[2].Samples, s.Samples)
	}
}

// A run whose shards have moved is resumed by other workers, balanced or not, and ends with the same bits.
func TestBalancedRunsAreResumed(t *testing.T) {
	one := short(t)
	one.Epochs, one.Steps, one.LimitTest, one.Shards = 0, 30, 0, 9
	want := run(t, one, launcher.Options{})
	for _, flags := range [][]string{{"workers", "2"}, {"rebalance", "false", "strategy", "gather-scatter"}} {
		first := begun(t, 18, func(c *setting.Config) {
			*c = balancing(t, "local", func(*setting.Config) {})
			c.Steps, c.CheckpointEvery = 18, "1"
		})
		if slices.Contains(flags, "workers") {
			flags = append(flags, "slow-worker", "0:8")
		}
		s, _, err := resumed(t, first.Out, append(flags, "steps", "30")...)
		if err != nil {
			t.Fatalf("%v: %v", flags, err)
		}
		if s.ParameterSHA256 != want.ParameterSHA256 || s.Resumed.Steps != 18 {
			t.Errorf("%v: parameters %s, want %s", flags, s.ParameterSHA256, want.ParameterSHA256)
		}
		if len(s.Moves) == 0 || s.Moves[0].Step > 18 {
			t.Errorf("%v: the moves before it was resumed are not told: %+v", flags, s.Moves)
		}
	}
}
