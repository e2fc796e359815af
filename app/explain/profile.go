package explain

import (
	"math"
	"slices"

	"lockstep/app/evidence/stat"
	"lockstep/app/record"
)

// profile is what the steps of one run cost.
type profile struct {
	round    int
	mean     costs   // of the steps that are kept or, of workers that average, of rounds of averages
	kept     []int   // their first steps
	every    int     // steps of each
	measured float64 // mean seconds of a step, however it is cut up, with the time for checkpoints before it
	// computing and starved are the seconds for which each rank had no core, while it computed
	// and in all; see [record.Steps.CoreWaits].
	computing, starved []float64
	last               [][2]int // steps in which each rank arrived last, in the first and in the second half
}

// profileOf cuts up the steps of a run. late is the worker whose excess counts as a straggler's rather than
// as everybody's computation; -1: none.
func (s Side) profileOf(run *record.Run, late int) profile {
	workers := len(run.Ranks)
	p := profile{round: run.Round, last: make([][2]int, workers)}
	ranks := make([][]block, workers)
	n := math.MaxInt
	for i := range run.Ranks {
		ranks[i] = blocksOf(&run.Ranks[i].Steps)
		n = min(n, len(ranks[i]))
	}
	p.every = min(s.averageEvery(), max(n, 1))
	first := min(firstSteps, n-1)
	if p.every > 1 {
		first = n % p.every // so that blocks end where the weights were averaged
	}
	var steps []costs
	for lo := first; lo+p.every <= n; lo += p.every {
		blocks := make([]block, workers)
		for i, all := range ranks {
			blocks[i] = meanBlock(all[lo : lo+p.every])
		}
		last := lastOf(blocks)
		if !s.isApart() {
			p.last[last][2*(lo-first)/(n-first)]++
		}
		steps = append(steps, attribute(blocks, last, late, s.isApart()))
		p.kept = append(p.kept, lo)
	}
	p.keep(steps)
	p.measured = p.meanColumn(run.Ranks, func(s record.Steps) record.Numbers { return s.Seconds })
	for _, all := range ranks { // ranks wait for one another's checkpoints
		p.measured += meanBlock(all[first:n]).own[Checkpoint] / float64(workers)
	}
	for i := range run.Ranks {
		computing, exchange := p.coreWaits(run.Ranks[i:i+1], s.Setting.Threads)
		p.computing = append(p.computing, computing)
		p.starved = append(p.starved, computing+exchange)
	}
	s.splitExchange(&p, run)
	return p
}

// coreWaits returns the mean waits of a rank for cores.
func (p *profile) coreWaits(rank []record.Rank, threads int) (computing, exchange float64) {
	c, e := rank[0].Steps.CoreWaits(threads)
	return p.meanColumn(rank, func(record.Steps) record.Numbers { return c }),
		p.meanColumn(rank, func(record.Steps) record.Numbers { return e })
}

// keep keeps the steps but for the longest and the shortest fortieth, in which something else went on: a
// program on the same core stalls more of them. Checkpoints, which are rare, count with their mean over all.
func (p *profile) keep(all []costs) {
	checkpoint := meanOf(all)[Checkpoint]
	order := make([]float64, len(all))
	for i := range all {
		all[i][Checkpoint] = checkpoint
		order[i] = all[i].sum()
	}
	slices.Sort(order)
	lo, hi := order[len(order)/40], order[len(order)-1-len(order)/40]
	var steps []costs
	starts := p.kept
	p.kept = nil
	for i, c := range all {
		if v := c.sum(); lo <= v && v <= hi {
			steps, p.kept = append(steps, c), append(p.kept, starts[i])
		}
	}
	p.mean = meanOf(steps)
}

// meanColumn returns the mean of a column over some ranks and the steps that are kept.
func (p *profile) meanColumn(ranks []record.Rank, of func(record.Steps) record.Numbers) (mean float64) {
	for _, r := range ranks {
		column := of(r.Steps)
		for _, lo := range p.kept {
			for i := lo; i < lo+p.every; i++ {
				mean += entry(column, i) / float64(len(ranks)*len(p.kept)*p.every)
			}
		}
	}
	return mean
}

// block is what a rank spent in a step, or on average in those between two exchanges: before the exchange,
// Work being all computation, and waiting in it; and how many shards it computed.
type block struct {
	own          costs
	wait, shards float64
}

// blocksOf sorts a rank's samples by step. The optimizer's time is that after the exchange before, because
// all ranks leave an exchange together; a checkpoint's is that before the step, of which it is no part.
func blocksOf(s *record.Steps) []block {
	all := make([]block, len(s.Seconds))
	for i := range all {
		at := func(name string) float64 { return entry(s.Phases[name], i) }
		b := &all[i]
		if b.wait = at("sync_exposed"); i < len(s.Shards) {
			b.shards = float64(s.Shards[i])
		}
		compute := at("forward") + at("backward")
		b.own[Runtime] = min(entry(s.Paused, i), compute)
		b.own[Work] = compute - b.own[Runtime]
		b.own[Data], b.own[Other] = at("data"), at("evaluation")+at("other")
		b.own[Optimizer] = entry(s.Phases["optimizer"], max(i-1, 0))
		b.own[Checkpoint] = entry(s.Checkpoint, i)
	}
	return all
}

// meanBlock returns the means over some steps.
func meanBlock(all []block) (mean block) {
	share := 1 / float64(len(all))
	for _, b := range all {
		mean.own = mean.own.plus(share, b.own)
		mean.wait, mean.shards = mean.wait+share*b.wait, mean.shards+share*b.shards
	}
	return mean
}

// entry returns x[i]; 0 where the column does not go so far.
func entry(x []float64, i int) float64 {
	if i >= len(x) || math.IsNaN(x[i]) {
		return 0
	}
	return x[i]
}

// lastOf returns the rank that arrives last.
func lastOf(blocks []block) (last int) {
	for i, b := range blocks {
		if b.own.sum() > blocks[last].own.sum() {
			last = i
		}
	}
	return last
}

// attribute cuts up a step. All ranks wait for the one called last, so the step is what it spent, and what
// the exchange took beyond that wait, which is left in Latency. How much longer it computed than the others
// is a straggler's, unless it had more shards. Workers that wait for nobody, isApart, have the mean of all.
func attribute(blocks []block, last, late int, isApart bool) costs {
	mean := meanBlock(blocks)
	if isApart {
		mean.own[Latency] = mean.wait
		return mean.own
	}
	var even []costs // what those that are not late would have spent on equal shards
	for i, b := range blocks {
		if i == late && len(blocks) > 1 && b.shards <= mean.shards {
			continue
		}
		if b.shards > 0 {
			b.own[Work] *= mean.shards / b.shards
		}
		even = append(even, b.own)
	}
	base, out := meanOf(even), blocks[last].own
	out[Latency] = mean.wait - (out.sum() - mean.own.sum())
	if mean.shards > 0 {
		out[Imbalance] = base[Work] * (blocks[last].shards/mean.shards - 1)
	}
	out[Straggler] = -out[Imbalance]
	for _, c := range []Cost{Work, Optimizer, Other} {
		out[Straggler] += out[c] - base[c]
		out[c] = base[c]
	}
	return out
}

// splitExchange divides what Latency has of an exchange: the codec's part as it was measured, then sums and
// bytes; the rest is that of messages. Bytes take what they take by the rate of the link, as far as they were
// exposed or, where it is not known, what was neither wait for a peer nor anything else.
func (s Side) splitExchange(p *profile, run *record.Run) {
	all := p.mean[Latency]
	if all <= 0 {
		return
	}
	mean := func(of func(record.Steps) record.Numbers) float64 { return p.meanColumn(run.Ranks, of) }
	wait := mean(func(s record.Steps) record.Numbers { return s.Phases["sync_exposed"] })
	codec := min(mean(func(s record.Steps) record.Numbers { return s.Coded }), all)
	bytes := mean(func(s record.Steps) record.Numbers { return s.Added })
	peer := mean(func(s record.Steps) record.Numbers { return s.Peer })
	if rate := s.Setting.LinkRate; rate > 0 {
		bytes += exposedShare(run, wait) * 8 * busiestBytes(run) / rate
	} else if peer > 0 {
		bytes = wait - peer - codec
	}
	bytes = min(bytes, all-codec)
	p.mean[Codec], p.mean[Bandwidth], p.mean[Latency] = codec, bytes, all-codec-bytes
}

// exposedShare returns the part of the exchange that computation did not hide, given the exposed seconds,
// which are above 0; 1 where that is not told.
func exposedShare(run *record.Run, exposed float64) float64 {
	hidden := 0.0
	for _, r := range run.Ranks {
		if r.Hidden == nil {
			return 1
		}
		hidden += *r.Hidden / float64(len(run.Ranks))
	}
	return exposed / (exposed + hidden)
}

// busiestBytes returns the bytes of a step that the busiest link carries one after another: one direction of
// a worker's, or both of a server's, which first receives and then sends.
func busiestBytes(run *record.Run) float64 {
	most := float64(run.ServerBytes) / float64(max(run.Steps, 1))
	for _, r := range run.Ranks {
		for _, column := range []record.Numbers{r.Steps.Sent, r.Steps.Received} {
			if len(column) > 0 {
				most = max(most, stat.Mean(column))
			}
		}
	}
	return most
}

// meanOf returns the mean of some costs.
func meanOf(all []costs) (mean costs) {
	for _, c := range all {
		mean = mean.plus(1/float64(len(all)), c)
	}
	return mean
}

// Recurs says how often a worker arrived last at the exchange.
type Recurs struct {
	Rank  int     `json:"rank"`  // that was last most often
	Share float64 `json:"share"` // of the steps in which it was
	// IsRecurring is the word of [stat.IsRecurring] on it.
	IsRecurring bool `json:"recurring"`
}

// recurs returns who was last how often in all runs.
func recurs(all []profile) Recurs {
	r := Recurs{Rank: -1}
	if len(all) == 0 || len(all[0].last) < 2 {
		return r
	}
	count, times := make([][2]int, len(all[0].last)), [2]int{}
	for _, p := range all {
		for i, last := range p.last {
			for half, k := range last {
				count[i][half] += k
				times[half] += k
			}
		}
	}
	n := times[0] + times[1]
	if n == 0 {
		return r
	}
	sum := func(halves [2]int) int { return halves[0] + halves[1] }
	r.Rank = slices.Index(count, slices.MaxFunc(count, func(a, b [2]int) int { return sum(a) - sum(b) }))
	r.Share = float64(sum(count[r.Rank])) / float64(n)
	r.IsRecurring = stat.IsRecurring(count[r.Rank], times, len(count))
	return r
}

// profiles returns the profiles of a side's runs, and who was last.
func (s Side) profiles() ([]profile, Recurs) {
	cut := func(late int) (all []profile) {
		for _, run := range s.Runs {
			all = append(all, s.profileOf(run, late))
		}
		return all
	}
	all := cut(-1)
	who := recurs(all)
	if who.IsRecurring {
		all = cut(who.Rank)
	}
	return all, who
}
