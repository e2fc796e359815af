package explain

import (
	"math"
	"slices"
	"strings"

	"lockstep/app/evidence/stat"
	"lockstep/app/record"
)

// Action is what an intervention does to a side, by the name that records have.
type Action string

// The actions of interventions.
const (
	Align   Action = "align"   // one setting gets the value that the other side has; for every term
	Silence Action = "silence" // workers exchange nothing
	Isolate Action = "isolate" // one worker alone, with its share of the batch
	Relieve Action = "relieve" // the network's limit that a term is of is doubled, which halves what it costs
	Remove  Action = "remove"  // what costs the time is left out
)

// Variant is a side that an intervention changed, with its runs beside those of both sides.
type Variant struct {
	Side
	Action Action
	OfB    bool   // it is B that was changed; else A
	IsAll  bool   // it has no other difference left, so that it refutes what it does not change
	Cost   Cost   // of the term that it is for or, if it aligns a setting, of the cause that this is
	Text   string // what was changed, for a reader
}

// Confirm explains the difference of a and b by their recorded runs and by those of an experiment, in which
// both ran again beside variants of them, round by round. All rounds count; but a difference that did not
// come back was passing: it is explained by the recorded runs alone, and no term is confirmed. Without
// recorded runs of a, which is then b's ideal, b is explained as it ran beside it. It fails with an
// *[IncomparableError].
func Confirm(a, b, againA, againB Side, variants []Variant) (*Explanation, error) {
	isIdeal := len(a.Runs) == 0
	if isIdeal {
		a = againA
	}
	for _, two := range [][2]Side{{a, b}, {againA, againB}} {
		if err := check(two[0], two[1]); err != nil {
			return nil, err
		}
	}
	beside := contentionOf(againA, againB, variants)
	recorded, again := newPair(a, b, beside), newPair(againA, againB, beside)
	was, now := recorded.explain(), again.explain()
	e := now
	if !isIdeal && !was.comesBack(now) {
		if len(recorded.paired()) < stat.LeastRounds { // which do not tell themselves how they vary
			recorded.like = &again
		}
		e = recorded.explain()
		e.IsPassing = true
	} else {
		if !isIdeal {
			e = newPair(a.with(againA), b.with(againB), beside).explain()
		}
		for _, v := range variants {
			e.confirm(again, now.DifferenceMS, v)
		}
		e.isolate(again, variants)
		e.judge()
	}
	e.RecordedMS, e.AgainMS = was.DifferenceMS, &now.DifferenceMS
	e.A.Runs, e.A.Again, e.B.Runs, e.B.Again = len(a.Runs), len(againA.Runs), len(b.Runs), len(againB.Runs)
	if isIdeal {
		e.A.Runs = 0
	}
	return e, nil
}

// with returns the side with the runs of another, in later rounds.
func (s Side) with(again Side) Side {
	s.Runs = slices.Clone(s.Runs)
	for _, r := range again.Runs {
		one := *r
		one.Round += record.MaxRounds
		s.Runs = append(s.Runs, &one)
	}
	return s
}

// comesBack reports whether the difference that was recorded is there in later runs too: at least half of
// it, or as much as their intervals allow.
func (e *Explanation) comesBack(now *Explanation) bool {
	was, is := e.DifferenceMS, now.DifferenceMS
	apart := math.Hypot(e.Interval[1]-e.Interval[0], now.Interval[1]-now.Interval[0]) / 2
	return math.Abs(was) <= large*e.A.StepMS || math.Abs(is) >= math.Abs(was)/2 && was*is > 0 ||
		math.Abs(was-is) <= apart
}

// contentionOf returns how much longer workers compute beside others than the variants that ran alone.
func contentionOf(a, b Side, variants []Variant) contention {
	var c contention
	for _, v := range variants {
		if v.Action != Isolate {
			continue
		}
		side, into := a, &c.a
		if v.OfB {
			side, into = b, &c.b
		}
		crowded, _ := side.profiles()
		alone, _ := v.profiles()
		var ratios []float64
		for _, two := range roundsOf(alone, crowded) {
			ratios = append(ratios, two[1].mean[Work]/two[0].mean[Work])
		}
		if r := stat.Median(ratios); stat.IsFinite(r) && r > 0 {
			*into = r
		}
	}
	if c.b > 0 && a.Setting.Workers == 1 {
		c.a = 1
	}
	if c.a > 0 && b.Setting.Workers == 1 {
		c.b = 1
	}
	return c
}

// effectOf returns by how much the steps of a variant are shorter than those of the side that it is of, round
// by round in seconds: by term and, last, in all. mean is what the side's steps cost.
func effectOf(again pair, v Variant) (less [NumCosts + 1][]float64, mean costs) {
	p := pair{a: v.Side, b: again.a, costsB: again.costsA, lastB: again.lastA}
	if v.OfB {
		p.b, p.costsB, p.lastB = again.b, again.costsB, again.lastB
	}
	p.costsA, p.lastA = v.profiles()
	pairs := roundsOf(p.costsA, p.costsB)
	for _, two := range pairs {
		mean = mean.plus(1/float64(len(pairs)), two[1].mean)
	}
	return p.columns(pairs), mean
}

// agree is the share of a term by which its intervention may differ from it.
const agree = 0.25

// confirm holds the terms that a variant is for against the change that it brought. now is the difference of
// the sides in the same rounds.
func (e *Explanation) confirm(again pair, now float64, v Variant) {
	less, mean := effectOf(again, v)
	changed := less[NumCosts]
	if len(changed) == 0 {
		return
	}
	sign := 1.0
	if !v.OfB {
		sign = -1
	}
	if v.Action == Align || v.Action == Remove {
		e.take(v, sign, now, changed)
	}
	// What the variant covers is expected to go.
	covers := func(c Cost) bool { return c == v.Cost }
	guessed := guess(0, e.A.StepMS/1e3)
	switch {
	case v.Action == Align: // each term by itself
		for _, t := range e.Terms {
			only := func(c Cost) bool { return c == t.cost }
			e.hold(only, estimateOf(less[t.cost], guessed), sign*t.MS, v)
		}
		return
	case v.Action == Isolate: // all of one side's contention, where a term is of the difference
		return
	case v.Action == Silence:
		covers = Cost.IsExchange
	case v.Cost == Codec: // without it there are more bytes
		changed = sum(changed, less[Bandwidth], -1)
	}
	expected := 0.0
	for c, seconds := range mean {
		if covers(Cost(c)) {
			expected += 1e3 * seconds
		}
	}
	if v.Action == Relieve {
		expected /= 2
	}
	if expected > 0 { // else the side has none of it
		e.hold(covers, estimateOf(changed, guessed), expected, v)
	}
}

// isolate holds what the sides compute, B's less A's, against what one worker of each computes alone: its
// work, the kernels' efficiency, and the contention that is gone then. A side of one worker is alone itself;
// where it is not known of both, nothing is held against it.
func (e *Explanation) isolate(again pair, variants []Variant) {
	var did estimate
	var texts []string
	alone := [2][]profile{again.costsA, again.costsB}
	for _, v := range variants {
		if v.Action != Isolate {
			continue
		}
		less, _ := effectOf(again, v)
		one := estimateOf(sum(less[Memory], less[Cores], 1), guess(0, e.A.StepMS/1e3))
		side := 1
		if !v.OfB {
			side, one.ms = 0, -one.ms
		}
		alone[side], _ = v.profiles()
		did.ms, did.half = did.ms+one.ms, math.Hypot(did.half, one.half)
		texts = append(texts, v.Text)
	}
	if len(texts) == 0 || again.beside.a == 0 || again.beside.b == 0 {
		return
	}
	v := Variant{Action: Isolate, Text: strings.Join(texts, " and ")}
	e.hold(func(c Cost) bool { return c == Memory || c == Cores }, did, e.sumOf(Memory, Cores), v)
	var work, efficiency []float64
	for _, two := range roundsOf(alone[0], alone[1]) {
		a, b := two[0].mean[Work], two[1].mean[Work]
		work, efficiency = append(work, b-a), append(efficiency, b-a*again.share())
	}
	for c, seconds := range map[Cost][]float64{Work: work, Efficiency: efficiency} {
		e.hold(func(other Cost) bool { return other == c }, estimateOf(seconds, guess(0, e.A.StepMS/1e3)),
			e.sumOf(c), v)
	}
}

// sumOf adds the terms of some costs.
func (e *Explanation) sumOf(some ...Cost) (ms float64) {
	for _, t := range e.Terms {
		if slices.Contains(some, t.cost) {
			ms += t.MS
		}
	}
	return ms
}

func sum(x, y []float64, f float64) (all []float64) {
	for i := range x {
		all = append(all, x[i]+f*y[i])
	}
	return all
}

// take notes which share of the difference now a variant takes away, if it is nearly all of it and nearer to
// it than what any other takes.
func (e *Explanation) take(v Variant, sign, now float64, changed []float64) {
	took := estimateOf(changed, guess(e.A.StepMS/1e3, e.A.StepMS/1e3))
	r := removal{v.Cost, v.Text, sign * took.ms / now, took.half}
	if v.IsAll { // it is the other side
		r.half = 0
	}
	left := func(share float64) float64 { return math.Abs(share - 1) }
	if left(r.share) <= nearlyAll && (e.nearest.text == "" || left(r.share) < left(e.nearest.share)) {
		e.nearest = r
	}
}

// hold says of large terms whether a change is the expected one, unless another variant has confirmed them. A
// setting that is not all of a difference refutes nothing. A change that is not told from none confirms
// nothing, and neither do runs that a term was computed from: Memory and Efficiency are of workers that ran
// alone.
func (e *Explanation) hold(covers func(Cost) bool, did estimate, expected float64, v Variant) {
	isRight := math.Abs(did.ms-expected) <= max(agree*math.Abs(expected), large*e.A.StepMS, did.half)
	for i := range e.Terms {
		t := &e.Terms[i]
		isOpen := t.Confirmed == nil && (isRight || v.Action != Align || v.IsAll) ||
			t.Confirmed != nil && isRight && !*t.Confirmed
		if !covers(t.cost) || !e.IsLarge(*t) || !isOpen {
			continue
		}
		t.Confirmed, t.Intervention = &isRight, v.Text
		t.Measured = isRight && v.Action == Isolate && (t.cost == Memory || t.cost == Efficiency)
		if t.Measured || isRight && math.Abs(did.ms) <= did.half {
			t.Confirmed = nil
		}
		t.Predicted, t.Changed, t.Interval = expected, did.ms, did.interval()
	}
}
