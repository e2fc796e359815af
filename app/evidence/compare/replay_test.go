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
