package launcher_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/app/job"
	"lockstep/app/job/launcher"
	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/data"
	"lockstep/optim"
)

// resumed goes on with the run in dir, with some flags given anew, and returns what stderr took besides the
// word of what is resumed.
func resumed(t *testing.T, dir string, flags ...string) (*record.Summary, string, error) {
	t.Helper()
	given := map[string]string{"resume": dir}
	for i := 0; i < len(flags); i += 2 {
		given[flags[i]] = flags[i+1]
	}
	c, origins, err := setting.Resolve(setting.Source{Flags: given})
	if err != nil {
		return nil, "", err
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var notes strings.Builder
	s, err := launcher.Run(t.Context(), c,
		launcher.Options{Worker: []string{self}, Origins: origins, Stderr: &notes})
	before, text, isResumed := strings.Cut(notes.String(), "resuming "+dir+" after step ")
	if err == nil && !isResumed && !strings.HasPrefix(before, "nothing to do: ") {
		t.Errorf("no word of what is resumed: %q", before)
	}
	_, after, _ := strings.Cut(text, "\n")
	return s, withoutData(before + after), err
}

// withoutData leaves out the lines about data sets.
func withoutData(text string) string {
	var kept strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "note: data ") && !strings.HasPrefix(line, "memory: ") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// begun leaves a run that has done the first steps of short's eight.
func begun(t *testing.T, steps int, change func(*setting.Config)) setting.Config {
	t.Helper()
	c := short(t)
	c.Epochs, c.Steps, c.CheckpointEvery = 0, steps, "1"
	if change != nil {
		change(&c)
	}
	run(t, c, launcher.Options{})
	return c
}

// numSteps counts the lines of steps.jsonl by step.
func numSteps(t *testing.T, dir string) map[int]int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "steps.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := map[int]int{}
	for line := range bytes.Lines(text) {
		var l struct{ Step int }
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		lines[l.Step]++
	}
	return lines
}

// skipIfShort skips one of the tests that train and resume a dozen runs, which take a minute each where
// races are looked for; of them TestStoppedRunCanBeResumed is left.
func skipIfShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("only a whole test run resumes so often")
	}
}

func TestResumedRunEndsWithTheSameBits(t *testing.T) {
	skipIfShort(t)
	for rule, change := range map[string]func(*setting.Config){
		"sgd":   func(c *setting.Config) {},
		"adamw": func(c *setting.Config) { c.Optimizer.Name = "adamw" },
		"muon with all that follows": func(c *setting.Config) {
			c.Optimizer.Name, c.Clip, c.EMA = "muon", 1, 0.9
			c.Lookahead = optim.LookaheadConfig{Every: 1, Alpha: 0.5}
			c.Batch, c.Accumulate = 20, 2
		},
	} {
		c := short(t)
		change(&c)
		want := run(t, c, launcher.Options{})
		for _, v := range []struct {
			steps  int
			before func(*setting.Config)
			flags  []string
		}{
			{1, nil, nil},
			{3, func(c *setting.Config) { c.Workers, c.Link = 3, "local" },
				[]string{"workers", "1", "threads", "2"}},
			{4, nil, []string{"workers", "2", "strategy", "gather-scatter"}},
			{6, func(c *setting.Config) { c.Workers = 2 }, []string{"workers", "4", "link", "local",
				"algorithm", "halving-doubling"}},
			{8, nil, nil},
		} {
			if rule != "sgd" && v.before == nil {
				continue // it has nothing to do with the rule
			}
			first := begun(t, v.steps, func(c *setting.Config) {
				change(c)
				if v.before != nil {
					v.before(c)
				}
			})
			if v.steps == 8 { // killed after its last checkpoint
				os.Remove(filepath.Join(first.Out, "summary.json"))
			}
			s, notes, err := resumed(t, first.Out, append(v.flags, "steps", "8")...)
			if err != nil {
				t.Fatal(err)
			}
			place := fmt.Sprintf("%s from step %d, %v", rule, v.steps, v.flags)
			if s.ParameterSHA256 != want.ParameterSHA256 || strings.Contains(notes, "damaged") {
				t.Errorf("%s: parameters %s, want %s; %s", place, s.ParameterSHA256,
					want.ParameterSHA256, notes)
			}
			if s.Loss != want.Loss || *s.TestAccuracy != *want.TestAccuracy ||
				*s.TrainAccuracy != *want.TrainAccuracy ||
				s.Steps != 8 || s.Samples != 300 || s.Epochs != 2 {
				t.Errorf("%s: %+v, want %+v", place, s, want)
			}
			if s.Resumed == nil || s.Resumed.Steps != v.steps || s.Checkpoints == nil ||
				s.Checkpoints.Count == 0 && v.steps < 8 {
				t.Errorf("%s: resumed %+v, checkpoints %+v", place, s.Resumed, s.Checkpoints)
			}
			if lines := numSteps(t, first.Out); len(lines) != 8 || lines[7] != s.Workers && v.steps < 8 {
				t.Errorf("%s: lines by step %v", place, lines)
			}
		}
	}
}

// A checkpoint does not say who had which part of the optimizer, workers or servers, nor whether gradients
// were on their way: a run goes on in another way, on other workers, and ends with the bits of one worker.
func TestResumedInAnotherWay(t *testing.T) {
	c := short(t)
	way := func(workers int, change func(*setting.Config)) func(*setting.Config) {
		return func(c *setting.Config) {
			c.Optimizer.Name, c.EMA, c.Bucket, c.Workers, c.Link = "adamw", 0.9, 4096, workers, "local"
			if change != nil {
				change(c)
			}
		}
	}
	way(1, nil)(&c)
	want := run(t, c, launcher.Options{}).ParameterSHA256
	sharded := func(c *setting.Config) { c.ShardOptimizer = true }
	late := func(c *setting.Config) { c.OverlapForward = true }
	served := func(servers int, place string) func(*setting.Config) {
		return func(c *setting.Config) { c.Strategy, c.Servers, c.ServerPlace = "ps", servers, place }
	}
	for i, v := range []struct {
		before func(*setting.Config)
		flags  string
	}{
		{way(2, sharded), "strategy=ps shard-optimizer=false server-place=apart"},
		{way(2, served(3, "apart")), "strategy=ddp shard-optimizer=true"},
		{way(2, served(2, "workers")), "servers=3 server-place=apart"},
		{way(3, sharded), ""},
		{way(3, sharded), "workers=2 link=shm"},
		{way(2, func(c *setting.Config) { c.ShardOptimizer, c.Link = true, "shm" }), "workers=1"},
		{way(4, sharded), "shard-optimizer=false"},
		{way(2, nil), "shard-optimizer=true workers=4"},
		{way(2, late), "workers=3"},
		{way(2, late), "overlap-forward=false"},
		{way(2, nil), "overlap-forward=true"},
		{way(2, served(2, "apart")), "workers=3 servers=1"},
		{way(3, served(1, "workers")), "workers=1 strategy=single"},
		{way(1, served(1, "workers")), "workers=2 strategy=all-reduce"},
		{way(1, nil), "workers=2 strategy=ps servers=2"},
	} {
		if testing.Short() && i >= 3 {
			break
		}
		first := begun(t, 3, v.before)
		flags := strings.FieldsFunc(v.flags, func(r rune) bool { return r == ' ' || r == '=' })
		s, notes, err := resumed(t, first.Out, append([]string{"steps", "8", "link", "local"}, flags...)...)
		if err != nil {
			t.Fatalf("%s: %v", v.flags, err)
		}
		if s.ParameterSHA256 != want || s.Resumed.Steps != 3 || strings.Contains(notes, "warning") {
			t.Errorf("%s: parameters %s, want %s; %s", v.flags, s.ParameterSHA256, want, notes)
		}
	}
}

// A run that is stopped leaves a checkpoint of the last step that it finished.
func TestStoppedRunCanBeResumed(t *testing.T) {
	c := short(t)
	c.Epochs = 40
	want := run(t, c, launcher.Options{})
	for link, cause := range map[string]error{"local": nil, "shm": launcher.ErrTerminated} {
		c := short(t)
		c.Epochs, c.Workers, c.Link, c.CheckpointEvery = 40, 2, link, "1h"
		ctx, cancel := context.WithCancelCause(t.Context())
		self, _ := os.Executable()
		_, err := launcher.Run(ctx, c, launcher.Options{Worker: []string{self},
			Progress: func(p launcher.Progress) {
				if p.Step > 2 {
					cancel(cause)
				}
			}})
		cancel(nil)
		var stopped *job.StoppedError
		if !errors.As(err, &stopped) || stopped.Step < 3 {
			t.Fatalf("%s: %v", link, err)
		}
		if code := job.ExitCode(err); code != 130 && cause == nil || code != 75 && cause != nil {
			t.Errorf("%s: exit %d after %v", link, code, cause)
		}
		s, _, err := resumed(t, c.Out, "workers", "1")
		if err != nil || s.ParameterSHA256 != want.ParameterSHA256 || s.Resumed.Steps != stopped.Step {
			t.Errorf("%s: %v, %+v", link, err, s)
		}
	}
}

func TestDamagedCheckpointIsNamedAndThePreviousUsed(t *testing.T) {
	c := begun(t, 5, nil)
	want := run(t, short(t), launcher.Options{})
	newest := filepath.Join(c.Out, "checkpoints", "step-5", "optimizer.safetensors")
	if err := os.Truncate(newest, 1000); err != nil {
		t.Fatal(err)
	}
	s, notes, err := resumed(t, c.Out, "steps", "8")
	if err != nil {
		t.Fatal(err)
	}
	// At which of the steps before there was time for a checkpoint, depends on the disk.
	if s.ParameterSHA256 != want.ParameterSHA256 || s.Resumed.Steps >= 5 ||
		!strings.Contains(notes, "damaged checkpoint: ") || !strings.Contains(notes, newest) {
		t.Errorf("parameters %s, want %s; %+v; %q", s.ParameterSHA256, want.ParameterSHA256, s.Resumed, notes)
	}
	if lines := numSteps(t, c.Out); len(lines) != 8 || lines[4] != 1 {
		t.Errorf("lines by step %v", lines)
	}
	manifests, err := filepath.Glob(filepath.Join(c.Out, "checkpoints", "step-*", "manifest.json"))
	if err != nil || len(manifests) != 2 {
		t.Fatalf("manifests %v, %v", manifests, err)
	}
	for _, path := range manifests {
		if err := os.WriteFile(path, []byte("{}"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err = resumed(t, c.Out, "steps", "9")
	if job.ExitCode(err) != job.ExitCheckpoint || strings.Count(err.Error(), "manifest.json: ") != 2 {
		t.Errorf("without a valid checkpoint: %v", err)
	}
}

func TestResumeRefusesOtherSettings(t *testing.T) {
	c := begun(t, 3, nil)
	for want, flags := range map[string][]string{
		"--batch: 44, but the run that is resumed has":   {"batch", "44"},
		"--resident: 8GiB, but the run that is resumed ": {"resident", "8GiB"},
		"the data has changed: training and test samp":   {"steps", "9", "class-weights", "balanced"},
		"has 4 shards, so that at most as many workers":  {"workers", "5"},
		"has done 3 steps, want at least as many, got 2": {"steps", "2"},
		"the length is given twice":                      {"steps", "9", "epochs", "3"},
		"wants replicas that are equal":                  {"strategy", "none", "workers", "2"},
		"is neither a number of steps such as 100 nor a": {"checkpoint-every", "soon"},
	} {
		_, _, err := resumed(t, c.Out, flags...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", flags, err, want)
		}
	}
	_, _, err := resumed(t, filepath.Join(c.Out, "absent"))
	if job.ExitCode(err) != job.ExitCheckpoint {
		t.Errorf("no such run: %v", err)
	}
}

// A run of more evaluations than fit into one message to the launcher ends well, and so does one that is
// resumed after as many.
func TestAnyNumberOfEvaluationsReachesTheSummary(t *testing.T) {
	skipIfShort(t)
	c := short(t)
	c.LimitTrain, c.LimitTest, c.Batch, c.Shards, c.Epochs = 2, 1, 2, 2, 700
	c.Workers, c.CheckpointEvery, c.Save = 2, "1h", false
	s := run(t, c, launcher.Options{})
	if len(s.Evaluations) != 700 || len(s.Ranks[1].Buckets) == 0 {
		t.Errorf("%d evaluations, %d buckets", len(s.Evaluations), len(s.Ranks[1].Buckets))
	}
	s, _, err := resumed(t, c.Out, "epochs", "702")
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range s.Evaluations {
		if e.Steps != i+1 || len(s.Evaluations) != 702 {
			t.Fatalf("evaluation %d of %d after %d steps", i, len(s.Evaluations), e.Steps)
		}
	}
}

// A run goes on under a strategy, or with workers, that have no use for what shaped the exchange before: it
// is left out, and the hash is that of one worker. Given anew it is refused, by its name.
func TestResumeLeavesOutWhatTheStrategyHasNot(t *testing.T) {
	want := run(t, short(t), launcher.Options{}).ParameterSHA256
	for name, change := range map[string]func(*setting.Config){
		"rebalance": func(c *setting.Config) {
			c.Rebalance, c.SlowWorkers = true, setting.SlowWorkers{{Rank: 1, Pace: data.Pace{Factor: 2}}}
		},
		"overlap-forward": func(c *setting.Config) { c.OverlapForward = true },
		"shard-optimizer": func(c *setting.Config) { c.ShardOptimizer = true },
	} {
		c := begun(t, 3, func(c *setting.Config) {
			c.Strategy, c.Workers = "ddp", 2
			change(c)
		})
		_, _, err := resumed(t, c.Out, "strategy", "ps", name, "true", "workers", "2")
		if err == nil || !strings.HasPrefix(err.Error(), "--"+name+": is for --strategy") {
			t.Errorf("%s given anew: %v", name, err)
		}
		s, _, err := resumed(t, c.Out, "strategy", "ps", "workers", "1", "epochs", "2")
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if s.ParameterSHA256 != want {
			t.Errorf("%s: parameters %s, want %s", name, s.ParameterSHA256, want)
		}
	}
}

// A setting of the run that is resumed and fits no longer is named.
func TestResumeNamesTheSettingThatDoesNotFit(t *testing.T) {
	c := begun(t, 3, func(c *setting.Config) { c.Clip = 1 })
	_, _, err := resumed(t, c.Out, "strategy", "ps", "servers", "2")
	if err == nil || !strings.HasPrefix(err.Error(), "--resume: clip: nobody has the whole gradient") {
		t.Errorf("got %v", err)
	}
}

// A replay that is resumed finds its file from any folder.
func TestReplayIsResumedInAnotherFolder(t *testing.T) {
	c := setting.Default()
	c.Replay = "updates.jsonl"
	if path := c.Rooted().Replay; !filepath.IsAbs(path) {
		t.Errorf("a checkpoint would have %q", path)
	}
}
