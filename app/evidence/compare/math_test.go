package compare_test

import (
	"strings"
	"testing"

	"lockstep/app/evidence/compare"
	"lockstep/app/record"
)

func TestMathText(t *testing.T) {
	c := &record.MathChoice{Chosen: "fast", Maths: []record.MathTerms{
		{Math: "fast", Step: 0.892, Gradient: 0.0241}, {Math: "exact", Step: 1.2},
		{Math: "bf16", Step: 0.6261, Gradient: 1.04}}}
	const want = "fast, chosen by auto, which takes none that rounds more than float32; steps before " +
		"the run: fast 892 ms (gradient off by 0.024), exact 1200 ms, bf16 626 ms (gradient off by 1)"
	if got := compare.MathText(c); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	c.Maths[2].Gradient = c.Maths[0].Gradient
	const same = ", bf16 not timed, the same bits in the first shard (gradient off by 0.024)"
	if got := compare.MathText(c); !strings.HasSuffix(got, same) {
		t.Errorf("%q, want it to end with %q", got, same)
	}
	if got := compare.MathText(nil); got != "" {
		t.Errorf("a math that was given: %q", got)
	}
}
