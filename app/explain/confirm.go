package explain

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"lockstep/app/evidence/stat"
	"lockstep/app/record"
)

// What interventions do to a side, as records name it.
const (
	Align   = "align"   // one setting gets the value that the other side has; for every term
	Silence = "silence" // workers exchange nothing
	Isolate = "isolate" // one worker alone, with its share of the batch
	Relieve = "relieve" // the network's limit that a term is of is doubled, which halves what it costs
	Remove  = "remove"  // what costs the time is left out
)

// variant is an intervention with what it takes away from a side: the pair of what it made of the side and,
// as B, the side itself.
type variant struct {
	record.Intervention
	*pair
	at   int     // side that it is of
	sign float64 // of that in a difference
}

// variantsOf returns those of two sides that have runs, and are for a cost that there is.
func variantsOf(sides [2]Side, rows []record.Row, planned []record.Intervention) (all []variant) {
	for _, v := range planned {
		one := variant{Intervention: v, sign: -1}
		if v.OfB {
			one.at, one.sign = 1, 1
		}
		if made := NewSide(v.Text, &rows[v.Row]); len(made.Runs) > 0 && CostNamed(v.Cost) >= 0 {
			one.pair = newPair(made, sides[one.at], [2]float64{})
			all = append(all, one)
		}
	}
	return all
}

// Confirm explains the difference of a and b by their recorded runs and by those of an experiment, in which
// both ran again beside variants of them, round by round: rows, of which runs tells what they are. All rounds
// count; but a difference that did not come back was passing: it is explained by the recorded runs alone, and
// no term is confirmed. Without recorded runs of a, which is then b's ideal, b is explained as it ran beside
// it. It fails with an *[IncomparableError].
func Confirm(a, b Side, rows []record.Row, runs record.CausePair) (*Explanation, error) {
	again := [2]Side{NewSide(a.Name, &rows[runs.Again[0]]), NewSide(b.Name, &rows[runs.Again[1]])}
	isIdeal := len(a.Runs) == 0
	if isIdeal {
		a = again[0]
	}
	if err := cmp.Or(check(a, b), check(again[0], again[1])); err != nil {
		return nil, err
	}
	variants := variantsOf(again, rows, runs.Variants)
	beside := contentionOf(again, variants)
	recorded, made := newPair(a, b, beside), newPair(again[0], again[1], beside)
	was, now := recorded.explain(), made.explain()
	e := now
	switch {
	case isIdeal:
		was.A.Runs, was.B.Runs = 0, 0 // b counts as it ran beside it
	case was.comesBack(now):
		e = newPair(a.with(again[0]), b.with(again[1]), beside).explain()
	default:
		if was.Rounds < stat.LeastRounds { // which do not tell themselves how they vary
			recorded.like = made
		}
		e = recorded.explain()
		e.IsPassing = true
	}
	if !e.IsPassing {
		e.try(made, variants)
	}
	e.IsCut = runs.IsCut || len(variants) < len(runs.Variants)
	e.RecordedMS, e.AgainMS = was.DifferenceMS, &now.DifferenceMS
	e.A.Runs, e.A.Again, e.B.Runs, e.B.Again = was.A.Runs, now.A.Runs, was.B.Runs, now.B.Runs
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

// contentionOf returns how many times as long workers compute beside others as the variants that ran alone.
func contentionOf(sides [2]Side, variants []variant) (beside [2]float64) {
	for _, v := range variants {
		if v.Action != Isolate {
			continue
		}
		var ratios []float64
		rounds, _ := v.rounds()
		for _, two := range rounds {
			ratios = append(ratios, two[1].mean[Work]/two[0].mean[Work])
		}
		if r := stat.Median(ratios); stat.IsFinite(r) && r > 0 {
			beside[v.at] = r
		}
	}
	for i, s := range sides { // one worker is alone itself
		if s.Setting.Workers == 1 && beside[1-i] > 0 {
			beside[i] = 1
		}
	}
	return beside
}

// try holds the terms against what variants took away in the rounds of a pair.
func (e *Explanation) try(made *pair, variants []variant) {
	now := made.estimates()[inAll]
	nearest := nearlyAll
	for _, v := range variants {
		e.confirm(v)
		took, left := v.estimates()[inAll], 0.0
		if took.ms *= v.sign; v.Action == Remove { // of which the other side has some
			c := CostNamed(v.Cost)
			took.ms -= v.sign * max(0, made.spent(1-v.at, c)-v.spent(0, c))
		}
		if v.IsAll { // what it made is the other side
			took = estimate{ms: e.DifferenceMS, half: (e.Interval[1] - e.Interval[0]) / 2}
		} else {
			left = math.Abs(took.ms/now.ms - 1)
		}
		if e.IsTold && left <= nearest && (v.Action == Align || v.Action == Remove) {
			nearest = left
			e.By, e.Culprit, e.CulpritMS, e.CulpritInterval = v.Text, v.Cost, took.ms, took.interval()
		}
	}
	e.isolate(made, variants)
	e.blame()
}

// agree is the share of a term by which its intervention may differ from it.
const agree = 0.25

// confirm holds the terms that a variant is for against the change that it brought.
func (e *Explanation) confirm(v variant) {
	did := v.estimates()
	changed, covers := did[inAll], []Cost{CostNamed(v.Cost)}
	expected := 0.0 // what the side has of what the variant covers
	switch {
	case v.Action == Align: // each term by itself
		for _, t := range e.Terms {
			e.hold(v, did[t.cost], v.sign*t.MS, t.cost)
		}
		return
	case v.Action == Isolate: // all of one side's contention, where a term is of the difference
		return
	case v.Action == Silence:
		covers = []Cost{Straggler, Imbalance, Latency, Bandwidth, Codec}
	case covers[0] == Codec: // without it there are more bytes
		changed = changed.plus(-1, did[Bandwidth])
	case covers[0] == Cores: // it has these beside the other side only
		expected = v.sign * e.sumOf(Cores)
	}
	expected += v.spent(1, covers...)
	if v.Action == Relieve {
		expected /= 2
	}
	if expected > 0 {
		e.hold(v, changed, expected, covers...)
	}
}

// spent returns the milliseconds of a step of a side that are of some costs.
func (p *pair) spent(side int, some ...Cost) (ms float64) {
	rounds, _ := p.rounds()
	for _, two := range rounds {
		for _, c := range some {
			ms += 1e3 * two[side].mean[c] / float64(len(rounds))
		}
	}
	return ms
}

// isolate holds what the sides compute, B's less A's, against what one worker of each computes alone: its
// work and the kernels' efficiency, which that measures, and the contention that is gone then. A side of one
// worker is alone itself; where it is not known of both, nothing is held against it.
func (e *Explanation) isolate(made *pair, variants []variant) {
	var did estimate
	var texts []string
	alone := made.sides
	for _, v := range variants {
		if v.Action == Isolate {
			less := v.estimates()
			did = did.plus(v.sign, less[Memory].plus(1, less[Cores]))
			alone[v.at] = v.sides[0]
			texts = append(texts, v.Text)
		}
	}
	if len(texts) == 0 || made.beside[0] == 0 || made.beside[1] == 0 {
		return
	}
	v := variant{Intervention: record.Intervention{Action: Isolate, Text: strings.Join(texts, " and ")}}
	e.hold(v, did, e.sumOf(Memory, Cores), Memory, Cores)
	of := newPair(alone[0], alone[1], [2]float64{1, 1}).estimates()
	for _, c := range []Cost{Work, Efficiency} {
		e.hold(v, of[c], e.sumOf(c), c)
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

// hold says of large terms whether a change is the expected one, unless another variant has confirmed them. A
// setting that is not all of a difference refutes nothing. A change that is not told from none confirms
// nothing, and neither do runs that a term was computed from: all of computation but Cores is by workers that
// ran alone.
func (e *Explanation) hold(v variant, did estimate, expected float64, some ...Cost) {
	isRight := math.Abs(did.ms-expected) <= max(agree*math.Abs(expected), large*e.A.StepMS, did.half)
	if !isRight && v.Action == Align && !v.IsAll {
		return
	}
	for i := range e.Terms {
		t := &e.Terms[i]
		isOpen := t.Confirmed == nil || isRight && !*t.Confirmed
		if !slices.Contains(some, t.cost) || !e.IsLarge(*t) || !isOpen {
			continue
		}
		t.Confirmed, t.Intervention = &isRight, v.Text
		t.Measured = isRight && v.Action == Isolate && t.cost != Cores
		if t.Measured || isRight && math.Abs(did.ms) <= did.half {
			t.Confirmed = nil
		}
		t.Predicted, t.Changed, t.Interval = expected, did.ms, did.interval()
	}
}
