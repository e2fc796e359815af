package compare_test

import (
	"strings"
	"testing"

	"lockstep/app/evidence/compare"
	"lockstep/app/record"
)

func TestReplay(t *testing.T) {
	results := func(hash, isa string, step ...float64) *record.Results {
		m := newMaker(len(step), 2)
		row := m.add(record.Setting{Strategy: "ddp", Workers: 2}, step...)
		for i := range row.Runs {
			row.Runs[i].ParameterSHA256, row.Runs[i].ISA = hash, isa
		}
		return m.Results
	}
	six := []float64{1, 1.01, 1.02, 1, 1.01, 1.02}
	slow := []float64{2, 2.01, 2.02, 2, 2.01, 2.02}
	wild := []float64{0.5, 2, 1, 0.6, 1.9, 1.1}
	there := results("aa", "avx2", six...)
	for _, test := range []struct {
		name              string
		here              *record.Results
		parameters, speed string
		why               string
	}{
		{"equal", results("aa", "avx2", six...), compare.Same, compare.Same, "SHA-256 aa"},
		{"other bits", results("bb", "avx2", six...), compare.Different, compare.Same, "aa there, bb here"},
		{"other kernels", results("bb", "avx512", six...), compare.NotComparable, compare.Same,
			"kernels avx2 there, avx512 here"},
		{"slower", results("aa", "avx2", slow...), compare.Same, compare.Different, "aa"},
		{"noisy", results("aa", "avx2", wild...), compare.Same, compare.Undecided, "aa"},
		{"too little to decide", results("aa", "avx2", 1.03, 1.03, 1.17, 1.17, 1.03, 1.17), compare.Same,
			compare.Undecided, "aa"},
		{"few", results("aa", "avx2", 1, 1), compare.Same, compare.Undecided, "aa"},
	} {
		got := compare.Replay(there, test.here)[0]
		if got.Parameters != test.parameters || got.Speed != test.speed || !strings.Contains(got.Why,
			test.why) {
			t.Errorf("%s: %+v, want parameters %s (%s), speed %s", test.name, got, test.parameters, test.why,
				test.speed)
		}
	}
}

func TestReplayTraining(t *testing.T) {
	a := &record.Summary{Math: "fast", Outcome: record.Outcome{ParameterSHA256: "aa", ISA: "avx2", Steps: 3}}
	other, kernels, shorter := *a, *a, *a
	other.ParameterSHA256, kernels.ISA, shorter.Steps = "bb", "avx512", 2
	for _, test := range []struct {
		here    *record.Summary
		isExact bool
		want    string
	}{{a, true, compare.Same}, {a, false, compare.NotComparable}, {&other, true, compare.Different},
		{&kernels, true, compare.NotComparable}, {&shorter, true, compare.NotComparable}} {
		got := compare.ReplayTraining(a, test.here, test.isExact)
		if got.Parameters != test.want || got.Speed != compare.Undecided {
			t.Errorf("%+v, want %s", got, test.want)
		}
	}
}
