package compare_test

import (
	"testing"

	"lockstep/app/evidence/compare"
	"lockstep/app/record"
)

func TestMathText(t *testing.T) {
	c := &record.MathChoice{Chosen: "fast", Maths: []record.MathTerms{
		{Math: "fast", Step: 0.892}, {Math: "exact", Step: 1.2},
		{Math: "bf16", Step: 0.6261}}}
	const want = "fast, chosen by auto, which takes none that rounds more than float32; steps before " +
		"the run: fast 892 ms, exact 1200 ms, bf16 626 ms"
	if got := compare.MathText(c); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := compare.MathText(nil); got != "" {
		t.Errorf("a math that was given: %q", got)
	}
}
