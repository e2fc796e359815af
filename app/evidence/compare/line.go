package compare

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"lockstep/app/evidence/stat"
	"lockstep/app/record"
)

// work is the amount of work of a run; the runs of one line must agree on it.
type work struct {
	steps       int
	samples     int64
	testSamples int64
}

// LineOf summarises the successful runs of a row, of some rounds, compared with nothing.
func LineOf(row *record.Row, rounds int) *Line {
	l := &Line{Setting: row.Setting, record: row, stepByRound: slices.Repeat([]float64{math.NaN()}, rounds),
		missing: cmp.Or(row.Rounds, rounds) - len(row.Runs)}
	var good, clean []*record.Run
	for i := range row.Runs {
		run := &row.Runs[i]
		if run.Error != "" {
			l.Failures = append(l.Failures, run.Error)
			continue
		}
		good = append(good, run)
		if !run.Taken.IsDisturbed() {
			clean = append(clean, run)
		}
	}
	byRound := func(a, b *record.Run) int { return a.Round - b.Round }
	slices.SortFunc(good, byRound)
	slices.SortFunc(clean, byRound)
	l.OK, l.runs = len(good), good
	if l.Disturbed = l.OK > 0 && len(clean) == 0; l.Disturbed {
		clean = good
	}
	l.Measured = len(clean)
	l.summarizeTime(clean)
	l.summarizeResult(good)
	if len(good) > 0 {
		l.summarizeCurves(good[0], clean)
	}
	return l
}

// Record returns the row with all its samples. It is not to be changed.
func (l *Line) Record() *record.Row { return l.record }

// Key names row i, from 0, on pages and as FOLDER#KEY: A to Z, then A1 to Z1 and so on.
func Key(i int) string {
	key := string(rune('A' + i%26))
	if i >= 26 {
		key += strconv.Itoa(i / 26)
	}
	return key
}

// Key is that of the row.
func (l *Line) Key() string { return Key(l.row) }

func (l *Line) summarizeTime(runs []*record.Run) {
	var total, epochs, steps, rates []float64
	for _, r := range runs {
		step := timed(r)
		if l.isMean() {
			step = []float64{meanStep(r, l.Setting.Batch)}
		}
		l.stepByRound[r.Round] = stat.Median(step)
		total, rates = append(total, r.Seconds), append(rates, l.rate(r))
		epochs = append(epochs, r.EpochSeconds...)
		steps = append(steps, step...)
	}
	l.Total = stat.Summarize(total)
	l.Epoch = stat.Summarize(epochs)
	l.RunMedian = stat.Summarize(l.stepByRound)
	// The median is that of the runs, because the picture shows runs, pairs compare them, and the interval is
	// theirs: the median of all steps together can lie outside that interval.
	l.Step = stat.Summarize(steps)
	l.Step.Median = l.RunMedian.Median
	l.PerSecond = stat.Median(rates)
}

// summarizeResult fills what runs ended with: figures of the first, whether its time counts or not, so that
// rows of one training tell the same, and whether all agree.
func (l *Line) summarizeResult(runs []*record.Run) {
	l.LossFirst, l.LossLast = math.NaN(), math.NaN()
	l.TrainAccuracy, l.TestAccuracy = math.NaN(), math.NaN()
	l.BytesSent, l.BusiestBytes, l.ServerBytes = math.NaN(), math.NaN(), math.NaN()
	l.hashes = map[uint64]string{}
	for _, r := range runs {
		if c := r.Taken; c != nil && (l.Taken == nil || c.Sum() > l.Taken.Sum()) {
			l.Taken = c
		}
		l.addStaleness(r.Staleness)
		hash := r.ParameterSHA256
		if l.Setting.For != "" { // see workOf
			hash = ""
		}
		l.addHash(l.seedOf(r), hash)
	}
	if len(runs) == 0 {
		return
	}
	l.SHA256 = l.hashes[l.seedOf(runs[0])]
	l.firstResult(runs[0])
	isOther := func(r *record.Run) bool { return l.workOf(r) != l.work }
	l.Uneven = slices.ContainsFunc(runs, isOther)
}

// firstResult fills the figures that are those of one run.
func (l *Line) firstResult(r *record.Run) {
	l.work, l.computed = l.workOf(r), computedBy(r)
	l.TrainAccuracy, l.TestAccuracy = known(r.TrainAccuracy), known(r.TestAccuracy)
	l.TestSamples = r.TestSamples
	if l.Setting.Peer == "" { // another program does not tell
		l.BytesSent = float64(r.BytesSent)
	}
	if r.BusiestBytes > 0 {
		l.BusiestBytes = float64(r.BusiestBytes)
	}
	if r.ServerBytes > 0 {
		l.ServerBytes = float64(r.ServerBytes)
	}
	l.ISA, l.computer = r.Kernels(), r.Computer()
	l.Repeats = l.repeatsOf(r)
	if loss := lossOf(r); len(loss) > 0 {
		l.LossFirst = loss[0]
		if l.Repeats == 0 {
			l.LossLast = loss[len(loss)-1]
		}
	}
}

// addStaleness adds the updates of a run by their staleness.
func (l *Line) addStaleness(updates []int) {
	for len(l.Staleness) < len(updates) {
		l.Staleness = append(l.Staleness, 0)
	}
	for staleness, n := range updates {
		l.Staleness[staleness] += n
	}
}

// addHash notes the parameters that a run with a seed ended with.
func (l *Line) addHash(seed uint64, hash string) {
	if former, isKnown := l.hashes[seed]; !isKnown {
		l.hashes[seed] = hash
		l.Seeds++
	} else if former != hash {
		l.hashes[seed] = ""
		l.Disagree = true
	}
}

// workOf returns the amount of work of a run. Runs that train for a time do equal work if that is equal:
// their steps are as long as they are, and no two end with the same weights.
func (l *Line) workOf(r *record.Run) work {
	if l.Setting.For != "" {
		return work{testSamples: r.TestSamples}
	}
	return work{steps: r.Steps, samples: r.Samples, testSamples: r.TestSamples}
}

// seedOf returns the seed of a run.
func (l *Line) seedOf(r *record.Run) uint64 { return cmp.Or(r.Seed, l.Setting.Seed) }

// summarizeCurves fills what is told of single steps: what each worker did is that of the first run, where
// the time went that of all timed ones.
func (l *Line) summarizeCurves(first *record.Run, timed []*record.Run) {
	l.Loss = lossOf(first)
	for _, rank := range first.Ranks {
		l.Ranks = append(l.Ranks, rankLineOf(rank))
	}
	if !l.isLoose() || !l.strategy().IsAsync {
		l.Times, l.Phases = medianTimes(timed), l.meanPhases(timed)
	}
	l.summarizePlaces(first)
	l.Hidden, l.BytesVectors = l.hiddenOf(timed), math.NaN()
	if n := first.BytesVectors; n > 0 {
		l.BytesVectors = float64(n)
	}
}

// rankLineOf returns what a worker of a run reported.
func rankLineOf(rank record.Rank) RankLine {
	s := rank.Steps
	seconds := sumOf(s.Usage)
	out := RankLine{Rank: rank.Rank, Loss: s.Loss, OwnLoss: s.OwnLoss, Cores: sumOf(s.CPU) / seconds,
		Memory: math.NaN(), Sent: sumOf(s.Sent) / seconds, Received: sumOf(s.Received) / seconds}
	if len(s.RSS) > 0 {
		out.Memory = slices.Max(s.RSS)
	}
	return out
}

// medianTimes returns the seconds of each step, median over the runs that have it.
func medianTimes(runs []*record.Run) (times []float64) {
	all := make([][]float64, len(runs))
	longest := 0
	for i, r := range runs {
		all[i] = stepSeconds(r)
		longest = max(longest, len(all[i]))
	}
	at := make([]float64, 0, len(runs))
	for step := range longest {
		at = at[:0]
		for _, s := range all {
			if step < len(s) {
				at = append(at, s[step])
			}
		}
		times = append(times, stat.Median(at))
	}
	return times
}

// meanPhases returns seconds by phase: the median step of the line, divided as the mean over runs, ranks and
// typical steps is; that mean of workers that do not meet. Phases of no known name count as other.
func (l *Line) meanPhases(runs []*record.Run) []float64 {
	sums := make([]float64, len(Phases()))
	steps := 0
	for _, r := range runs {
		ranks := make([][]spent, len(r.Ranks))
		for i, rank := range r.Ranks {
			ranks[i] = spentBy(rank.Steps, l.Setting.Threads)
		}
		for _, at := range typical(r) {
			var all []spent
			for _, steps := range ranks {
				if at < len(steps) { // a rank may have reported fewer than another
					all = append(all, steps[at])
				}
			}
			moveCoreWaits(all, l.isLoose() || l.Setting.Workers == 1)
			for _, one := range all {
				for i, v := range one.phases {
					sums[i] += v
				}
			}
			steps += len(all)
		}
	}
	if steps == 0 {
		return nil
	}
	by := l.Step.Median / sumOf(sums)
	if l.isLoose() {
		by = 1 / float64(steps)
	}
	for i := range sums {
		sums[i] *= by
	}
	return sums
}

// entry returns x[i], or 0 past the end, because a rank may have reported fewer steps than another.
func entry(x []float64, i int) float64 {
	if i >= len(x) {
		return 0
	}
	return x[i]
}

// typical returns the steps after the first that took no less than the 10th and no more than the
// 90th percentile of the run: a burst of the machine must not decide what a step consists of.
func typical(r *record.Run) (out []int) {
	timed := timed(r)
	lo, hi := stat.Quantile(timed, 0.1), stat.Quantile(timed, 0.9)
	for i, s := range timed {
		if lo <= s && s <= hi {
			out = append(out, i+1)
		}
	}
	return out
}

// stepSeconds returns the time of each step, from when the last rank has finished the one before it until the
// last has finished it: less than the longest of the ranks' where they take turns on a core.
func stepSeconds(r *record.Run) (out []float64) {
	ahead := make([]float64, len(r.Ranks)) // of the last to finish
	for step := 0; ; step++ {
		before, after := math.Inf(-1), math.Inf(-1) // of the ranks that have the step
		for i, rank := range r.Ranks {
			if s := rank.Steps.Seconds; step < len(s) {
				before, after = max(before, ahead[i]), max(after, ahead[i]+s[step])
			}
		}
		if math.IsInf(after, -1) {
			return out
		}
		for i, rank := range r.Ranks {
			ahead[i] += entry(rank.Steps.Seconds, step) - after
		}
		out = append(out, after-before)
	}
}

// timed returns the step times without the first step.
func timed(r *record.Run) []float64 {
	s := stepSeconds(r)
	return s[min(1, len(s)):]
}

// meanStep returns the mean time of a step of so many samples: the training time by the steps of all samples
// or, where it is not known, that of the slowest worker's steps after the first by their number.
func meanStep(r *record.Run, batch int) float64 {
	if r.TrainSeconds > 0 && r.Samples > 0 {
		return r.TrainSeconds * float64(batch) / float64(r.Samples)
	}
	longest, most := 0.0, 0
	for _, rank := range r.Ranks {
		sum := 0.0
		for _, s := range rank.Steps.Seconds[min(1, len(rank.Steps.Seconds)):] {
			sum += s
		}
		longest, most = max(longest, sum), max(most, len(rank.Steps.Seconds)-1)
	}
	return longest / float64(most)
}

// rate returns the samples of all timed steps of a run over the sum of their times, as the mean of rows that
// share steps is: so the rates of both compare. docs/design/0045-rates-are-of-all-steps.md has why.
func (l *Line) rate(r *record.Run) float64 {
	if l.isMean() {
		return float64(l.Setting.Batch) / meanStep(r, l.Setting.Batch)
	}
	samples := 0
	for i := 1; len(r.Ranks) > 0 && i < len(r.Ranks[0].Steps.Samples); i++ {
		samples += r.Ranks[0].Steps.Samples[i]
	}
	return float64(samples) / sumOf(timed(r))
}

// OwnSamples returns how many samples a worker has in a step: a share of the batch, or all of it where a step
// is one worker's.
func (l *Line) OwnSamples() float64 {
	if l.Staleness != nil {
		return float64(l.Setting.Batch)
	}
	return float64(l.Setting.Batch) / float64(l.Setting.Workers)
}

// lossOf returns the mean of the ranks' losses by step, without ranks that had no sample in it.
// Where ranks exchange they all report the loss of the global batch, and the mean is that value.
func lossOf(r *record.Run) []float64 {
	if len(r.Ranks) == 0 {
		return nil
	}
	out := make([]float64, len(r.Ranks[0].Steps.Loss))
	for i := range out {
		first, rest, n := math.NaN(), 0.0, 0
		for _, rank := range r.Ranks {
			s := rank.Steps
			if i >= len(s.Loss) || math.IsNaN(s.OwnLoss[i]) {
				continue
			}
			if n == 0 {
				first = s.Loss[i]
			}
			rest += s.Loss[i] - first // 0, hence exact, where the ranks agree
			n++
		}
		out[i] = first + rest/float64(n)
	}
	return out
}

// known returns the value that x points to; NaN if it was not measured.
func known(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return *x
}
