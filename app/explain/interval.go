package explain

import (
	"math"

	"lockstep/app/evidence/stat"
)

// All intervals follow one rule: Student's, of what differs round by round, with a guess of how rounds vary
// that is worth a few rounds. So a single run of each side has an interval, which is wide, and many have
// their own. The guess is the median deviation of 52 pairs of rows on two cores, relative to a step
// (results/explain), and of a part of a step relative to that part, or to a quarter of the step if it is
// less.
const (
	runSpread   = 0.04
	runFreedom  = 3
	leastSpread = 0.25
)

// sureCoverage is that of the interval by which a difference is told to be one: two equal rows shall hardly
// ever be.
const sureCoverage = 0.99

// estimate is what seconds that were measured round by round say, in milliseconds.
type estimate struct {
	ms, half float64 // mean, and half of its interval
	isSure   bool    // it is told from 0 with sureCoverage
}

// estimateOf estimates the mean of x.
func estimateOf(x []float64, known stat.Prior) estimate {
	m := stat.MomentsOf(x)
	i, sure := m.MeanInterval(known, stat.Confidence), m.MeanInterval(known, sureCoverage)
	return estimate{ms: 1e3 * m.Mean, half: 1e3 * (i.Hi - i.Lo) / 2, isSure: !sure.Contains(0)}
}

func (e estimate) interval() [2]float64 { return [2]float64{e.ms - e.half, e.ms + e.half} }

// plus returns the estimate of e + f * other.
func (e estimate) plus(f float64, other estimate) estimate {
	return estimate{ms: e.ms + f*other.ms, half: math.Hypot(e.half, f*other.half)}
}

// What is estimated beside terms: their sum, and the logarithm of how many times as long side B takes.
const (
	inAll        = NumCosts
	ofSteps      = NumCosts + 1
	numEstimates = NumCosts + 2
)

// estimates returns those of the terms, of their sum and of the ratio.
func (p *pair) estimates() (estimates [numEstimates]estimate) {
	var level [numEstimates]float64
	rounds, _ := p.rounds()
	for _, two := range rounds {
		for _, side := range two {
			for c, v := range side.mean {
				if Cost(c).IsCompute() { // a part of it
					v = side.mean[Work]
				}
				level[c] += v / float64(2*len(rounds))
			}
			level[inAll] += side.measured / float64(2*len(rounds))
		}
	}
	for c, x := range p.columns() {
		part, step := level[c], level[inAll]
		if c == ofSteps {
			part, step = 1, 1
		}
		known := stat.Prior{SD: runSpread * max(part, leastSpread*step), Freedom: runFreedom}
		if p.like != nil {
			known = known.And(stat.MomentsOf(p.like.columns()[c]))
		}
		estimates[c] = estimateOf(x, known)
	}
	return estimates
}

// columns returns by how much side B takes longer in each round: by cost, in all, and as a ratio.
func (p *pair) columns() (columns [numEstimates][]float64) {
	rounds, _ := p.rounds()
	for _, two := range rounds {
		for c, v := range p.difference(two[0], two[1]) {
			columns[c] = append(columns[c], v)
		}
		a, b := two[0].measured, two[1].measured
		columns[inAll] = append(columns[inAll], b-a)
		columns[ofSteps] = append(columns[ofSteps], math.Log(b/a))
	}
	return columns
}
