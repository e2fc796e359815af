package question_test

import (
	"math"
	"testing"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/question"
	"lockstep/app/record"
)

// The slower row is explained by terms that add up to its difference, beside the fastest; what it gains and
// pays beside the baseline adds up to the same.
func TestCauses(t *testing.T) {
	r := measured(2, 256)
	for i := range r.Rows {
		r.Rows[i].Setting.Steps = 4
	}
	asked := record.Inquiry{Questions: []record.Question{
		{Quantity: question.Why, Of: record.Selector{"model": "lenet"}},
		{Quantity: question.Balance, Of: record.Selector{"model": "lenet"}},
		{Quantity: question.Why, Of: record.Selector{"model": "vgg11"}}}}
	got := question.Answers(&asked, compare.Compare(r))
	for _, a := range got[:2] {
		if len(a.Causes) != 1 || a.Verdict != question.Measured {
			t.Fatalf("%s: %d causes, verdict %d", a.Quantity, len(a.Causes), a.Verdict)
		}
		c := a.Causes[0]
		sum := c.ResidualMS
		for _, term := range c.Terms {
			sum += term.MS
		}
		if c.Line.Setting.Strategy != "all-reduce" || c.Than.Setting.Strategy != "single" ||
			math.Abs(sum-c.DifferenceMS) > 1e-9 || math.Abs(c.DifferenceMS-10) > 0.2 || !c.IsTold {
			t.Errorf("%s: %s than %s by %v ms, terms of %v", a.Quantity, c.Line.Label, c.Than.Label,
				c.DifferenceMS, sum)
		}
		if math.Abs(c.Paid()-c.Saved()-c.DifferenceMS) > 1e-9 || c.Saved() < 3 {
			t.Errorf("saved %v, paid %v of %v", c.Saved(), c.Paid(), c.DifferenceMS)
		}
	}
	if got[2].Verdict != question.Unmeasured || got[2].Causes != nil {
		t.Errorf("a model that was not run: %+v", got[2])
	}
}
