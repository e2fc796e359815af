package explain

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

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

	cost Cost
}

// Cost returns what the term is of.
func (t Term) Cost() Cost { return t.cost }

// IsSure reports whether runs without the cause show the term: they confirm it, or it was computed from them.
func (t Term) IsSure() bool { return t.Measured || t.Confirmed != nil && *t.Confirmed }

// isTold reports whether the interval leaves out 0.
func (t Term) isTold() bool { return t.Low > 0 || t.High < 0 }

// Compared says how one side's step was measured.
type Compared struct {
	Name    string  `json:"name"`              // of the side
	Kernels string  `json:"kernels,omitempty"` // path and math that computed; "": not told
	StepMS  float64 `json:"step_ms"`           // mean of its runs, without those unlike most
	Runs    int     `json:"runs"`              // recorded
	Again   int     `json:"again"`             // made by explain
	Last    *Recurs `json:"last,omitempty"`    // worker that was waited for; null: none is
}

// Explanation is why side B takes longer than side A, or less long.
type Explanation struct {
	A, B         Compared
	DifferenceMS float64    `json:"difference_ms"`          // B - A, means of steps
	Interval     [2]float64 `json:"difference_interval_ms"` // of it
	Rounds       int        `json:"rounds"`                 // in which both sides ran, of which means are
	LeftOut      int        `json:"rounds_left_out"`        // besides, in which something else went on
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
	// IsTold says that the difference is one, by its size and by how the ratio of the steps varies, which
	// stalls change less than they do the difference.
	IsTold bool `json:"told_apart"`
	// IsCut says that some of the runs that the terms want are missing: there was no time for them, or they
	// failed.
	IsCut bool `json:"cut,omitempty"`
}

// nearlyAll is how near to the difference what an intervention takes away has to be to name the culprit.
const nearlyAll = 0.25

// IncomparableError says why two sides have no steps to compare.
type IncomparableError struct{ Reason string }

// Error returns the reason.
func (e *IncomparableError) Error() string { return e.Reason }

// large is the share of a step below which a term is not worth a run, nor to be called a culprit.
const large = 0.03

// check returns an *IncomparableError if two sides did not train the same model on the same data, or have no
// steps. What a network computes of a sample follows from the data's shapes and classes too.
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
	works := [2]map[string]any{a.configured(), b.configured()}
	for i, s := range []Side{a, b} {
		works[i]["model"], works[i]["data"] = s.Setting.Model, s.Setting.Data
	}
	for _, name := range strings.Fields("model data task label-column size stem sequence") {
		x, isA := works[0][name]
		if y, isB := works[1][name]; isA && isB && !reflect.DeepEqual(x, y) {
			return &IncomparableError{fmt.Sprintf("%s has %s %v, %s has %v: their steps do not do the same "+
				"work; want one", a.Name, name, x, b.Name, y)}
		}
	}
	return nil
}

// Decompose explains the difference of the steps of two sides by their runs alone. It fails with an
// *[IncomparableError].
func Decompose(a, b Side) (*Explanation, error) {
	if err := check(a, b); err != nil {
		return nil, err
	}
	return newPair(a, b, [2]float64{}).explain(), nil
}

// pair is side A and side B with what their runs cost.
type pair struct {
	sides [2]Side
	runs  [2][]profile
	last  [2]Recurs
	// beside is how many times as long a worker computes beside the others as alone; 0: that is not known.
	beside [2]float64
	like   *pair // whose rounds tell too how rounds vary; nil: none
}

func newPair(a, b Side, beside [2]float64) *pair {
	p := &pair{sides: [2]Side{a, b}, beside: beside}
	for i, s := range p.sides {
		p.runs[i], p.last[i] = s.profiles()
	}
	return p
}

// explain lists the terms.
func (p *pair) explain() *Explanation {
	rounds, leftOut := p.rounds()
	e := &Explanation{A: p.compared(0, rounds), B: p.compared(1, rounds)}
	e.Rounds, e.LeftOut = len(rounds), leftOut
	all := p.estimates()
	total, ratio := all[inAll], all[ofSteps]
	e.DifferenceMS, e.Interval = total.ms, total.interval()
	e.IsTold = ratio.isSure && math.Abs(total.ms) > large*e.A.StepMS
	e.RecordedMS, e.ResidualMS = total.ms, total.ms
	for c, x := range all[:NumCosts] {
		t := Term{Name: Cost(c).String(), MS: x.ms, Low: x.ms - x.half, High: x.ms + x.half, cost: Cost(c)}
		t.Rank = p.rankOf(t)
		e.ResidualMS -= t.MS
		if t.MS != 0 {
			e.Terms = append(e.Terms, t)
		}
	}
	slices.SortStableFunc(e.Terms, func(x, y Term) int { return cmp.Compare(math.Abs(y.MS), math.Abs(x.MS)) })
	e.blame()
	return e
}

// blame names the culprit, unless an intervention has: the largest term of a difference that is told apart.
func (e *Explanation) blame() {
	causes := slices.DeleteFunc(e.Large(), func(t Term) bool { return t.MS*e.DifferenceMS <= 0 })
	if !e.IsTold || e.By != "" || len(causes) == 0 {
		return
	}
	t := causes[0]
	e.Culprit, e.CulpritMS, e.CulpritInterval = t.Name, t.MS, [2]float64{t.Low, t.High}
}

func (p *pair) compared(side int, rounds [][2]profile) Compared {
	s := p.sides[side]
	c := Compared{Name: s.Name, Kernels: s.kernels(), Runs: len(s.Runs)}
	for _, two := range rounds {
		c.StepMS += 1e3 * two[side].measured / float64(len(rounds))
	}
	if p.last[side].Rank >= 0 {
		c.Last = &p.last[side]
	}
	return c
}

// rankOf returns the worker that a straggler's term is of, if it recurs.
func (p *pair) rankOf(t Term) *int {
	who := p.last[1]
	if t.MS < 0 {
		who = p.last[0]
	}
	if t.cost != Straggler && t.cost != Imbalance || !who.IsRecurring {
		return nil
	}
	return &who.Rank
}

// rounds returns the runs of both sides round by round, or in their order if they have no round in common.
// Rounds in which one was much slower or faster than in most are left out, if enough remain: something else
// went on, or the machine was another.
func (p *pair) rounds() (all [][2]profile, leftOut int) {
	a, b := p.runs[0], p.runs[1]
	for _, x := range a {
		i := slices.IndexFunc(b, func(y profile) bool { return y.round == x.round })
		if i >= 0 {
			all = append(all, [2]profile{x, b[i]})
		}
	}
	if all == nil {
		for i := range min(len(a), len(b)) {
			all = append(all, [2]profile{a[i], b[i]})
		}
	}
	isUsual := [2]func(float64) bool{usual(all, 0), usual(all, 1)}
	calm := slices.DeleteFunc(slices.Clone(all), func(two [2]profile) bool {
		return !isUsual[0](two[0].measured) || !isUsual[1](two[1].measured)
	})
	if len(calm) < stat.LeastRounds {
		return all, 0
	}
	return calm, len(all) - len(calm)
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

// share is how many times as much a thread of side B has to compute.
func (p *pair) share() float64 {
	a, b := p.sides[0], p.sides[1]
	return b.perWorker() * float64(a.Setting.Threads) / (a.perWorker() * float64(b.Setting.Threads))
}

// difference returns b - a with the difference in computation divided into work, efficiency and contention.
func (p *pair) difference(ofA, ofB profile) costs {
	a, b := ofA.mean, ofB.mean
	d := b.plus(-1, a)
	x, y := p.sides[0].Setting, p.sides[1].Setting
	aloneA, aloneB := a[Work]/cmp.Or(p.beside[0], 1), b[Work]/cmp.Or(p.beside[1], 1)
	share := p.share()
	isAlike := x.Threads == y.Threads && x.Batch*y.Shards == y.Batch*x.Shards
	if isAlike && p.sides[0].kernels() == p.sides[1].kernels() { // shards of one shape take as long
		if p.beside[1] == 0 { // what they take longer is contention
			aloneB = aloneA * share
		} else if p.beside[0] == 0 {
			aloneA = aloneB / share
		}
	}
	d[Work] = aloneA * (share - 1)
	d[Efficiency] = aloneB - aloneA*share
	d[Memory] = (b[Work] - aloneB) - (a[Work] - aloneA)
	if p.sides[0].update() == p.sides[1].update() { // which takes as long, but for contention
		d[Memory], d[Optimizer] = d[Memory]+d[Optimizer], 0
	}
	late := p.last[1].Rank
	if d[Straggler] < 0 {
		late = p.last[0].Rank
	}
	return d.cored(ofA, ofB, late, x.Workers == y.Workers && x.Threads == y.Threads)
}

// cored moves into Cores what ranks of one side waited longer for a core than those of the other. These waits
// have made other terms longer, and are taken out of them in order: out of Memory at most the longest wait of
// a rank that computes; out of Straggler what is left of it, at most the late rank's own; out of Latency and
// then Bandwidth the rest of the sum over ranks, because in an exchange each waits for the threads of all.
// Unless isAlike, sides have other numbers of workers or threads, and the longest wait stands for the sum.
func (d costs) cored(a, b profile, late int, isAlike bool) costs {
	sign, few, many := 1.0, a, b
	if slices.Max(b.starved) < slices.Max(a.starved) {
		sign, few, many = -1, b, a
	}
	lost := func(few, many []float64) (by []float64, all float64) {
		for _, seconds := range many {
			by = append(by, max(0, seconds-slices.Max(few)))
			all += by[len(by)-1]
		}
		return by, all
	}
	computing, _ := lost(few.computing, many.computing)
	each, all := lost(few.starved, many.starved)
	take := func(c Cost, most float64) float64 {
		taken := min(max(0, sign*d[c]), most)
		d[c], d[Cores] = d[c]-sign*taken, d[Cores]+sign*taken
		return taken
	}
	own := slices.Max(computing)
	ofLate := own
	if isAlike && late >= 0 && late < len(computing) {
		ofLate = computing[late]
	}
	taken := take(Memory, own)
	taken += take(Straggler, min(own-taken, ofLate))
	if !isAlike {
		all = slices.Max(each)
	}
	taken += take(Latency, max(0, all-taken))
	take(Bandwidth, max(0, all-taken))
	return d
}

// IsLarge reports whether a term is worth an intervention: told from 0 and more than a small part of a step.
func (e *Explanation) IsLarge(t Term) bool { return t.isTold() && math.Abs(t.MS) > large*e.A.StepMS }

// Large returns the terms that are worth an intervention, the largest first.
func (e *Explanation) Large() []Term {
	return slices.DeleteFunc(slices.Clone(e.Terms), func(t Term) bool { return !e.IsLarge(t) })
}
