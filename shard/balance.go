package shard

import "fmt"

// Speed says how long a worker computes in a step: Fixed seconds whatever it has to do, and Each
// seconds per shard.
type Speed struct{ Fixed, Each float64 }

// of returns the time of num shards.
func (s Speed) of(num int) float64 { return s.Fixed + float64(num)*s.Each }

// PlanOf assigns contiguous runs of the given lengths to workers. It returns an error unless there is
// a worker and every length is at least 1.
func PlanOf(lengths []int) (Plan, error) {
	p := Plan{first: make([]int, 1, len(lengths)+1)}
	for r, n := range lengths {
		if n < 1 {
			return Plan{}, fmt.Errorf("shard: plan: %d shards for worker %d, want at least 1", n, r)
		}
		p.shards += n
		p.first = append(p.first, p.shards)
	}
	if p.shards == 0 {
		return Plan{}, fmt.Errorf("shard: plan for no worker")
	}
	return p, nil
}

// Balance assigns contiguous runs of shards so that the slowest worker is done as early as possible,
// as Share does. Among such assignments it looks for one whose runs consist of few subtrees, because
// each is sent apart. It returns an error unless 1 <= len(speeds) <= shards.
func Balance(shards int, speeds []Speed) (Plan, error) {
	if len(speeds) < 1 || shards < len(speeds) {
		return Plan{}, fmt.Errorf("shard: balance: %d shards over %d workers, want 1 <= workers <= shards",
			shards, len(speeds))
	}
	lengths := make([]int, len(speeds))
	Share(lengths, shards, speeds)
	p, err := PlanOf(lengths)
	if err == nil {
		p.align(speeds)
	}
	return p, err
}

// Share fills lengths, [workers], with numbers of shards, at least 1 each, so that the slowest worker is
// done as early as possible, and returns when: it minimizes the largest Fixed + n*Each over all workers.
// There must be as many shards as workers or more.
//
// The next shard always goes to the worker that would be done with it first, which is optimal because
// times only grow with n. Cost: O(shards * workers), without allocations.
func Share(lengths []int, shards int, speeds []Speed) (seconds float64) {
	for r, s := range speeds {
		lengths[r] = 1
		seconds = max(seconds, s.of(1))
	}
	for range shards - len(speeds) {
		best := 0
		for r, s := range speeds {
			if s.of(lengths[r]+1) < speeds[best].of(lengths[best]+1) {
				best = r
			}
		}
		lengths[best]++
		seconds = max(seconds, speeds[best].of(lengths[best]))
	}
	return seconds
}

// maxShift is how far a cut moves to a place that divides fewer subtrees.
const maxShift = 4

// align moves cuts so that runs consist of fewer subtrees, while no worker takes longer than the
// slowest.
func (p Plan) align(speeds []Speed) {
	limit := p.Time(speeds)
	pieces := func(r int) int { return len(p.Pieces(r)) + len(p.Pieces(r+1)) }
	for isBetter := true; isBetter; {
		isBetter = false
		for r := range p.Workers() - 1 {
			least, best := pieces(r), p.first[r+1]
			lo, hi, at := p.first[r], p.first[r+2], best
			for cut := max(lo+1, at-maxShift); cut <= min(hi-1, at+maxShift); cut++ {
				p.first[r+1] = cut
				isInTime := speeds[r].of(cut-lo) <= limit && speeds[r+1].of(hi-cut) <= limit
				if n := pieces(r); n < least && isInTime {
					least, best, isBetter = n, cut, true
				}
			}
			p.first[r+1] = best
		}
	}
}

// Lengths returns the number of shards of each worker.
func (p Plan) Lengths() []int {
	lengths := make([]int, p.Workers())
	for r := range lengths {
		lo, hi := p.Run(r)
		lengths[r] = hi - lo
	}
	return lengths
}

// Time returns how long the slowest worker computes.
func (p Plan) Time(speeds []Speed) float64 {
	longest := 0.0
	for r, s := range speeds {
		longest = max(longest, s.of(p.first[r+1]-p.first[r]))
	}
	return longest
}

// IdealTime returns how long the workers would compute if shards could be divided at will, so that all
// are done at once: (shards + sum Fixed/Each) / (sum 1/Each). Without fixed times 1/IdealTime is the sum of
// the workers' own rates.
func IdealTime(shards int, speeds []Speed) float64 {
	work, rate := float64(shards), 0.0
	for _, s := range speeds {
		work += s.Fixed / s.Each
		rate += 1 / s.Each
	}
	return work / rate
}
