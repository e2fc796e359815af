package explain

import (
	"cmp"
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
	// Confirmed says whether runs without the cause had steps as much shorter; null: there were none, they do
	// not tell, or the term was computed from them.
	Confirmed *bool `json:"confirmed"`
	// Measured says that the term was computed from runs without the cause, which agree with it therefore.
	Measured bool `json:"measured,omitempty"`
	// Intervention is what those runs changed; "": there were none, or the term is not large.
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

// IsSure reports whether runs without the cause show the term: they confirm it, or it was computed from them.
func (t Term) IsSure() bool { return t.Measured || t.Confirmed != nil && *t.Confirmed }

// isTold reports whether the interval leaves out 0.
func (t Term) isTold() bool { return t.Low > 0 || t.High < 0 }

// Compared says how one side's step was measured.
type Compared struct {
	Name    string  `json:"name"`           // of the side
	StepMS  float64 `json:"step_ms"`        // mean of its runs, without those unlike most
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
	LeftOut   int  `json:"rounds_left_out"` // in which something else went on
	// IsTold says that the difference is one, by its size and by how the ratio of the steps varies, which
	// stalls change less than they do the difference.
	IsTold bool `json:"told_apart"`

	ratio   estimate // logarithm of the ratio of the steps, by which they are told apart, times 1,000
	nearest removal  // of almost all of the difference
}

// removal is what an intervention takes away of the difference.
type removal struct {
	cost  Cost
	text  string
	share float64 // of the difference
	half  float64 // milliseconds by which that may be wrong, beside the difference itself
}

// nearlyAll is how near to the difference what an intervention takes away has to be to name the culprit.
const nearlyAll = 0.25

// IncomparableError says why two sides have no steps to compare.
type IncomparableError struct{ Reason string }

// Error returns the reason.
func (e *IncomparableError) Error() string { return e.Reason }

// large is the share of a step below which a term is not worth a run, nor to be called a culprit.
const large = 0.03

// check returns an *IncomparableError if two sides did not train the same model, or have no steps.
func check(a, b Side) error {
	for _, s := range []Side{a, b} {
		switch {
		case len(s.Runs) == 0:
			return &IncomparableError{fmt.Sprintf("%s has no run with more than %d steps, of which the "+
				"first are no measure; give one of more, as by --steps 100", s.Name, firstSteps)}
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
	if err := check(a, b); err != nil {
		return nil, err
	}
	return newPair(a, b, contention{}).explain(), nil
}

// contention is how many times as long a worker computes beside the others as alone, by side; 0 where that is
// not known.
type contention struct{ a, b float64 }

// pair is two sides with what their runs cost.
type pair struct {
	a, b         Side
	costsA       []profile
	costsB       []profile
	lastA, lastB Recurs
	beside       contention
	like         *pair // whose rounds tell too how rounds vary; nil: none
}

func newPair(a, b Side, beside contention) pair {
	p := pair{a: a, b: b, beside: beside}
	p.costsA, p.lastA = a.profiles()
	p.costsB, p.lastB = b.profiles()
	return p
}

// explain lists the terms.
func (p pair) explain() *Explanation {
	pairs := p.paired()
	e := &Explanation{A: compared(p.a, pairs, 0, p.lastA), B: compared(p.b, pairs, 1, p.lastB)}
	e.LeftOut = len(roundsOf(p.costsA, p.costsB)) - len(pairs)
	all := p.estimates(pairs)
	total := all[NumCosts]
	e.DifferenceMS, e.Interval, e.ratio = total.ms, total.interval(), ratioOf(pairs)
	e.RecordedMS, e.ResidualMS = e.DifferenceMS, e.DifferenceMS
	for c := range Cost(NumCosts) {
		x := all[c]
		t := Term{Name: c.String(), MS: x.ms, Low: x.ms - x.half, High: x.ms + x.half, cost: c,
			isSure: x.isSure}
		t.Rank = p.rankOf(t)
		e.ResidualMS -= t.MS
		if t.MS != 0 {
			e.Terms = append(e.Terms, t)
		}
	}
	slices.SortStableFunc(e.Terms, func(x, y Term) int { return cmp.Compare(math.Abs(y.MS), math.Abs(x.MS)) })
	e.judge()
	return e
}

// judge says whether the sides are told apart, by their difference or by a term of it, and which term is the
// culprit.
func (e *Explanation) judge() {
	d := e.DifferenceMS
	isCause := func(t Term) bool { return e.IsLarge(t) && t.MS*d > 0 }
	isSure := slices.ContainsFunc(e.Terms, func(t Term) bool { return t.isSure && isCause(t) })
	isApart := e.ratio.isSure || isSure && math.Abs(e.ratio.ms) > e.ratio.half
	e.IsTold = isApart && math.Abs(d) > large*e.A.StepMS
	e.Culprit, e.CulpritMS, e.CulpritInterval, e.By = "", 0, [2]float64{}, ""
	if !e.IsTold {
		return
	}
	if r := e.nearest; r.text != "" {
		half := math.Hypot(r.share*(e.Interval[1]-e.Interval[0])/2, r.half)
		e.Culprit, e.CulpritMS, e.By = r.cost.String(), r.share*d, r.text
		e.CulpritInterval = [2]float64{e.CulpritMS - half, e.CulpritMS + half}
		return
	}
	causes := slices.DeleteFunc(slices.Clone(e.Terms), func(t Term) bool { return !isCause(t) })
	if len(causes) > 0 {
		t := causes[max(slices.IndexFunc(causes, Term.IsSure), 0)]
		e.Culprit, e.CulpritMS, e.CulpritInterval = t.Name, t.MS, [2]float64{t.Low, t.High}
	}
}

func compared(s Side, pairs [][2]profile, side int, last Recurs) Compared {
	c := Compared{Name: s.Name, Workers: s.Setting.Workers, Runs: len(s.Runs)}
	for _, two := range pairs {
		c.StepMS += 1e3 * two[side].measured / float64(len(pairs))
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

// paired returns the runs of both sides round by round, without the rounds in which one was much slower or
// faster than in most, if enough are left: something else went on, or the machine was another.
func (p pair) paired() [][2]profile {
	pairs := roundsOf(p.costsA, p.costsB)
	calm := slices.Clone(pairs)
	for i := range 2 {
		isUsual := usual(pairs, i)
		calm = slices.DeleteFunc(calm, func(two [2]profile) bool { return !isUsual(two[i].measured) })
	}
	if len(calm) >= stat.LeastRounds {
		return calm
	}
	return pairs
}

// usual returns what reports whether the step of a side is like those of most runs: within three deviations
// of the median, as the median distance from it tells, or within a tenth.
func usual(pairs [][2]profile, side int) func(step float64) bool {
	var steps, apart []float64
	for _, two := range pairs {
		steps = append(steps, two[side].measured)
	}
	middle := stat.Median(steps)
	for _, v := range steps {
		apart = append(apart, math.Abs(v-middle))
	}
	limit := max(3*1.4826*stat.Median(apart), middle/10)
	return func(step float64) bool { return math.Abs(step-middle) <= limit }
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

// share is how many times as much a thread of side B has to compute.
func (p pair) share() float64 {
	return p.b.perWorker() * float64(p.a.Setting.Threads) / (p.a.perWorker() * float64(p.b.Setting.Threads))
}

// difference returns b - a with the difference in computation divided into work, efficiency and contention.
func (p pair) difference(ofA, ofB profile) costs {
	a, b := ofA.mean, ofB.mean
	d := b.plus(-1, a)
	x, y := p.a.Setting, p.b.Setting
	aloneA, aloneB := a[Work]/cmp.Or(p.beside.a, 1), b[Work]/cmp.Or(p.beside.b, 1)
	share := p.share()
	perShard := func(s Side) float64 { return float64(s.Setting.Batch) / float64(s.Setting.Shards) }
	switch isAlike := x.Threads == y.Threads && perShard(p.a) == perShard(p.b); {
	case isAlike && p.beside.b == 0: // shards of one shape take as long; workers slow one another
		aloneB = aloneA * share
	case isAlike && p.beside.a == 0:
		aloneA = aloneB / share
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

// cored returns d with the time for which threads of one side waited longer for a core than those of the
// other would have in the same time. Nothing tells in which phase a thread waited, so it is taken from what
// grew with it: from computation as much as one rank lost at most, from a straggler no more than its own, and
// what all ranks lost beyond that from the exchange, in which each waits for the others' threads. Sides with
// other threads leave the exchange alone: some of their waits cost nothing.
func (d costs) cored(a, b profile, late int, isAlike bool) costs {
	sign, few, many := 1.0, a, b
	if slices.Max(b.starved) < slices.Max(a.starved) {
		sign, few, many = -1, b, a
	}
	lost := make([]float64, len(many.starved))
	all := 0.0
	for r, share := range many.starved {
		lost[r] = max(0, share-slices.Max(few.starved)) * many.measured
		all += lost[r]
	}
	take := func(c Cost, most float64) float64 {
		taken := min(max(0, sign*d[c]), most)
		d[c], d[Cores] = d[c]-sign*taken, d[Cores]+sign*taken
		return taken
	}
	own := slices.Max(lost)
	ofLate := own
	if isAlike && late >= 0 && late < len(lost) {
		ofLate = lost[late]
	}
	taken := take(Memory, own)
	taken += take(Straggler, min(own-taken, ofLate))
	if isAlike {
		taken += take(Latency, all-taken)
		take(Bandwidth, all-taken)
	}
	return d
}

// IsLarge reports whether a term is worth an intervention: told from 0 and more than a small part of a step.
func (e *Explanation) IsLarge(t Term) bool { return t.isTold() && math.Abs(t.MS) > large*e.A.StepMS }

// Large returns the terms that are worth an intervention, the largest first.
func (e *Explanation) Large() []Term {
	return slices.DeleteFunc(slices.Clone(e.Terms), func(t Term) bool { return !e.IsLarge(t) })
}
