package compare

import (
	"io"

	"lockstep/app/evidence/stat"
	"lockstep/app/record"
)

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

// ReadTraining is NewTraining of the text of a summary.
func ReadTraining(summary, steps io.Reader) (*Training, error) {
	s, err := record.DecodeSummary(summary)
	if err != nil {
		return nil, err
	}
	return NewTraining(s, steps)
}
