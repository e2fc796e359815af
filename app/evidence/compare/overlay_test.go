package compare_test

import (
	"slices"
	"testing"

	"lockstep/app/evidence/compare"
	"lockstep/app/record"
)

// Runs did the same work only if all agrees that decides what is computed; how it is computed does not.
func TestWorkDifference(t *testing.T) {
	run := func(change func(*compare.Training)) *compare.Training {
		r := &compare.Training{Summary: record.Summary{Model: "lenet", Data: "glyphs", Batch: 64, Shards: 2,
			Seed: 1, LearningRate: 0.1, Math: "fast", Strategy: "ddp", Workers: 2,
			DataSHA256: record.DataHash{Train: "a"},
			Outcome:    record.Outcome{Steps: 10, Samples: 640, ISA: "avx2"}},
			Configuration: "schedule: constant # default\nlimit-train: 100\nlimit-test: 50\n"}
		change(r)
		return r
	}
	same := run(func(*compare.Training) {})
	for want, change := range map[string]func(*compare.Training){
		"": func(r *compare.Training) {
			r.Strategy, r.Workers, r.Threads, r.Link, r.Wire = "ps", 4, 2, "tcp", "int8"
		},
		"ended early":                      func(r *compare.Training) { r.IsInterrupted = true },
		"model vgg11 against lenet":        func(r *compare.Training) { r.Model = "vgg11" },
		"other training samples of glyphs": func(r *compare.Training) { r.DataSHA256.Train = "b" },
		"other samples of glyphs": func(r *compare.Training) {
			r.DataSHA256 = record.DataHash{Test: "b"}
		},
		"other test samples of glyphs, limit-test 9 against 50": func(r *compare.Training) {
			r.DataSHA256.Test = "b"
			r.Configuration = "schedule: constant\nlimit-train: 100\nlimit-test: 9\n"
		},
		"other training samples of glyphs, limit-train 9 against 100": func(r *compare.Training) {
			r.DataSHA256.Train = "b"
			r.Configuration = "schedule: constant\nlimit-train: 9\n"
		},
		"model vgg11 against lenet, samples of mnist against other ones of " + "glyphs": func(
			r *compare.Training) {
			r.Model, r.Data, r.DataSHA256.Train = "vgg11", "mnist", "b"
		},
		"batch 128 against 64":                  func(r *compare.Training) { r.Accumulate = 2 },
		"4 shards against 2":                    func(r *compare.Training) { r.Shards = 4 },
		"20 steps against 10":                   func(r *compare.Training) { r.Steps = 20 },
		"320 samples against 640":               func(r *compare.Training) { r.Samples = 320 },
		"seed 2 against 1":                      func(r *compare.Training) { r.Seed = 2 },
		"learning rate 0.2 against 0.1":         func(r *compare.Training) { r.LearningRate = 0.2 },
		"kernels plain fast against avx2 fast":  func(r *compare.Training) { r.ISA = "plain" },
		"kernels avx2 strict against avx2 fast": func(r *compare.Training) { r.Math = "strict" },
		"seed 2 against 1, learning rate 0.2 against 0.1, schedule cosine against constant": func(
			r *compare.Training) {
			r.Seed, r.LearningRate = 2, 0.2
			r.Configuration = "schedule: cosine # --schedule\nstrategy: ps\n"
		},
	} {
		if got := compare.WorkDifference(run(change), same); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Every setting that decides what a run computes makes the work of two runs unequal, unless they ended with
// the same parameters.
func TestWorkDifferenceByEverySetting(t *testing.T) {
	for _, name := range compare.ComputedNames() {
		a := &compare.Training{Configuration: name + ": 1\n"}
		b := &compare.Training{Configuration: name + ": 2\n"}
		if got, want := compare.WorkDifference(a, b), name+" 1 against 2"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		a.ParameterSHA256, b.ParameterSHA256 = "aa", "bb"
		if compare.WorkDifference(a, b) == "" {
			t.Errorf("%s: equal work with other parameters", name)
		}
		b.ParameterSHA256 = "aa"
		if got := compare.WorkDifference(a, b); got != "" {
			t.Errorf("%q, although it had no effect", got)
		}
	}
}

// Settings that differ are listed with the value of each run, in the order of the first one that has them.
func TestSettingDifferences(t *testing.T) {
	got := compare.SettingDifferences([]*compare.Training{
		{Configuration: "# lockstep train: repeats the run\nmodel: lenet # default\nstrategy: ddp  # " +
			"--strategy\n" +
			"data: \"a # b\"  # --data\nout: a\n"},
		{Configuration: "model: lenet # --model\nstrategy: ps\ndata: \"a # b\"  # --data\nout: b\nservers: " +
			"2\n"}})
	if len(got) != 2 || got[0].Name != "strategy" || !slices.Equal(got[0].Values, []string{"ddp", "ps"}) ||
		got[1].Name != "servers" || !slices.Equal(got[1].Values, []string{"", "2"}) {
		t.Errorf("%+v", got)
	}
	if got := compare.SettingDifferences([]*compare.Training{{Configuration: "a: 1\n"},
		{Configuration: "a: 1\n"}}); len(got) > 0 {
		t.Errorf("equal configurations differ: %+v", got)
	}
}

// Text that moves a cursor, or turns the direction of others, becomes the numbers of its characters.
func TestPlain(t *testing.T) {
	for text, want := range map[string]string{"a × b": "a × b", "\x1b[31m": `\u001b[31m`,
		"a\u202eb": `a\u202eb`,
		"a\nb":     `a\u000ab`, "a\u00a0b": "a b"} {
		if got := compare.Plain(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := compare.PlainLines("a\r\n\x1bb\n"); got != "a\\u000d\n\\u001bb\n" {
		t.Errorf("%q", got)
	}
}
