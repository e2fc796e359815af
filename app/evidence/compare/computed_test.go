package compare_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"lockstep/app/evidence/compare"
	"lockstep/app/record"
)

// withConfig gives all runs of a row a configuration, and the parameters that it ends with.
func withConfig(row *record.Row, config, hash string) {
	for i := range row.Runs {
		row.Runs[i].Config = json.RawMessage(config)
		row.Runs[i].ParameterSHA256 = hash
	}
}

// A row that trains by another rule does other work, also where its label does not say so.
func TestOtherTrainingIsOtherWork(t *testing.T) {
	const sgd = `{"optimizer":"sgd","momentum":0.9,"math":"fast"}`
	for _, test := range []struct{ name, config, hash, refused string }{
		{"equal", sgd, "aa", ""},
		{"optimizer", `{"optimizer":"adamw","weight-decay":0.3,"math":"fast"}`, "bb",
			"{optimizer [adamw sgd]}"},
		{"momentum", `{"optimizer":"sgd","momentum":0.1,"math":"fast"}`, "bb", "{momentum [0.1 0.9]}"},
		{"without effect", `{"optimizer":"sgd","momentum":0.1,"math":"fast"}`, "aa", ""},
		{"math", `{"optimizer":"sgd","momentum":0.9,"math":"exact"}`, "bb", ""},
		{"not told", `{"optimizer":"sgd"}`, "bb", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := newMaker(6, 4)
			withConfig(m.add(record.Setting{Strategy: "single", Workers: 1}, 1, 1.1, 1.2, 1, 1.1, 1.2),
				sgd, "aa")
			withConfig(m.add(record.Setting{Strategy: "ddp", Workers: 2}, 0.5, 0.6, 0.5, 0.6, 0.5, 0.6),
				test.config, test.hash)
			c := compare.Compare(m.Results)
			if got := fmt.Sprint(c.Groups[0].Lines[1].Refused); got != "["+test.refused+"]" {
				t.Errorf("refused for %s, want %s", got, test.refused)
			}
			wantNothing(t, c, "parameters differ")
		})
	}
}

// Mixed precision reaches another result, so its rows win nothing.
func TestMixedPrecisionIsAnotherResult(t *testing.T) {
	m := newMaker(6, 4)
	withConfig(m.add(record.Setting{Strategy: "single", Workers: 1}, 1, 1.1, 1.2, 1, 1.1, 1.2),
		`{"math":"fast"}`, "aa")
	withConfig(m.add(record.Setting{Strategy: "single", Workers: 1, Options: "math=bf16"}, 0.5, 0.6, 0.5, 0.6,
		0.5, 0.6), `{"math":"bf16"}`, "bb")
	c := compare.Compare(m.Results)
	l := c.Groups[0].Lines[1]
	if slices.Contains(c.Groups[0].Rivals, l) {
		t.Error("another result is ranked")
	}
	wantFound(t, c, "mixed precision", "single 1×1 math=bf16")
}

// Where no product is large enough to be rounded, such as in lenet, mixed precision reaches the result of the
// rows beside it; that other rows reach another one makes no difference.
func TestMixedPrecisionWithoutEffectIsNoOtherResult(t *testing.T) {
	m := newMaker(6, 4)
	for _, math := range []string{"fast", "bf16"} {
		config := `{"math":"` + math + `"}`
		withConfig(m.add(record.Setting{Strategy: "single", Workers: 1, Options: "math=" + math}, 1, 1.1, 1.2,
			1, 1.1, 1.2), config, "aa")
		withConfig(m.add(record.Setting{Strategy: "none", Workers: 2, Options: "math=" + math}, 1, 1.1, 1.2,
			1, 1.1, 1.2), config, "cc")
	}
	c := compare.Compare(m.Results)
	wantNothing(t, c, "mixed precision")
	for _, l := range c.Groups[0].Lines {
		if l.Setting.Strategy == "single" && !slices.Contains(c.Groups[0].Rivals, l) {
			t.Errorf("%s is unranked", l.Label)
		}
	}
}

// Rows of one math are related to a baseline and a floor of that math, in any order of rows.
func TestReferencesAreOfOneMath(t *testing.T) {
	m := newMaker(6, 4)
	for _, row := range []struct {
		strategy, math string
		step           float64
	}{{"single", "bf16", 0.5}, {"single", "fast", 1}, {"none", "fast", 0.5}, {"none", "bf16", 0.2},
		{"ddp", "fast", 0.6}, {"ddp", "bf16", 0.3}} {
		s := record.Setting{Strategy: row.strategy, Workers: 2, Options: "math=" + row.math}
		if row.strategy == "single" {
			s.Workers = 1
		}
		v := row.step
		withConfig(m.add(s, v, v, v, v, v, v), `{"math":"`+row.math+`"}`, row.strategy+row.math)
	}
	c := compare.Compare(m.Results)
	g := c.Groups[0]
	if g.Baseline != g.Lines[1] {
		t.Errorf("the baseline is %s", g.Baseline.Label)
	}
	fast, mixed := g.Lines[4], g.Lines[5]
	near(t, "speed-up", fast.Speedup.Median, 1/0.6, 1e-12)
	near(t, "efficiency", fast.Efficiency.Median, 0.5/0.6, 1e-12)
	near(t, "speed-up in mixed precision", mixed.Speedup.Median, 1/0.3, 1e-12)
	if mixed.Efficiency.Known() {
		t.Errorf("efficiency %v across maths", mixed.Efficiency.Median)
	}
	near(t, "step over none", fast.OverFloor.Median, 0.6/0.5, 1e-12)
	near(t, "step over none in mixed precision", mixed.OverFloor.Median, 0.3/0.2, 1e-12)
}

// With no baseline but one in mixed precision, rows of another math have a speed-up and no efficiency.
func TestABaselineInMixedPrecision(t *testing.T) {
	m := newMaker(2, 4)
	withConfig(m.add(record.Setting{Strategy: "single", Workers: 1}, 1, 1), `{"math":"bf16"}`, "aa")
	withConfig(m.add(record.Setting{Strategy: "ddp", Workers: 2}, 0.8, 0.8), `{"math":"fast"}`, "bb")
	g := compare.Compare(m.Results).Groups[0]
	if l := g.Lines[1]; g.Baseline != g.Lines[0] || !l.Speedup.Known() || l.Efficiency.Known() {
		t.Errorf("speed-up %v, efficiency %v, want a speed-up alone", l.Speedup, l.Efficiency)
	}
}

// A row's own setting is in its label once.
func TestSlowedWorkersAreNamedOnce(t *testing.T) {
	m := newMaker(1, 4)
	m.add(record.Setting{Strategy: "single", Workers: 1, Options: "slow-worker=0:1", SlowWorkers: "0:1"}, 1)
	if got, want := compare.Compare(m.Results).Groups[0].Lines[0].Label,
		"single 1×1 slow-worker=0:1"; got != want {
		t.Errorf("label %q, want %q", got, want)
	}
}

// Lines of a GPU have no efficiency per core, and workers that share one are told.
func TestLinesOfAGPU(t *testing.T) {
	m := newMaker(6, 4)
	for _, workers := range []int{1, 2} {
		s := record.Setting{Strategy: "ddp", Workers: workers}
		if workers == 1 {
			s.Strategy = "single"
		}
		v := 1 / float64(workers)
		withConfig(m.add(s, v, v, v, v, v, v), `{"math":"fp32","device":"cuda"}`, s.Strategy)
	}
	c := compare.Compare(m.Results)
	two := c.Groups[0].Lines[1]
	near(t, "speed-up", two.Speedup.Median, 2, 1e-12)
	if two.Efficiency.Known() || !two.IsOnGPU() {
		t.Errorf("efficiency %v on a GPU", two.Efficiency.Median)
	}
}
