package compare_test

import (
	"fmt"

	"lockstep/app/evidence/compare"
	"lockstep/app/record"
)

// Two ways of training were run in turn, six rounds each, on four cores.
func ExampleCompare() {
	m := newMaker(6, 4)
	m.add(record.Setting{Strategy: "single", Workers: 1}, 4.0, 4.1, 3.9, 4.0, 4.1, 4.0)
	m.add(record.Setting{Strategy: "ddp", Workers: 2}, 2.0, 2.1, 1.9, 2.0, 2.1, 2.0)
	g := compare.Compare(m.Results).Groups[0]
	p := g.Pairs()[0]
	fmt.Printf("%s and %s are told apart: %v, ratio %.1f\n", p.A.Label, p.B.Label, p.IsDecided(),
		p.Ratio.Median)
	// Output: single 1×1 and ddp 2×1 are told apart: true, ratio 2.0
}
