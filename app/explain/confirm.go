package explain

import (
	"cmp"
	"math"
	"slices"

	"lockstep/app/evidence/stat"
	"lockstep/app/record"
)

// Action is what an intervention does to a side.
type Action int

// The actions of interventions.
const (
	Align   Action = iota // one setting gets the value that the other side has; for every term
	Silence               // workers exchange nothing
	Isolate               // one worker alone, with its share of the batch
	Halve                 // the network's limit that a term is of is halved
	Remove                // what costs the time is left out
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
// both ran again beside variants of them, round by round. A difference that did not come back was passing: it
// is explained by the recorded runs alone, and no term is confirmed. Without recorded runs of a, which is
// then b's ideal, b is explained as it ran beside it. It fails with an *[IncomparableError].
func Confirm(a, b, againA, againB Side, variants []Variant) (*Explanation, error) {
	isIdeal := len(a.Runs) == 0
	if isIdeal {
		a = againA
	}
	for _, two := range [][2]Side{{a, b}, {againA, againB}} {
		if err := Check(two[0], two[1]); err != nil {
			return nil, err
		}
	}
	beside := contentionOf(againA, againB, variants)
	recorded, again := newPair(a, b, beside), newPair(againA, againB, beside)
	now, e := again.explain(), recorded.explain()
	if !isIdeal && !e.comesBack(now) {
		a.middle, b.middle = 1, 1
		e = newPair(a, b, beside).explain()
		e.IsPassing = true
		e.widen(again)
		e.judge()
	} else {
		was := e.RecordedMS
		isPooled := !isIdeal && recorded.isLike(again)
		if e = now; isPooled {
			e = newPair(a.with(againA), b.with(againB), beside).explain()
		}
		e.RecordedMS, e.IsPooled = was, isPooled
		for _, v := range variants {
			e.confirm(again, v)
		}
		e.judge()
	}
	difference := now.DifferenceMS
	e.AgainMS = &difference
	e.A.Runs, e.A.Again, e.B.Runs, e.B.Again = len(a.Runs), len(againA.Runs), len(b.Runs), len(againB.Runs)
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

// alike is by how much the machine's speed may differ between runs that are taken together.
const alike = 0.15

// isLike reports whether both sides had steps as long as later: else the machine was another, or busy, and
// runs that were made in turns say more.
func (p pair) isLike(again pair) bool {
	was, is := p.explain(), again.explain()
	return math.Abs(is.A.StepMS/was.A.StepMS-1) <= alike && math.Abs(is.B.StepMS/was.B.StepMS-1) <= alike
}

// comesBack reports whether the difference that was recorded is there in later runs too.
func (e *Explanation) comesBack(now *Explanation) bool {
	was, is := e.DifferenceMS, now.DifferenceMS
	if math.Abs(was) <= Large*e.step || math.Abs(is) >= math.Abs(was)/2 && was*is > 0 {
		return true
	}
	return now.Interval[0] <= was && was <= now.Interval[1]
}

// widen adds to the intervals of single runs what runs of the same two sides differ by.
func (e *Explanation) widen(again pair) {
	if min(e.A.Runs, e.B.Runs) >= stat.LeastRounds {
		return
	}
	columns := make([][]float64, NumCosts+1)
	for _, two := range again.paired() {
		for c, v := range again.difference(two[0], two[1]) {
			columns[c] = append(columns[c], 1e3*v)
		}
		columns[NumCosts] = append(columns[NumCosts], 1e3*(two[1].measured-two[0].measured))
	}
	wide := func(lo, mid, hi *float64, of int) {
		spread := runDeviations * stat.MomentsOf(columns[of]).SD
		if len(columns[of]) < stat.LeastRounds { // nothing is known of it, so that nothing is told apart
			spread = 1.01 * math.Abs(*mid)
		}
		half := math.Hypot((*hi-*lo)/2, spread)
		*lo, *hi = *mid-half, *mid+half
	}
	for i := range e.Terms {
		t := &e.Terms[i]
		wide(&t.Low, &t.MS, &t.High, int(t.cost))
		t.isSure = t.isSure && t.isTold()
	}
	wide(&e.Interval[0], &e.DifferenceMS, &e.Interval[1], NumCosts)
}

// runDeviations is by how many standard deviations of what later runs differ by a recorded run may differ.
const runDeviations = 3

// contentionOf returns how much longer workers compute beside others than the variants that ran alone.
func contentionOf(a, b Side, variants []Variant) contention {
	c := contention{1, 1}
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
	return c
}

// effect is what an intervention did, round by round.
type effect struct {
	side  Costs       // of the side that was changed, mean
	costs [][]float64 // seconds by which the variant's are smaller, by cost
	all   []float64   // seconds by which its steps are shorter
}

// effectOf compares a variant with the side that it is of.
func effectOf(again pair, v Variant) effect {
	side := again.costsA
	if v.OfB {
		side = again.costsB
	}
	varied, _ := v.profiles()
	e := effect{costs: make([][]float64, NumCosts)}
	pairs := roundsOf(varied, side)
	for _, two := range pairs {
		e.side = e.side.plus(1/float64(len(pairs)), two[1].mean)
		less := two[1].mean.plus(-1, two[0].mean)
		if v.Action == Align { // with computation divided as terms are
			less = newPair(v.Side, again.b, contention{1, 1}).difference(two[0], two[1])
		}
		for c, d := range less {
			e.costs[c] = append(e.costs[c], d)
		}
		e.all = append(e.all, two[1].measured-two[0].measured)
	}
	return e
}

// agree is the share of a term by which its intervention may differ from it.
const agree = 0.25

// confirm holds the terms that a variant is for against the change that it brought.
func (e *Explanation) confirm(again pair, v Variant) {
	did := effectOf(again, v)
	if len(did.all) == 0 {
		return
	}
	sign := 1.0
	if !v.OfB {
		sign = -1
	}
	if v.Action == Align || v.Action == Remove {
		e.take(v, sign, did.all)
	}
	covered, changed, expected := []Cost{v.Cost}, did.all, 1e3*did.side[v.Cost]
	switch v.Action {
	case Align: // each term by itself
		for i := range e.Terms {
			t := &e.Terms[i]
			e.hold([]Cost{t.cost}, did.costs[t.cost], t.MS, v)
		}
		return
	case Silence: // takes away every wait
		covered, expected = []Cost{Latency, Bandwidth, Codec, Straggler, Imbalance}, 0
		for _, c := range covered {
			expected += 1e3 * did.side[c]
		}
	case Halve:
		expected /= 2
	case Isolate:
		covered, changed, expected = []Cost{Memory, Cores}, did.costs[Work], 0
		for _, t := range e.Terms {
			if slices.Contains(covered, t.cost) {
				expected += sign * t.MS
			}
		}
	case Remove:
		if v.Cost == Codec { // without it there are more bytes
			changed = slices.Clone(changed)
			for i, more := range did.costs[Bandwidth] {
				changed[i] -= more
			}
		}
	}
	e.hold(covered, changed, expected, v)
}

// take notes what a variant takes away of the difference, if it is nearly all of it and nearer to it than
// what any other takes.
func (e *Explanation) take(v Variant, sign float64, changed []float64) {
	ms, interval := inMS(changed, 0, stat.Confidence)
	ms, interval = sign*ms, [2]float64{sign * interval[0], sign * interval[1]}
	slices.Sort(interval[:])
	left := func(ms float64) float64 { return math.Abs(ms/e.DifferenceMS - 1) }
	if left(ms) <= nearlyAll && (e.nearest.text == "" || left(ms) < left(e.nearest.ms)) {
		e.nearest = removal{v.Cost, v.Text, ms, interval}
	}
}

// hold says of large terms whether a change is the expected one, unless another variant has confirmed them. A
// setting that is not all of a difference refutes nothing.
func (e *Explanation) hold(covered []Cost, changed []float64, expected float64, v Variant) {
	measured, interval := inMS(changed, 0, stat.Confidence)
	isRight := math.Abs(measured-expected) <= max(agree*math.Abs(expected), Large*e.step) ||
		len(changed) >= stat.LeastRounds && interval[0] <= expected && expected <= interval[1]
	for i := range e.Terms {
		t := &e.Terms[i]
		isOpen := t.Confirmed == nil && (isRight || v.Action != Align || v.IsAll) ||
			t.Confirmed != nil && isRight && !*t.Confirmed
		if slices.Contains(covered, t.cost) && e.isLarge(*t) && isOpen {
			t.Confirmed, t.Intervention = &isRight, v.Text
			t.Predicted, t.Changed, t.Interval = expected, measured, interval
		}
	}
}

// sort puts the largest terms first.
func (e *Explanation) sort() {
	slices.SortStableFunc(e.Terms, func(x, y Term) int { return cmp.Compare(math.Abs(y.MS), math.Abs(x.MS)) })
}
