package compare_test

import (
	"fmt"
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
		"[]": func(r *compare.Training) {
			r.Strategy, r.Workers, r.Threads, r.Link, r.Wire = "ps", 4, 2, "tcp", "int8"
			r.ISA = "plain"
		},
		"[{end []}]":                    func(r *compare.Training) { r.IsInterrupted = true },
		"[{model [vgg11 lenet]}]":       func(r *compare.Training) { r.Model = "vgg11" },
		"[{data [mnist glyphs]}]":       func(r *compare.Training) { r.Data = "mnist" },
		"[{training samples [b a]}]":    func(r *compare.Training) { r.DataSHA256.Train = "b" },
		"[{batch [128 64]}]":            func(r *compare.Training) { r.Accumulate = 2 },
		"[{shards [4 2]}]":              func(r *compare.Training) { r.Shards = 4 },
		"[{steps [20 10]}]":             func(r *compare.Training) { r.Steps = 20 },
		"[{samples [320 640]}]":         func(r *compare.Training) { r.Samples = 320 },
		"[{computer [H200 processor]}]": func(r *compare.Training) { r.GPU = "H200" },
		"[{math [strict fast]}]":        func(r *compare.Training) { r.Math = "strict" },
		"[{seed [2 1]} {learning rate [0.2 0.1]} {schedule [cosine constant]}]": func(r *compare.Training) {
			r.Seed, r.LearningRate = 2, 0.2
			r.Configuration = "schedule: cosine # --schedule\nstrategy: ps\n"
		},
	} {
		if got := fmt.Sprint(compare.WorkDifferences(run(change), same)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// Every setting that decides what a run computes makes the work of two runs unequal, unless they ended with
// the same parameters.
func TestWorkDifferenceByEverySetting(t *testing.T) {
	for _, name := range compare.ComputedNames() {
		a := &compare.Training{Configuration: name + ": 1\n"}
		b := &compare.Training{Configuration: name + ": 2\n"}
		if got, want := fmt.Sprint(compare.WorkDifferences(a, b)), "[{"+name+" [1 2]}]"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		a.ParameterSHA256, b.ParameterSHA256 = "aa", "bb"
		if compare.WorkDifferences(a, b) == nil {
			t.Errorf("%s: equal work with other parameters", name)
		}
		b.ParameterSHA256 = "aa"
		if got := compare.WorkDifferences(a, b); got != nil {
			t.Errorf("%v, although it had no effect", got)
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
	if len(got) != 2 || fmt.Sprint(got) != "[{strategy [ddp ps]} {servers [ 2]}]" {
		t.Errorf("%+v", got)
	}
	if got := compare.SettingDifferences([]*compare.Training{{Configuration: "a: 1\n"},
		{Configuration: "a: 1\n"}}); len(got) > 0 {
		t.Errorf("equal configurations differ: %+v", got)
	}
}
