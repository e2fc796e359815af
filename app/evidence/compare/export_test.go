package compare

import "lockstep/app/evidence/stat"

// StepSeconds is stepSeconds.
var StepSeconds = stepSeconds

// OfTimes returns the comparison of rows of equal work whose steps took so long in each round, without notes.
func OfTimes(times [][]float64) *Comparison {
	g := Group{}
	for _, x := range times {
		l := &Line{stepByRound: x, RunMedian: stat.Summarize(x), OK: len(x), Measured: len(x)}
		l.Step.Median = l.RunMedian.Median
		g.Lines = append(g.Lines, l)
	}
	c := &Comparison{Groups: []Group{g}}
	c.Groups[0].Rivals = c.Groups[0].rivals()
	c.measureNoise()
	return c
}
