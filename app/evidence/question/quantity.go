package question

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/stat"
	"lockstep/app/record"
)

// CorePrice is what an hour of a core cost in US dollars: an eighth of a machine of eight logical processors.
const CorePrice = 0.34 / 8

// quantities returns what questions may ask of a row, besides [LossAt] a step. The phases of a step are asked
// for as shares of it.
func quantities() []string {
	return append([]string{"step", "total", "cost", "epoch", "rate", "batches", "loss", "accuracy", "best",
		"memory", "sent", "compression", "energy", "checkpoints", "speedup", "efficiency", "hidden", "serial",
		"network", "evenness", "computing", "exposed", "packing", "busiest", "parameters", Parts, Why,
		Balance},
		compare.Phases()...)
}

// Parts is the quantity of a question where a step goes: its figure is the step, whose phases the row has.
const Parts = "parts"

// What pages divide a step into, in the order of [StepParts].
const (
	Compute   = iota // forward, backward, optimizer
	Exchange         // waiting for other workers
	CoreWaits        // waiting for cores
	Rest             // data, and all else
	NumParts
)

// StepParts are the seconds of a row's median step by part; they add up to it.
type StepParts [NumParts]float64

// Total returns the seconds of all parts.
func (p StepParts) Total() (sum float64) {
	for _, seconds := range p {
		sum += seconds
	}
	return sum
}

// PartsOf divides the step of a row. Whatever of a page says where a step goes has these figures.
func PartsOf(l *compare.Line) (parts StepParts) {
	at := map[string]int{"forward": Compute, "backward": Compute, "optimizer": Compute,
		"sync_exposed": Exchange, compare.CoreWait: CoreWaits}
	for i, seconds := range l.Phases {
		part, isNamed := at[compare.Phases()[i]]
		if !isNamed {
			part = Rest
		}
		parts[part] += seconds
	}
	return parts
}

// GrowsWithLength reports whether a quantity depends on how long a run is, so that rows are compared by it
// only after as many samples.
func GrowsWithLength(quantity string) bool {
	return slices.Contains([]string{"total", "cost", "loss", "accuracy", "best", "energy", "checkpoints",
		"network", "busiest"}, quantity)
}

// LossAt returns the step after which a quantity such as "loss-at-40" is the loss; 0: it is none.
func LossAt(quantity string) int {
	if text, isLoss := strings.CutPrefix(quantity, "loss-at-"); isLoss {
		if step, err := strconv.Atoi(text); err == nil && 0 < step && step < 1e9 {
			return step
		}
	}
	return 0
}

// isKnown reports whether questions may ask for a quantity.
func isKnown(quantity string) bool {
	return slices.Contains(quantities(), quantity) || LossAt(quantity) > 0
}

// IsGuess reports whether the accuracy of a row is not told from that of guessing among its classes: within
// two standard errors of as many test samples. A run that is too short, or diverged, has one.
func IsGuess(l *compare.Line) bool {
	guess, samples := 1/float64(l.Setting.Classes), float64(l.TestSamples)
	return l.Setting.Classes > 1 && samples > 0 &&
		Of(l, "accuracy").Median <= guess+2*math.Sqrt(guess*(1-guess)/samples)
}

// IsShare reports whether a quantity is a part of a whole.
func IsShare(quantity string) bool {
	return slices.Contains(append(compare.Phases(), "accuracy", "best", "efficiency", "serial", "evenness",
		"computing", "packing"), quantity)
}

// Scale returns what a unit is in the unit of results, which have seconds, bytes, joules and fractions of 1.
func Scale(unit string) float64 {
	scales := map[string]float64{"ms": 1e-3, "min": 60, "h": 3600, "Wh": 3600, "%": 0.01, "kB": 1e3,
		"MB": 1e6, "GB": 1e9, "kB/s": 1e3, "MB/s": 1e6}
	if scale, isThere := scales[unit]; isThere {
		return scale
	}
	return 1
}

// ofRun returns a quantity of a run; NaN where it was not measured.
func ofRun(l *compare.Line, r compare.RunLine, quantity string) float64 {
	switch {
	case quantity == "step", quantity == Parts && l.Phases != nil:
		return r.Step
	case quantity == "total":
		return r.Seconds
	case quantity == "cost": // of the cores that it keeps busy
		return r.Seconds / 3600 * float64(l.Cores) * CorePrice
	case quantity == "epoch":
		return stat.Mean(r.EpochSeconds)
	case quantity == "rate":
		return r.PerSecond
	case quantity == "batches": // of all workers
		return r.PerSecond / l.OwnSamples()
	case quantity == "loss":
		return meanLoss(r, func(loss record.Numbers) record.Numbers {
			return loss[len(loss)-(len(loss)+9)/10:]
		})
	case LossAt(quantity) > 0 && l.Record().Every <= 1:
		step := LossAt(quantity)
		return meanLoss(r, func(loss record.Numbers) record.Numbers {
			return loss[min(step-1, len(loss)):min(step, len(loss))]
		})
	case quantity == "accuracy" && r.TestAccuracy != nil:
		return *r.TestAccuracy
	case quantity == "best" && len(r.Evaluations) > 0:
		return float64(best(r).Accuracy)
	case quantity == "energy" && r.Joules > 0:
		return r.Joules
	case quantity == "memory":
		return mostMemory(r)
	case quantity == "sent": // by all workers in a second
		return float64(r.BytesSent) / r.Seconds
	case quantity == "busiest" && r.BusiestBytes > 0: // process, sent and received
		return float64(r.BusiestBytes)
	case quantity == "compression" && r.BytesVectors > 0:
		return float64(r.BytesVectors) / float64(r.BytesSent)
	case quantity == "evenness":
		return evenness(r)
	case quantity == "checkpoints":
		return cmp.Or(r.Checkpoints, &record.Checkpoints{}).ExposedSeconds
	}
	return math.NaN()
}

// best returns the first evaluation of a run with its greatest accuracy.
func best(r compare.RunLine) record.Evaluation {
	return slices.MaxFunc(record.Followed(r.Evaluations), func(a, b record.Evaluation) int {
		return cmp.Compare(a.Accuracy, b.Accuracy)
	})
}

// BestEpochs returns after how many epochs the runs of a row had their greatest accuracy: the least and the
// most. isThere is false unless a run was evaluated several times.
func BestEpochs(l *compare.Line) (least, most float64, isThere bool) {
	least = math.Inf(1)
	for _, r := range l.Runs() {
		if all := record.Followed(r.Evaluations); len(all) > 0 {
			at := best(r).Epochs
			least, most, isThere = min(least, at), max(most, at), isThere || len(all) > 1
		}
	}
	return least, most, isThere
}

// meanLoss is the mean of a part of the losses of each rank: the last tenth, since that of one step is noise,
// or the step that is asked for.
func meanLoss(r compare.RunLine, part func(record.Numbers) record.Numbers) float64 {
	var all []float64
	for _, rank := range r.Ranks {
		all = append(all, part(rank.Steps.Loss)...)
	}
	return stat.Mean(all)
}

// mostMemory is the most memory of a worker.
func mostMemory(r compare.RunLine) float64 {
	var all []float64
	for _, rank := range r.Ranks {
		all = append(all, rank.Steps.RSS...)
	}
	return stat.Quantile(all, 1)
}

// waits returns the seconds of a chosen time for which a worker waits for the exchange, in the mean, by run
// that counts.
func waits(l *compare.Line, of func(compare.RunLine) float64) []float64 {
	shares := l.PhaseShares("sync_exposed")
	var all []float64
	for _, r := range l.Runs() {
		if len(all) < len(shares) && (r.IsCounted || l.Disturbed) {
			all = append(all, shares[len(all)]*of(r))
		}
	}
	return all
}

// packing is the part of a run's exchanges in which workers compress, encode or decode; NaN: they do not.
func packing(r compare.RunLine) float64 {
	var packed, all float64
	for _, rank := range r.Ranks {
		packed += stat.Mean(rank.Steps.Coded)
		all += stat.Mean(rank.Steps.Phases["sync_exposed"])
	}
	return packed / all
}

// evenness is the least computing of a worker over the most, in a step and in the mean; NaN: there is one.
func evenness(r compare.RunLine) float64 {
	least, most := math.Inf(1), 0.0
	for _, rank := range r.Ranks {
		computing := stat.Mean(rank.Steps.Phases["forward"]) + stat.Mean(rank.Steps.Phases["backward"])
		least, most = min(least, computing), max(most, computing)
	}
	if len(r.Ranks) < 2 {
		return math.NaN()
	}
	return least / most
}

// Of returns a quantity of a row in the unit of results: the median of its runs, of accuracy the mean.
func Of(l *compare.Line, quantity string) Estimate {
	values := byRound(l, quantity)
	switch {
	case quantity == "speedup":
		return ofRatio(l.Speedup)
	case quantity == "efficiency":
		return ofRatio(l.Efficiency)
	case quantity == "accuracy" && l.Accuracy.Samples.Seeds > 1:
		e := l.Accuracy.Samples
		return Estimate{e.Mean, e.Interval, e.Seeds}
	case quantity == "serial": // by Amdahl's law, of all work
		e, workers := ofRatio(l.Speedup), float64(l.Setting.Workers)
		e.Median, e.Interval.Lo, e.Interval.Hi = stat.KarpFlatt(e.Median, workers),
			stat.KarpFlatt(e.Interval.Hi, workers), stat.KarpFlatt(e.Interval.Lo, workers)
		return e
	case quantity == "hidden":
		values = []float64{l.Hidden}
	case quantity == "exposed": // communication, in a step
		values = waits(l, func(r compare.RunLine) float64 { return r.Step })
	case quantity == "packing": // gradients, as part of sync_exposed
		values = waits(l, packing)
	case quantity == "network":
		values = waits(l, func(r compare.RunLine) float64 { return r.TrainSeconds })
	case quantity == "computing":
		values = l.PhaseShares("forward", "backward", "optimizer")
	case slices.Contains(compare.Phases(), quantity):
		values = l.PhaseShares(quantity)
	}
	values = slices.DeleteFunc(values, math.IsNaN)
	noise := noiseOf(quantity, l.Noise)
	in := noise.Interval(values)
	if IsShare(quantity) {
		in = noise.ShareInterval(values)
	}
	return Estimate{stat.Median(values), in, len(values)}
}

// ofRatio returns a ratio as an estimate.
func ofRatio(r stat.Ratio) Estimate {
	if !r.Known() {
		return unmeasured()
	}
	return Estimate{r.Median, r.Interval, len(r.Values)}
}

// byRound returns a quantity of the runs of a row by round: of those whose times count, of losses and
// accuracies of all, since what others take from a run is only time.
func byRound(l *compare.Line, quantity string) []float64 {
	values := slices.Repeat([]float64{math.NaN()}, record.MaxRounds)
	isOfResult := LossAt(quantity) > 0 || slices.Contains([]string{"loss", "accuracy", "best"}, quantity)
	for _, r := range l.Runs() {
		if r.IsCounted || l.Disturbed || isOfResult {
			values[r.Round] = ofRun(l, r, quantity)
		}
	}
	return values
}
