package optim_test

import (
	"testing"

	"lockstep/optim"
)

// FuzzSettings reads one text as each setting that has a form of its own. What is read is in range.
func FuzzSettings(f *testing.F) {
	for _, text := range []string{"*.bias=2,0;stem.*=0,0,9", "5,0.5,3", "0.2,0.23,0.07", "sqrt,256",
		"[=1,NaN", "a=1e999,0", "-1,Inf"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if groups, err := optim.ParseGroups(text); err == nil {
			for _, g := range groups {
				if !(g.Rate >= 0 && g.WeightDecay >= 0) || g.Match == "" {
					t.Fatalf("%q: %+v", text, g)
				}
			}
		}
		if c, err := optim.ParseLookahead(text); err == nil && c.Validate() != nil {
			t.Fatalf("%q: %+v", text, c)
		}
		if c, err := optim.ParseTriangle(text); err == nil && !(c.Start >= 0 && c.Peak <= 1 && c.End <= 1) {
			t.Fatalf("%q: %+v", text, c)
		}
		if rule, err := optim.ParseScaleRule(text); err == nil {
			if again, err := optim.ParseScaleRule(rule.String()); err != nil || again != rule {
				t.Fatalf("%q: %+v, then %+v, %v", text, rule, again, err)
			}
		}
	})
}
