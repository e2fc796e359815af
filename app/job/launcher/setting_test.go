package launcher_test

import (
	"maps"
	"path/filepath"
	"testing"

	"lockstep/app/job"
	"lockstep/app/job/launcher"
	"lockstep/app/setting"
)

// nasty returns values that somebody may give to any setting.
func nasty() []string {
	return []string{"-1", "1e7", "nosuch", "", "0", "0.5", "NaN", "Inf", "9223372036854775807", "a,b", "1ns"}
}

// expected are the exit statuses that a mistake in a setting, or a value that happens to make sense, may
// have. A status of 1 would say that the program has a bug.
var expected = map[int]bool{job.ExitOK: true, job.ExitUsage: true, job.ExitData: true,
	job.ExitCheckpoint: true, job.ExitDiverged: true, job.ExitCheck: true}

// tiny are the flags of a run of two steps that costs nearly nothing.
func tiny(t *testing.T) map[string]string {
	return map[string]string{"steps": "2", "limit-train": "20", "limit-test": "3", "batch": "8",
		"threads": "1", "data": "synthetic", "size": "16", "save": "false", "link": "local",
		"out": filepath.Join(t.TempDir(), "run")}
}

// exitCode resolves flags and runs what they say.
func exitCode(t *testing.T, flags map[string]string) (int, error) {
	c, origins, err := setting.Resolve(setting.Source{Flags: flags})
	if err == nil {
		_, err = launcher.Run(t.Context(), c, launcher.Options{Origins: origins})
	}
	return job.ExitCode(err), err
}

// No value of a setting, whatever it is, ends a run with the status of a bug.
func TestNoSettingEndsAsABug(t *testing.T) {
	if testing.Short() {
		t.Skip("one worker with one thread has nothing for the race detector")
	}
	for _, s := range setting.Settings(nil) {
		t.Run(s.Name, func(t *testing.T) {
			for _, value := range nasty() {
				flags := tiny(t)
				switch s.Name {
				case "text-column", "pair-column", "label-column", "link", "master-addr", "data-dir", "vocab":
					t.Skip("any text is one, or names what this run does not read; or starts processes")
				case "out", "data", "weights":
					value = filepath.Join(t.TempDir(), value)
				case "workers":
					delete(flags, "threads")
				case "epochs", "for":
					delete(flags, "steps")
					flags["until"] = "accuracy=0.0001"
				}
				flags[s.Name] = value
				if code, err := exitCode(t, flags); !expected[code] {
					t.Errorf("--%s=%q: status %d, %v", s.Name, value, code, err)
				}
			}
		})
	}
}

// What cannot work together is said before anything starts, or works.
func TestNoCombinationEndsAsABug(t *testing.T) {
	for name, test := range map[string]struct {
		flags map[string]string
		want  int
	}{
		"rate":              {map[string]string{"lr": "2e6"}, job.ExitUsage},
		"rate by the rule":  {map[string]string{"lr": "1e6", "scale-lr": "linear,1"}, job.ExitUsage},
		"decay":             {map[string]string{"weight-decay": "1e7"}, job.ExitUsage},
		"warm-up":           {map[string]string{"warmup": "1e7"}, job.ExitUsage},
		"no such parameter": {map[string]string{"groups": "nosuch*=1,0"}, job.ExitUsage},
		"no such parameter of texts": {map[string]string{"groups": "conv1*=1,0", "model": "bert-tiny"},
			job.ExitUsage},
		"images changed, texts read": {map[string]string{"model": "bert-tiny", "augment": "flip"},
			job.ExitUsage},
		"small images": {map[string]string{"size": "2", "model": "vgg11"}, job.ExitUsage},
		"ranks without a sample": {map[string]string{"limit-train": "3", "shards": "4", "workers": "4"},
			job.ExitOK},
		"isolated ranks without a sample": {map[string]string{"limit-train": "3", "shards": "4",
			"workers": "4", "strategy": "none"}, job.ExitOK},
	} {
		t.Run(name, func(t *testing.T) {
			flags := tiny(t)
			maps.Copy(flags, test.flags)
			if code, err := exitCode(t, flags); code != test.want {
				t.Errorf("status %d, want %d: %v", code, test.want, err)
			}
		})
	}
}

// A worker that has no sample in any step takes part with nothing, whatever is exchanged how: all end with
// the parameters of one worker.
func TestRanksWithoutASampleChangeNothing(t *testing.T) {
	end := func(change func(*setting.Config)) string {
		c := short(t)
		c.Data, c.Size, c.LimitTrain, c.LimitTest, c.Batch, c.Save = "synthetic", 16, 3, 0, 8, false
		change(&c)
		return run(t, c, launcher.Options{}).ParameterSHA256
	}
	want := end(func(*setting.Config) {})
	for name, change := range map[string]func(*setting.Config){
		"ddp":             func(*setting.Config) {},
		"all-reduce":      func(c *setting.Config) { c.Strategy = "all-reduce" },
		"gather-scatter":  func(c *setting.Config) { c.Strategy = "gather-scatter" },
		"shard-optimizer": func(c *setting.Config) { c.ShardOptimizer = true },
		"overlap-forward": func(c *setting.Config) { c.OverlapForward = true },
	} {
		t.Run(name, func(t *testing.T) {
			got := end(func(c *setting.Config) {
				c.Workers, c.Link = 4, "local"
				change(c)
			})
			if got != want {
				t.Errorf("parameters %s, want those of one worker, %s", got, want)
			}
		})
	}
}

// The flags of the step schedule and of AdamW reach what uses them.
func TestFlagsReachTheUpdate(t *testing.T) {
	end := func(flags map[string]string) string {
		all := tiny(t)
		maps.Copy(all, flags)
		c, _, err := setting.Resolve(setting.Source{Flags: all})
		if err != nil {
			t.Fatal(err)
		}
		return run(t, c, launcher.Options{}).ParameterSHA256
	}
	adamw := end(map[string]string{"optimizer": "adamw"})
	given := map[string]string{"optimizer": "adamw", "beta1": "0.9", "beta2": "0.999", "eps": "1e-8"}
	if same := end(given); same != adamw {
		t.Errorf("AdamW with its defaults given ends with %s, without with %s", same, adamw)
	}
	step := end(map[string]string{"schedule": "step"})
	for name, flags := range map[string]map[string]string{
		"beta1": {"optimizer": "adamw", "beta1": "0.5"}, "beta2": {"optimizer": "adamw", "beta2": "0.5"},
		"eps":        {"optimizer": "adamw", "eps": "0.1"},
		"drop-every": {"schedule": "step", "drop-every": "0.3"},
		"milestones": {"schedule": "step", "milestones": "0.3,5"},
		"gamma":      {"schedule": "step", "drop-every": "0.3", "gamma": "0.5"},
	} {
		if got := end(flags); got == adamw || got == step {
			t.Errorf("%s changes nothing", name)
		}
	}
}
