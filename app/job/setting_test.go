package job_test

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lockstep/app/job"
	"lockstep/cluster"
)

// nasty returns values that somebody may give to any setting.
func nasty() []string {
	values := []string{"", "-1", "0", "1e7", "NaN", "9223372036854775807", "nosuch"}
	if testing.Short() {
		return values
	}
	return append(values, "1", "2", "0.5", "1e-300", "1e30", "Inf", "-Inf", "99999999999999999999", "a,b",
		"1,2,3", "1ns", "true")
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
	c, origins, err := job.Resolve(job.Source{Flags: flags})
	if err == nil {
		_, err = job.Run(t.Context(), c, job.Options{Origins: origins})
	}
	return job.ExitCode(err), err
}

// No value of a setting, whatever it is, ends a run with the status of a bug.
func TestNoSettingEndsAsABug(t *testing.T) {
	for _, s := range job.Settings(nil) {
		t.Run(s.Name, func(t *testing.T) {
			for _, value := range nasty() {
				flags := tiny(t)
				switch s.Name {
				case "text-column", "label-column", "link", "master-addr":
					t.Skip("any text is one; or starts processes")
				case "out", "data-dir", "data", "weights", "vocab":
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
	end := func(change func(*job.Config)) string {
		c := short(t)
		c.Data, c.Size, c.LimitTrain, c.LimitTest, c.Batch, c.Save = "synthetic", 16, 3, 0, 8, false
		change(&c)
		return run(t, c, job.Options{}).ParameterSHA256
	}
	want := end(func(*job.Config) {})
	for name, change := range map[string]func(*job.Config){
		"ddp":             func(*job.Config) {},
		"all-reduce":      func(c *job.Config) { c.Strategy = "all-reduce" },
		"gather-scatter":  func(c *job.Config) { c.Strategy = "gather-scatter" },
		"shard-optimizer": func(c *job.Config) { c.ShardOptimizer = true },
		"overlap-forward": func(c *job.Config) { c.OverlapForward = true },
		"tune-bucket":     func(c *job.Config) { c.TuneBucket = true },
	} {
		t.Run(name, func(t *testing.T) {
			got := end(func(c *job.Config) {
				c.Workers, c.Link = 4, "local"
				change(c)
			})
			if got != want {
				t.Errorf("parameters %s, want those of one worker, %s", got, want)
			}
		})
	}
}

// A configuration keeps all its values in JSON, by the names of its flags, and reads what older versions
// wrote.
func TestConfigInJSON(t *testing.T) {
	want, _, err := job.Resolve(job.Source{Flags: map[string]string{"optimizer": "adamw", "lr": "0.1",
		"beta1": "0.8", "beta2": "0.95", "eps": "1e-6", "decay": "matrices",
		"groups":   "*.bias=2,0;fc*=1,0.5,3",
		"schedule": "step", "milestones": "1.5,3", "gamma": "0.5", "scale-lr": "sqrt,64", "steps": "7",
		"lookahead": "5,0.5", "until": "accuracy=0.9", "triangle": "0.2,0.3,0", "limit-train": "all",
		"memory": "1MiB", "seed": "18446744073709551615"}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got job.Config
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read back differs (-written +read):\n%s\n%s", diff, text)
	}
	for _, part := range []string{`"lr":0.1`, `"groups":"*.bias=2,0;fc*=1,0.5,3"`, `"until":"accuracy=0.9"`,
		`"limit-train":-1`, `"memory":1048576`, `"decay":"matrices"`, `"milestones":"1.5,3"`} {
		if !strings.Contains(string(text), part) {
			t.Errorf("no %s in %s", part, text)
		}
	}
	older := job.Default()
	if err := json.Unmarshal([]byte(`{"lr":0.5,"gone":1,"groups":"","until":"","lookahead":"2,0.5"}`),
		&older); err != nil {
		t.Fatal(err)
	}
	if older.Optimizer.LR != 0.5 || older.Lookahead.Every != 2 || older.Optimizer.Name != "sgd" {
		t.Errorf("read %+v from an older version", older)
	}
}

// The flags of the step schedule and of AdamW reach what uses them.
func TestFlagsReachTheUpdate(t *testing.T) {
	end := func(flags map[string]string) string {
		all := tiny(t)
		maps.Copy(all, flags)
		c, _, err := job.Resolve(job.Source{Flags: all})
		if err != nil {
			t.Fatal(err)
		}
		return run(t, c, job.Options{}).ParameterSHA256
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

// A setting that is given and changes nothing is named; one that is not given, or has an effect, is not.
func TestIdleSettings(t *testing.T) {
	for _, test := range []struct {
		flags map[string]string
		want  string // the only line; "": none
	}{
		{map[string]string{"data": "cifar10", "size": "64"},
			"--size has no effect: all images of cifar10 have the same size"},
		{map[string]string{"data": "synthetic", "size": "64"}, ""},
		{map[string]string{"optimizer": "adamw", "momentum": "0.9"},
			"--momentum has no effect: --optimizer adamw has none"},
		{map[string]string{"optimizer": "muon", "momentum": "0.9"}, ""},
		{map[string]string{"beta1": "0.8"}, "--beta1 has no effect: --optimizer sgd has none"},
		{map[string]string{"optimizer": "lamb", "eps": "1e-7"}, ""},
		{map[string]string{"triangle": "0,0.2,0"},
			"--triangle has no effect: it is for --schedule triangle, not constant"},
		{map[string]string{"gamma": "0.5", "schedule": "cosine"},
			"--gamma has no effect: it is for --schedule step, not cosine"},
		{map[string]string{"gamma": "0.5", "schedule": "step"}, ""},
		{map[string]string{"wire": "bf16"}, "--wire has no effect: one worker exchanges nothing"},
		{map[string]string{"wire": "bf16", "workers": "2", "strategy": "none"},
			"--wire has no effect: workers of --strategy none exchange nothing"},
		{map[string]string{"wire": "bf16", "workers": "2"}, ""},
		{map[string]string{"bucket": "4KiB", "workers": "2", "strategy": "all-reduce"},
			"--bucket has no effect: --strategy all-reduce has no buckets"},
		{map[string]string{"algorithm": "ring", "workers": "2", "strategy": "gather-scatter"},
			"--algorithm has no effect: --strategy gather-scatter has an algorithm of its own"},
		{map[string]string{"sequence": "64"}, "--sequence has no effect: lenet reads images"},
		{map[string]string{"decay": "matrices"}, "--decay has no effect: --weight-decay is 0"},
		{map[string]string{"tta": "flip", "limit-test": "0"},
			"--tta has no effect: --limit-test 0 leaves nothing to evaluate"},
		{map[string]string{"master-port": "9000"},
			"--master-port has no effect: workers of one process need no place to meet"},
	} {
		c, origins, err := job.Resolve(job.Source{Flags: test.flags})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(c.Idle(origins), "; "); got != test.want {
			t.Errorf("%v: %q, want %q", test.flags, got, test.want)
		}
	}
	wire := cluster.Environment{"LOCKSTEP_TRAIN_WIRE": "bf16"}
	c, origins, err := job.Resolve(job.Source{Environment: wire})
	if got := strings.Join(c.Idle(origins), "; "); err != nil ||
		got != "LOCKSTEP_TRAIN_WIRE has no effect: one worker exchanges nothing" {
		t.Errorf("a variable: %q, %v", got, err)
	}
}
