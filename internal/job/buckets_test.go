package job_test

import (
	"strings"
	"testing"

	"lockstep/internal/job"
)

// Trying sizes of buckets changes no bit, and says what it found.
func TestTunedBucketsChangeNoResult(t *testing.T) {
	c := short(t)
	c.Model, c.Steps, c.Epochs, c.LimitTest = "lenet", 12, 0, 0
	want := run(t, c, job.Options{})
	c = short(t)
	c.Model, c.Steps, c.Epochs, c.LimitTest = "lenet", 12, 0, 0
	c.Workers, c.Link, c.TuneBucket = 2, "local", true
	s := run(t, c, job.Options{})
	if s.ParameterSHA256 != want.ParameterSHA256 {
		t.Errorf("parameters %s, want %s", s.ParameterSHA256, want.ParameterSHA256)
	}
	if len(s.BucketTrials) != 1 || !s.BucketTrials[0].IsChosen || s.BucketTrials[0].Seconds <= 0 {
		t.Errorf("trials %+v, want one: lenet's gradients are less than the smallest size", s.BucketTrials)
	}
}

func TestTunedBucketsRefuse(t *testing.T) {
	for want, change := range map[string]func(c *job.Config){
		"is for --strategy ddp, not all-reduce": func(c *job.Config) { c.Strategy = "all-reduce" },
		"shares of --shard-optimizer":           func(c *job.Config) { c.ShardOptimizer = true },
		"--wire top-k holds back":               func(c *job.Config) { c.Wire = "top-k" },
	} {
		c := job.Default()
		c.Workers, c.Strategy, c.TuneBucket = 2, "ddp", true
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
