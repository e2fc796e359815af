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

// guess returns what is known before any round of how a part of a step varies.
func guess(part, step float64) stat.Prior {
	return stat.Prior{SD: runSpread * max(part, leastSpread*step), Freedom: runFreedom}
}

// estimate is what seconds that were measured round by round say, in milliseconds.
type estimate struct {
	ms, half float64 // mean, and half of its interval
	isSure   bool    // it is told from 0 with sureCoverage
}

// estimateOf estimates the mean of x.
func estimateOf(x []float64, known stat.Prior) estimate {
	m := stat.MomentsOf(x)
	i, sure := m.MeanIntervalGiven(known, stat.Confidence), m.MeanIntervalGiven(known, sureCoverage)
	return estimate{ms: 1e3 * m.Mean, half: 1e3 * (i.Hi - i.Lo) / 2, isSure: !sure.Contains(0)}
}

// ratioOf estimates the logarithm of how many times as long side B takes.
func ratioOf(pairs [][2]profile) estimate {
	var logs []float64
	for _, two := range pairs {
		logs = append(logs, math.Log(two[1].measured/two[0].measured))
	}
	return estimateOf(logs, guess(1, 1))
}

func (e estimate) interval() [2]float64 { return [2]float64{e.ms - e.half, e.ms + e.half} }

// estimates returns those of the terms and, last, of their sum.
func (p pair) estimates(pairs [][2]profile) (all [NumCosts + 1]estimate) {
	var level [NumCosts + 1]float64
	for _, two := range pairs {
		share := 1 / float64(2*len(pairs))
		for _, side := range two {
			for c, v := range side.mean {
				if Cost(c).IsCompute() { // a part of it
					v = side.mean[Work]
				}
				level[c] += share * v
			}
			level[NumCosts] += share * side.measured
		}
	}
	columns := p.columns(pairs)
	for c := range all {
		known := guess(level[c], level[NumCosts])
		if p.like != nil {
			known = known.And(stat.MomentsOf(p.like.columns(p.like.paired())[c]))
		}
		all[c] = estimateOf(columns[c], known)
	}
	return all
}

// columns returns by how much side B takes longer in each round, by cost and, last, in all.
func (p pair) columns(pairs [][2]profile) (all [NumCosts + 1][]float64) {
	for _, two := range pairs {
		for c, v := range p.difference(two[0], two[1]) {
			all[c] = append(all[c], v)
		}
		all[NumCosts] = append(all[NumCosts], two[1].measured-two[0].measured)
	}
	return all
}
