package model_test

import (
	"flag"
	"math"
	"testing"

	"lockstep/compute"
)

var perturb = flag.Int("perturb", 0, "runs of TestPerturbedParity for each case and kind of math")

// TestPerturbedParity shows how much the outcome of a chaotic reference case says: it changes single
// input pixels by one unit in the last place and counts the runs whose losses stay within the bounds
// up to each step, with direct convolutions and with fast math.
func TestPerturbedParity(t *testing.T) {
	if *perturb == 0 {
		t.Skip("an experiment: give -perturb a number of runs")
	}
	for _, file := range parityFiles(t) {
		c := readCase(t, file)
		if c.Recipe.Model != "vgg11" {
			continue
		}
		for _, m := range []compute.Math{compute.Exact, compute.Fast} {
			within := make([]int, len(c.Float64.Losses))
			for run := range *perturb {
				r := newReplica(t, c, compute.Config{ISA: compute.Best(), Threads: 2, Math: m})
				pixel := &r.images[(run*7919)%len(r.images)]
				*pixel = math.Nextafter32(*pixel, 2)
				for step := range within {
					want, bound := c.lossBound(step)
					if !(math.Abs(r.gradients()-want) <= bound) {
						break
					}
					within[step]++
					r.update()
				}
			}
			t.Logf("%s, math %v: of %d runs within the bounds up to each step: %v",
				c.Case, m, *perturb, within)
		}
	}
}
