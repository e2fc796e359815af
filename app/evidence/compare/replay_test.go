package compare_test

import (
	"strings"
	"testing"

	"lockstep/app/evidence/compare"
	"lockstep/app/record"
)

func TestReplay(t *testing.T) {
	results := func(hash, isa, gpu string, step ...float64) *record.Results {
		m := newMaker(len(step), 2)
		row := m.add(record.Setting{Strategy: "ddp", Workers: 2}, step...)
		for i := range row.Runs {
			row.Runs[i].ParameterSHA256, row.Runs[i].ISA, row.Runs[i].GPU = hash, isa, gpu
		}
		return m.Results
	}
	there := results("aa", "avx2", "", 1, 1.01)
	for _, test := range []struct {
		hash, isa, gpu, parameters, why string
	}{
		{"aa", "avx2", "", compare.Same, "SHA-256 aa"},
		{"bb", "avx2", "", compare.Different, "aa there, bb here"},
		{"aa", "plain", "", compare.Same, "SHA-256 aa"},
		{"bb", "avx512", "", compare.Different, "aa there, bb here"},
		{"bb", "avx2", "H200", compare.NotComparable, "processor there, H200 here"},
	} {
		got := compare.Replay(there, results(test.hash, test.isa, test.gpu, 2, 2.02))[0]
		if got.Parameters != test.parameters || !strings.Contains(got.Why, test.why) || got.Ratio != 0.5 {
			t.Errorf("%+v, want parameters %s (%s)", got, test.parameters, test.why)
		}
	}
}

func TestReplayTraining(t *testing.T) {
	a := &record.Summary{Math: "fast", Outcome: record.Outcome{ParameterSHA256: "aa", ISA: "avx2", Steps: 3}}
	other, kernels, gpu, shorter := *a, *a, *a, *a
	other.ParameterSHA256, kernels.ISA, gpu.GPU, shorter.Steps = "bb", "avx512", "H200", 2
	for _, test := range []struct {
		here    *record.Summary
		isExact bool
		want    string
	}{{a, true, compare.Same}, {a, false, compare.NotComparable}, {&other, true, compare.Different},
		{&kernels, true, compare.Same},
		{&gpu, true, compare.NotComparable}, {&shorter, true, compare.NotComparable}} {
		got := compare.ReplayTraining(a, test.here, test.isExact)
		if got.Parameters != test.want {
			t.Errorf("%+v, want %s", got, test.want)
		}
	}
}
