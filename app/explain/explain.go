package explain

import (
	"fmt"
	"math"
	"slices"

	"lockstep/app/evidence/stat"
)

// Term is one reason for a difference of two steps. Times are in milliseconds, positive where side B takes
// longer.
type Term struct {
	Name string  `json:"name"` // of the [Cost]
	Rank *int    `json:"rank"` // of a single worker; null: it is nobody's
	MS   float64 `json:"ms"`   // it takes of the difference
	Low  float64 `json:"low"`  // end of its interval
	High float64 `json:"high"` // end of its interval
	// Confirmed says whether runs without the cause had steps as much shorter; null: there were none.
	Confirmed *bool `json:"confirmed"`
	// Intervention is what those runs changed or, without any, why there were none; "": it is not large.
	Intervention string `json:"intervention"`
	// Predicted and Changed are how much of a step the intervention was to take away by the term, and how
	// much it did, with the interval; left out: there was none.
	Predicted float64    `json:"predicted_ms,omitzero"`
	Changed   float64    `json:"changed_ms,omitzero"`
	Interval  [2]float64 `json:"changed_interval_ms,omitzero"`

	cost   Cost
	isSure bool // it is told from 0 with sureCoverage
}

// Cost returns what the term is of.
func (t Term) Cost() Cost { return t.cost }

// isTold reports whether the interval leaves out 0.
func (t Term) isTold() bool { return t.Low > 0 || t.High < 0 }

// Compared says how one side's step was measured.
type Compared struct {
	Name    string  `json:"name"`           // of the side
	StepMS  float64 `json:"step_ms"`        // mean of its runs, each that of 19 of 20 of its steps
	Runs    int     `json:"runs"`           // recorded
	Again   int     `json:"again"`          // made by explain
	Last    *Recurs `json:"last,omitempty"` // worker that was waited for; null: none is
	Workers int     `json:"workers"`
}

// Explanation is why side B takes longer than side A, or less long.
type Explanation struct {
	A, B         Compared
	DifferenceMS float64    `json:"difference_ms"`          // B - A, means of steps
	Interval     [2]float64 `json:"difference_interval_ms"` // of it
	Terms        []Term     `json:"terms"`                  // the largest first
	ResidualMS   float64    `json:"residual_ms"`            // of the difference that no term has
	Culprit      string     `json:"culprit"`                // name of a term; "": none is told apart
	// CulpritMS is how much of the difference is the culprit's, with its interval: its term or, where one
	// intervention takes nearly all of the difference away, what that takes, in whatever terms it shows.
	CulpritMS       float64    `json:"culprit_ms"`
	CulpritInterval [2]float64 `json:"culprit_interval_ms"`
	// By is that intervention; "": none does.
	By string `json:"culprit_by"`
	// RecordedMS is the difference of the runs that were given, AgainMS that of the same two sides in runs
	// that explain made; null: it made none.
	RecordedMS float64  `json:"recorded_ms"`
	AgainMS    *float64 `json:"again_ms"`
	// IsPassing says that the difference did not come back, so that terms are those of the recorded runs.
	IsPassing bool `json:"passing"`
	// IsPooled says that recorded runs and those that explain made are taken together; else those that it
	// made count alone, unless the difference was passing.
	IsPooled bool `json:"pooled"`
	// IsTold says that the difference is one, by its interval and by its size.
	IsTold bool `json:"told_apart"`

	step    float64 // milliseconds of side A's
	nearest removal // of almost all of the difference
	isApart bool    // all runs of one side are slower than those of the other
}

// removal is what an intervention took away of the difference.
type removal struct {
	cost     Cost
	text     string
	ms       float64
	interval [2]float64
}

// nearlyAll is how near to the difference what an intervention takes away has to be to name the culprit.
const nearlyAll = 0.25

// IncomparableError says why two sides have no steps to compare.
type IncomparableError struct{ Reason string }

// Error returns the reason.
func (e *IncomparableError) Error() string { return e.Reason }

// Large is the share of a step below which a term is not worth a run, nor to be called a culprit.
const Large = 0.03

// Check returns an *IncomparableError if two sides did not train the same model, or have no steps.
func Check(a, b Side) error {
	for _, s := range []Side{a, b} {
		steps := 0
		for _, r := range s.Runs {
			for _, rank := range r.Ranks {
				steps = max(steps, len(rank.Steps.Seconds))
			}
		}
		switch {
		case steps <= firstSteps:
			return &IncomparableError{fmt.Sprintf("%s has %d steps: want more than %d, because the first "+
				"ones are no measure of the others", s.Name, steps, firstSteps)}
		case s.Setting.Peer != "":
			return &IncomparableError{fmt.Sprintf("%s was run by %s, which does not tell what its steps "+
				"take: want rows of Lockstep", s.Name, s.Setting.Peer)}
		}
	}
	if x, y := a.Setting.Model, b.Setting.Model; x != y {
		return &IncomparableError{fmt.Sprintf("%s trains %s, %s trains %s: their steps do not do the same "+
			"work; want one model", a.Name, x, b.Name, y)}
	}
	return nil
}

// Decompose explains the difference of the steps of two sides by their runs alone. It fails with an
// *[IncomparableError].
func Decompose(a, b Side) (*Explanation, error) {
	if err := Check(a, b); err != nil {
		return nil, err
	}
	return newPair(a, b, contention{1, 1}).explain(), nil
}

// contention is how many times as long a worker computes beside the others as alone, by side; 1 where that is
// not known.
type contention struct{ a, b float64 }

// pair is two sides with what their runs cost.
type pair struct {
	a, b         Side
	costsA       []profile
	costsB       []profile
	lastA, lastB Recurs
	beside       contention
}

func newPair(a, b Side, beside contention) pair {
	p := pair{a: a, b: b, beside: beside}
	p.costsA, p.lastA = a.profiles()
	p.costsB, p.lastB = b.profiles()
	return p
}

// explain lists the terms.
func (p pair) explain() *Explanation {
	e := &Explanation{A: compared(p.a, p.costsA, p.lastA), B: compared(p.b, p.costsB, p.lastB)}
	e.step = e.A.StepMS
	var total []float64
	terms := make([][]float64, NumCosts)
	for _, two := range p.paired() {
		d := p.difference(two[0], two[1])
		total = append(total, two[1].measured-two[0].measured)
		for c, v := range d {
			terms[c] = append(terms[c], v)
		}
	}
	within, all := p.within()
	var stepsA, stepsB []float64
	for _, two := range p.paired() {
		stepsA, stepsB = append(stepsA, two[0].measured), append(stepsB, two[1].measured)
	}
	e.DifferenceMS, e.Interval = inMS(total, all, sureCoverage)
	// With few rounds it is known better how each side varies than how their differences do.
	apart := stat.MomentsOf(stepsB).Minus(stat.MomentsOf(stepsA), sureCoverage)
	if len(total) >= stat.LeastRounds && 1e3*(apart.Hi-apart.Lo) < e.Interval[1]-e.Interval[0] {
		e.Interval = [2]float64{1e3 * apart.Lo, 1e3 * apart.Hi}
	}
	e.isApart = areApart(stepsA, stepsB)
	e.RecordedMS = e.DifferenceMS
	e.ResidualMS = e.DifferenceMS
	for c := range Cost(NumCosts) {
		t := Term{Name: c.String(), cost: c}
		var interval [2]float64
		t.MS, interval = inMS(terms[c], within[c], stat.Confidence)
		t.Low, t.High = interval[0], interval[1]
		_, interval = inMS(terms[c], 1.5*within[c], sureCoverage)
		t.isSure = interval[0] > 0 || interval[1] < 0
		t.Rank = p.rankOf(t)
		e.ResidualMS -= t.MS
		if t.MS != 0 || t.isTold() {
			e.Terms = append(e.Terms, t)
		}
	}
	e.sort()
	e.judge()
	return e
}

// sureCoverage is that of the interval by which a difference is told to be one: two equal rows shall hardly
// ever be.
const sureCoverage = 0.99

// Each run of one side is slower than each of the other by chance in one of 126 benchmarks of five rounds;
// with fewer it has to be by a tenth. Stalls widen an interval, and change no rank.
const (
	rankRounds = 5
	rankGap    = 1.1
)

// areApart reports whether all runs of one side are slower than all of the other.
func areApart(a, b []float64) bool {
	if len(a) < stat.LeastRounds {
		return false
	}
	gap := max(slices.Min(b)/slices.Max(a), slices.Min(a)/slices.Max(b))
	return gap > rankGap || gap > 1 && len(a) >= rankRounds
}

// judge says whether the sides are told apart, by their difference or by a term of it, and which term is the
// culprit.
func (e *Explanation) judge() {
	d := e.DifferenceMS
	isSure := slices.ContainsFunc(e.Terms, func(t Term) bool {
		return t.isSure && e.isLarge(t) && t.MS*d > 0
	})
	e.IsTold = (e.Interval[0] > 0 || e.Interval[1] < 0 || isSure || e.isApart) && math.Abs(d) > Large*e.step
	e.Culprit, e.CulpritMS, e.CulpritInterval, e.By = "", 0, [2]float64{}, ""
	if !e.IsTold {
		return
	}
	if r := e.nearest; r.text != "" {
		e.Culprit, e.CulpritMS, e.CulpritInterval, e.By = r.cost.String(), r.ms, r.interval, r.text
		return
	}
	for _, wantsConfirmed := range []bool{true, false} {
		for _, t := range e.Terms {
			isConfirmed := t.Confirmed != nil && *t.Confirmed
			if isConfirmed == wantsConfirmed && e.isLarge(t) && t.MS*d > 0 && e.Culprit == "" {
				e.Culprit, e.CulpritMS, e.CulpritInterval = t.Name, t.MS, [2]float64{t.Low, t.High}
			}
		}
	}
}

// isLarge reports whether a term is told from 0 and more than a small part of a step.
func (e *Explanation) isLarge(t Term) bool { return t.isTold() && math.Abs(t.MS) > Large*e.step }

func compared(s Side, all []profile, last Recurs) Compared {
	c := Compared{Name: s.Name, Workers: s.Setting.Workers, Runs: len(s.Runs)}
	for _, p := range all {
		c.StepMS += 1e3 * p.measured / float64(len(all))
	}
	if last.Rank >= 0 {
		c.Last = &last
	}
	return c
}

// rankOf returns the worker that a straggler's term is of, if it recurs.
func (p pair) rankOf(t Term) *int {
	if t.cost != Straggler && t.cost != Imbalance {
		return nil
	}
	who := p.lastB
	if t.MS < 0 {
		who = p.lastA
	}
	if !who.IsRecurring {
		return nil
	}
	return &who.Rank
}

// paired returns the runs of both sides round by round, without the rounds in which one was much slower than
// usual, if enough are left: something else went on.
func (p pair) paired() [][2]profile {
	pairs := roundsOf(p.costsA, p.costsB)
	mostA, mostB := usual(p.costsA), usual(p.costsB)
	calm := slices.DeleteFunc(slices.Clone(pairs), func(two [2]profile) bool {
		return two[0].measured > mostA || two[1].measured > mostB
	})
	if len(calm) >= stat.LeastRounds {
		return calm
	}
	return pairs
}

// usual returns the longest step that is not much longer than those of most runs: three deviations above the
// median, as the median distance from it tells, and never less than a tenth.
func usual(all []profile) float64 {
	var steps, apart []float64
	for _, p := range all {
		steps = append(steps, p.measured)
	}
	middle := stat.Median(steps)
	for _, v := range steps {
		apart = append(apart, math.Abs(v-middle))
	}
	return middle + max(3*1.4826*stat.Median(apart), middle/10)
}

// roundsOf returns the runs of two sides round by round; without a round in common, in their order.
func roundsOf(a, b []profile) (pairs [][2]profile) {
	for _, x := range a {
		i := slices.IndexFunc(b, func(y profile) bool { return y.round == x.round })
		if i >= 0 {
			pairs = append(pairs, [2]profile{x, b[i]})
		}
	}
	if pairs == nil {
		for i := range min(len(a), len(b)) {
			pairs = append(pairs, [2]profile{a[i], b[i]})
		}
	}
	return pairs
}

// difference returns b - a with the difference in computation divided into work, efficiency and contention.
func (p pair) difference(ofA, ofB profile) Costs {
	a, b := ofA.mean, ofB.mean
	d := b.plus(-1, a)
	x, y := p.a.Setting, p.b.Setting
	aloneA, aloneB := a[Work]/p.beside.a, b[Work]/p.beside.b
	share := p.b.perWorker() * float64(x.Threads) / (p.a.perWorker() * float64(y.Threads))
	perShard := func(s Side) float64 { return float64(s.Setting.Batch) / float64(s.Setting.Shards) }
	if p.beside == (contention{1, 1}) && x.Threads == y.Threads && perShard(p.a) == perShard(p.b) {
		aloneB = aloneA * share // shards of one shape take as long; workers slow one another
	}
	d[Work] = aloneA * (share - 1)
	d[Efficiency] = aloneB - aloneA*share
	d[Memory] = (b[Work] - aloneB) - (a[Work] - aloneA)
	late := p.lastB.Rank
	if d[Straggler] < 0 {
		late = p.lastA.Rank
	}
	return d.cored(ofA, ofB, late, x.Workers == y.Workers && x.Threads == y.Threads)
}

// cored returns d with the time for which threads of B waited longer for a core than those of A would have in
// the same time. It is taken from what grew with it, in proportion, because nothing tells in which phase a
// thread waited: from the exchange too, where a peer's thread may wait, unless the sides have other threads,
// whose waits may cost nothing; from a straggler no more than its own.
func (d Costs) cored(a, b profile, late int, isAlike bool) Costs {
	longer := func(r int) float64 { return (b.starved[r] - slices.Max(a.starved)) * b.measured }
	if slices.Max(b.starved) < slices.Max(a.starved) {
		longer = func(r int) float64 { return (slices.Max(b.starved) - a.starved[r]) * a.measured }
	}
	all, most := 0.0, 0.0
	for r := range max(len(a.starved), len(b.starved)) {
		if by := longer(min(r, len(b.starved)-1, len(a.starved)-1)); math.Abs(by) > math.Abs(most) {
			most = by
		}
	}
	grown := Costs{}
	from := []Cost{Memory, Straggler}
	if isAlike {
		from = append(from, Latency, Bandwidth)
	}
	for _, c := range from {
		if grown[c] = math.Abs(d[c]); d[c]*most <= 0 {
			grown[c] = 0
		}
		if c == Straggler && late >= 0 && late < len(b.starved) && isAlike {
			grown[c] = min(grown[c], math.Max(longer(late)*math.Copysign(1, most), 0))
		}
		all += grown[c]
	}
	if all == 0 {
		return d
	}
	share := math.Copysign(min(math.Abs(most)/all, 1), most)
	for _, c := range from {
		d[c], d[Cores] = d[c]-share*grown[c], d[Cores]+share*grown[c]
	}
	return d
}

// numBatches is into how many stretches a run is cut to see how its steps vary.
const numBatches = 10

// within returns half the widths of the intervals of the terms and of their sum by how the steps of single
// runs vary, for sides without runs enough to tell: from means of stretches long enough to be independent.
func (p pair) within() (half Costs, all float64) {
	pairs := p.paired()
	if len(pairs) >= stat.LeastRounds || len(pairs) == 0 {
		return half, 0
	}
	for _, side := range pairs[0] {
		n := len(side.steps)
		size := max(n/numBatches, 1)
		columns := make([][]float64, NumCosts+1)
		for lo := 0; lo+size <= n; lo += size {
			mean := meanOf(side.steps[lo : lo+size])
			for c, v := range mean {
				columns[c] = append(columns[c], v)
			}
			columns[NumCosts] = append(columns[NumCosts], mean.Sum())
		}
		for c := range columns {
			i := stat.MomentsOf(columns[c]).MeanInterval(stat.Confidence)
			switch width := (i.Hi - i.Lo) / 2; {
			case i.Coverage == 0: // of one step nothing is known
			case c == NumCosts:
				all = math.Hypot(all, width)
			default:
				half[c] = math.Hypot(half[c], width)
			}
		}
	}
	// Two runs of one program differ by more than their steps do.
	spread := runSpread * (pairs[0][0].measured + pairs[0][1].measured) / 2
	compute := math.Hypot(half[Work], spread)
	half[Work], half[Efficiency], half[Memory], half[Cores] = compute, compute, compute, compute
	return half, math.Hypot(all, spread)
}

// runSpread is by how much two runs of one program may differ in their steps, relative, so that a single run
// of each side names no cause for it. Where there are rounds, they tell.
const runSpread = 0.06

// inMS returns the mean of some seconds in milliseconds, with its interval: of the values if they are enough,
// else of the given half width.
func inMS(x []float64, half, coverage float64) (mean float64, interval [2]float64) {
	mean = 1e3 * stat.Mean(x)
	if len(x) >= stat.LeastRounds {
		i := stat.MomentsOf(x).MeanInterval(coverage)
		return mean, [2]float64{1e3 * i.Lo, 1e3 * i.Hi}
	}
	return mean, [2]float64{mean - 1e3*half, mean + 1e3*half}
}

// Large returns the terms that are worth an intervention, the largest first.
func (e *Explanation) Large() []Term {
	return slices.DeleteFunc(slices.Clone(e.Terms), func(t Term) bool { return !e.isLarge(t) })
}

// Excuse says of large terms that no variant confirms why there is none.
func (e *Explanation) Excuse(reasons map[Cost]string) {
	for i := range e.Terms {
		if t := &e.Terms[i]; t.Confirmed == nil && e.isLarge(*t) {
			t.Intervention = reasons[t.cost]
		}
	}
}
