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
	// starved is the share of the time for which a thread of each rank was ready to run and had no core. Some
	// of it costs nothing: threads of the runtime wait too.
	starved []float64
	last    [][2]int // steps in which each rank arrived last, in the first and in the second half
}

// block is what a rank spent in a step, or on average in those between two exchanges.
type block struct {
	own          costs
	wait, shards float64
}

// profileOf cuts up the steps of a run. late is the worker whose excess counts as a straggler's rather than
// as everybody's computation; -1: none.
func (s Side) profileOf(run *record.Run, late int) profile {
	workers := len(run.Ranks)
	p := profile{round: run.Round, last: make([][2]int, workers)}
	ranks := make([]columns, workers)
	n := math.MaxInt
	for i := range run.Ranks {
		ranks[i] = columnsOf(&run.Ranks[i].Steps)
		n = min(n, len(ranks[i].own))
	}
	every := min(s.averageEvery(run), max(n, 1))
	first := min(firstSteps, n-1)
	if every > 1 {
		first = n % every // so that blocks end where the weights were averaged
	}
	var steps []costs
	isApart := s.isApart()
	for lo := first; lo+every <= n; lo += every {
		blocks := make([]block, workers)
		for i, c := range ranks {
			blocks[i] = c.block(lo, lo+every)
		}
		last := lastOf(blocks)
		if !isApart {
			p.last[last][2*(lo-first)/(n-first)]++
		}
		steps = append(steps, attribute(blocks, last, late, isApart))
		p.kept = append(p.kept, lo)
	}
	p.keep(steps)
	p.every = every
	mean := func(of func(record.Steps) record.Numbers) float64 { return p.meanColumn(run.Ranks, of) }
	p.measured = mean(func(s record.Steps) record.Numbers { return s.Seconds })
	for _, c := range ranks { // its ranks wait for one another's
		p.measured += c.block(first, n).own[Checkpoint] / float64(workers)
	}
	for i := range run.Ranks {
		one := run.Ranks[i : i+1]
		delayed := p.meanColumn(one, func(s record.Steps) record.Numbers { return s.Delayed })
		threads := float64(s.Setting.Threads)
		starved := delayed / (p.measured * threads)
		if usage := p.meanColumn(one, func(s record.Steps) record.Numbers { return s.Usage }); usage > 0 {
			busy := p.meanColumn(one, func(s record.Steps) record.Numbers { return s.CPU })
			starved = min(starved, max(0, 1-busy/(usage*threads))) // else it was others of its threads
		}
		p.starved = append(p.starved, starved)
	}
	s.splitExchange(&p, run, mean)
	return p
}

// keep keeps the steps but for the longest and the shortest fortieth, in which something else went on: a
// program on the same core stalls more of them. Checkpoints, which are rare, count with their mean over all.
func (p *profile) keep(all []costs) {
	checkpoint := meanOf(all)[Checkpoint]
	totals := make([]float64, len(all))
	for i := range all {
		all[i][Checkpoint] = checkpoint
		totals[i] = all[i].sum()
	}
	order := slices.Sorted(slices.Values(totals))
	left := len(order) / 40
	lo, hi := order[left], order[len(order)-1-left]
	var steps []costs
	starts := p.kept
	p.kept = nil
	for i, v := range totals {
		if lo <= v && v <= hi {
			steps, p.kept = append(steps, all[i]), append(p.kept, starts[i])
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

// columns are the costs of one rank by step before the exchange, and what it waited in it.
type columns struct {
	own          []costs // Work is all computation
	wait, shards []float64
}

// columnsOf sorts a rank's samples. The optimizer's time is that after the exchange before, because all ranks
// leave an exchange together; a checkpoint's is that before the step, of which it is no part.
func columnsOf(s *record.Steps) columns {
	n := len(s.Seconds)
	c := columns{own: make([]costs, n), wait: s.Phases["sync_exposed"]}
	for i := range n {
		at := func(name string) float64 { return entry(s.Phases[name], i) }
		own := &c.own[i]
		compute := at("forward") + at("backward")
		own[Runtime] = min(entry(s.Paused, i), compute)
		own[Work] = compute - own[Runtime]
		own[Data], own[Other] = at("data"), at("evaluation")+at("other")
		own[Optimizer], own[Checkpoint] = entry(s.Phases["optimizer"], max(i-1, 0)), entry(s.Checkpoint, i)
	}
	for _, v := range s.Shards {
		c.shards = append(c.shards, float64(v))
	}
	return c
}

// block returns the means over some steps.
func (c columns) block(lo, hi int) (b block) {
	b.own = meanOf(c.own[lo:hi])
	for i := lo; i < hi; i++ {
		b.wait += entry(c.wait, i) / float64(hi-lo)
		b.shards += entry(c.shards, i) / float64(hi-lo)
	}
	return b
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
	var base, mean costs // of those that are not late; of all
	others, shards, wait := 0.0, 0.0, 0.0
	workers := float64(len(blocks))
	for _, b := range blocks {
		shards += b.shards / workers
		wait += b.wait / workers
		mean = mean.plus(1/workers, b.own)
	}
	if isApart {
		mean[Latency] = wait
		return mean
	}
	for i, b := range blocks {
		if i == late && len(blocks) > 1 && b.shards <= shards {
			continue
		}
		others++
		own := b.own
		if b.shards > 0 {
			own[Work] *= shards / b.shards
		}
		base = base.plus(1, own)
	}
	base = costs{}.plus(1/others, base)
	out := blocks[last].own
	out[Latency] = wait - (out.sum() - mean.sum())
	if shards > 0 {
		out[Imbalance] = base[Work] * (blocks[last].shards/shards - 1)
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
func (s Side) splitExchange(p *profile, run *record.Run,
	mean func(func(record.Steps) record.Numbers) float64) {
	all := p.mean[Latency]
	if all <= 0 {
		return
	}
	wait := mean(func(s record.Steps) record.Numbers { return s.Phases["sync_exposed"] })
	codec := min(mean(func(s record.Steps) record.Numbers { return s.Coded }), all)
	bytes := mean(func(s record.Steps) record.Numbers { return s.Added })
	peer := mean(func(s record.Steps) record.Numbers { return s.Peer })
	switch {
	case s.Link != nil && s.Link.BytesPerSecond > 0:
		bytes += exposedShare(run, wait) * busiestBytes(run) / s.Link.BytesPerSecond
	case s.Link == nil && peer > 0:
		bytes = wait - peer - codec
	}
	bytes = min(bytes, all-codec)
	p.mean[Codec], p.mean[Bandwidth], p.mean[Latency] = codec, bytes, all-codec-bytes
}

// exposedShare returns the part of the exchange that computation did not hide, given the exposed seconds; 1
// where that is not told.
func exposedShare(run *record.Run, exposed float64) float64 {
	hidden := 0.0
	for _, r := range run.Ranks {
		if r.Hidden == nil {
			return 1
		}
		hidden += *r.Hidden / float64(len(run.Ranks))
	}
	if exposed+hidden <= 0 {
		return 1
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
