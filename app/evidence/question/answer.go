package question

import (
	"cmp"
	"math"
	"slices"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/stat"
	"lockstep/app/record"
)

// Verdict is what rows say about a question, by what it leaves of a claim about several of them.
type Verdict int

// The verdicts.
const (
	Measured   Verdict = iota // the question asks for a figure, which there is
	Holds                     // yes
	Likely                    // yes by every round, which are too few to tell
	Undecided                 // the rounds do not tell
	Unmeasured                // there is no such figure or row, or none that may be compared
	Unlikely                  // no by every round, which are too few to tell
	Fails                     // no
)

// Reason is why a question has no decided answer.
type Reason int

// The reasons.
const (
	None        Reason = iota
	NoRow              // with a successful run is chosen
	NoFigure           // of the quantity in any run
	OtherWork          // than that of the row it is compared with
	Disturbed          // others took cores from every run
	Contended          // its workers share too few cores, which nothing tells from what is asked
	TooFew             // rounds for an interval
	Guessing           // is what each of its rows does
	SameBits           // its rows end with the same parameters, so they are as accurate
	Unsupported        // by the quantity that the claim rests on, which is not on the same side of 1
)

// Estimate is a median over runs or rounds with the interval of the true one; NaN where nothing was measured.
type Estimate struct {
	Median   float64
	Interval stat.Interval
	N        int // runs, or rounds
}

// unmeasured is the estimate of what no run has: a figure that is 0 was measured.
func unmeasured() Estimate {
	nan := math.NaN()
	return Estimate{Median: nan, Interval: stat.Interval{Lo: nan, Hi: nan}}
}

// Answer is what the rows of a benchmark say about a question.
type Answer struct {
	record.Question
	Estimate // in the unit of results
	Verdict  Verdict
	Reason   Reason
	Line     *compare.Line // of the question; nil: there is none
	Than     *compare.Line // that the figure is a ratio to; nil: it is none
	Causes   []Cause       // of [Why] and [Balance]
}

// IsOpen reports whether more rounds may decide the answer.
func (a Answer) IsOpen() bool {
	return slices.Contains([]Verdict{Likely, Undecided, Unlikely}, a.Verdict) &&
		slices.Contains([]Reason{None, TooFew, Disturbed}, a.Reason)
}

// closeness is how near a figure has to be to one that it is said to equal, relative.
const closeness = 0.05

// Answers answers the questions of r's plan in order; none without an inquiry. c compares r.
func Answers(r *record.Results, c *compare.Comparison) []Answer {
	if r.Inquiry == nil {
		return nil
	}
	var all []Answer
	asker := asker{r, c}
	for _, q := range r.Inquiry.Questions {
		a := Answer{Question: q, Estimate: unmeasured(), Verdict: Unmeasured, Reason: NoRow,
			Line: Find(c, q.Of)}
		switch {
		case a.Line == nil:
		case IsOfRows(q.Quantity):
			a.Causes, a.Reason = asker.causesOf(q, a.Line), NoFigure
			switch {
			case a.Causes == nil:
			case a.Line.Disturbed:
				a.Verdict, a.Reason = Undecided, Disturbed
			default:
				surest := slices.MinFunc(a.Causes, func(x, y Cause) int {
					return int(x.Verdict() - y.Verdict())
				})
				a.Verdict, a.Reason, a.N = surest.Verdict(), None, a.Line.Measured
				if surest.Ratio != nil {
					a.N = len(surest.Ratio.Values)
				}
				if a.N < stat.LeastRounds {
					a.Verdict, a.Reason = Undecided, TooFew
				}
			}
		case q.Over == nil:
			a.Estimate = Of(a.Line, a.Quantity)
			a.decide()
		default:
			a = a.over(c)
		}
		all = append(all, a)
	}
	return all
}

// Find returns the first row with a successful run that a selector chooses; nil without one.
func Find(c *compare.Comparison, is record.Selector) *compare.Line {
	for i := range c.Groups {
		for _, l := range c.Groups[i].Lines {
			if l.OK > 0 && is.Chooses(l.Setting) {
				return l
			}
		}
	}
	return nil
}

// over returns the answer of the ratio to each other row that leaves least of the claim: a row is the fastest
// if it is faster than each.
func (a Answer) over(c *compare.Comparison) Answer {
	least := a
	for i, is := range a.Over {
		one := a
		if other := Find(c, is); other != nil && other != a.Line { // on one machine, two may be the same
			one.divide(c, other)
			one.doubt()
		}
		isLess := one.Verdict > least.Verdict || one.Verdict == least.Verdict && one.Median > least.Median
		if i == 0 || isLess {
			least = one
		}
	}
	return least
}

// divide compares the quantity of two rows round by round: steps as the pairs of the comparison have it, what
// grows with the length of a run where both rows trained on as many samples.
func (a *Answer) divide(c *compare.Comparison, other *compare.Line) {
	a.Reason, a.Than = OtherWork, other
	if isTime(a.Quantity) && (a.Line.Disturbed || other.Disturbed) {
		a.Verdict, a.Reason = Undecided, Disturbed
		return
	}
	isSame := a.Line.EndsAlike(other)
	switch ratio := stepRatio(c, a.Line, other); {
	case isSame && (a.Quantity == "parameters" ||
		a.Quantity == "accuracy" && stat.IsFinite(Of(other, a.Quantity).Median)):
		a.Estimate = Estimate{1, stat.Interval{Lo: 1, Hi: 1, Coverage: 1}, a.Line.Measured}
		a.decide()
		a.Reason = SameBits
	case a.Quantity == "parameters" && a.Line.SHA256 != "" && other.SHA256 != "":
		a.Estimate = Estimate{0, stat.Interval{Coverage: 1}, a.Line.Measured}
		a.decide()
	case a.Quantity == "accuracy" && hasNotLearned(a.Line) && hasNotLearned(other):
		a.Verdict, a.Reason = Undecided, Guessing
	case a.Quantity == "step" && ratio != nil:
		a.quotient(*ratio)
	case a.Quantity != "step" &&
		(!GrowsWithLength(a.Quantity) || a.Line.Runs()[0].Samples == other.Runs()[0].Samples):
		a.quotient(stat.PairedRatio(byRound(a.Line, a.Quantity), byRound(other, a.Quantity),
			noiseOf(a.Quantity, noiseBetween(groupOf(c, a.Line), groupOf(c, other)))))
	}
}

// hasNotLearned reports whether the loss or the accuracy of a row is that of guessing.
func hasNotLearned(l *compare.Line) bool { return l.IsGuessing() || IsGuess(l) }

// doubt takes a yes back unless what the claim rests on is on the same side of 1, by the medians of the rows.
func (a *Answer) doubt() {
	if a.By == "" || a.Verdict != Holds && a.Verdict != Likely {
		return
	}
	by := Of(a.Line, a.By).Median / Of(a.Than, a.By).Median
	if isSame := (by-1)*(a.Median-1) > 0; !isSame { // nor is it where a figure is missing
		a.Verdict, a.Reason = Undecided, Unsupported
	}
}

// stepRatio returns the ratio of the steps of two rows as the comparison has it; nil unless they are rivals.
func stepRatio(c *compare.Comparison, a, b *compare.Line) *stat.Ratio {
	if g := groupOf(c, a); slices.Contains(g.Rivals, a) && slices.Contains(g.Rivals, b) {
		return new(g.Pair(a, b).Ratio)
	}
	return nil
}

// quotient takes a ratio as the estimate.
func (a *Answer) quotient(r stat.Ratio) {
	a.Estimate = ofRatio(r)
	a.decide()
	if a.Verdict == Undecided && a.Reason == None && r.IsUnanimous() && a.Bound() == 1 {
		a.Verdict = Unlikely
		if a.Above != nil && a.Median > 1 || a.Below != nil && a.Median < 1 {
			a.Verdict = Likely
		}
	}
}

// Bound returns what the figure is compared with.
func (a *Answer) Bound() float64 { return *cmp.Or(a.Equals, a.Above, a.Below, new(0.0)) }

// isTime reports whether a quantity is another where others take cores.
func isTime(quantity string) bool {
	others := []string{"accuracy", "best", "loss", "memory", "compression", "parameters", "busiest"}
	return LossAt(quantity) == 0 && !slices.Contains(others, quantity)
}

// noiseOf returns how a quantity varies from round to round: times as steps do; what seeds change, and shares
// of a run's own times, by themselves.
func noiseOf(quantity string, steps stat.Noise) stat.Noise {
	if isTime(quantity) && !IsShare(quantity) {
		return steps
	}
	return stat.Noise{}
}

// noiseBetween returns the noise of ratios of rows of two groups: that which more rows tell.
func noiseBetween(a, b *compare.Group) stat.Noise {
	if a.Noise.Rows >= b.Noise.Rows {
		return a.Noise
	}
	return b.Noise
}

// AreOtherResults reports whether the two rows train to other results, so that their accuracies have to stand
// beside an answer about their times.
func (a *Answer) AreOtherResults() bool {
	return a.Than != nil && isTime(a.Quantity) && a.Line.Exact() != a.Than.Exact() &&
		stat.IsFinite(Of(a.Line, "accuracy").Median) && stat.IsFinite(Of(a.Than, "accuracy").Median)
}

// isOfCores reports whether too few cores for the workers of a row make the figure one of cores: times beside
// those of other numbers of workers, how it scales, and its exchange where waits for cores are part of that.
func (a *Answer) isOfCores() bool {
	if o := a.Than; o != nil && o.Setting.Workers != a.Line.Setting.Workers {
		return isTime(a.Quantity) && (a.Line.Contended || o.Contended)
	}
	return a.Line.Contended && (slices.Contains([]string{"speedup", "efficiency", "serial"}, a.Quantity) ||
		a.Quantity == "sync_exposed" && Of(a.Line, compare.CoreWait).Median == 0)
}

// decide compares the estimate with the bound.
func (a *Answer) decide() {
	in, bound := a.Interval, a.Bound()
	isNo, isYes := !in.Contains(bound), in.Contains(bound) && in.Hi-in.Lo <= 2*closeness*a.Median
	if a.Above != nil {
		isNo, isYes = in.Hi <= bound, in.Lo > bound
	} else if a.Below != nil {
		isNo, isYes = in.Lo >= bound, in.Hi < bound
	}
	a.Verdict, a.Reason = Undecided, None
	switch {
	case a.Line.Disturbed && isTime(a.Quantity):
		a.Reason = Disturbed
	case !stat.IsFinite(a.Median):
		a.Verdict, a.Reason = Unmeasured, NoFigure
	case a.isOfCores():
		a.Reason = Contended
	case in.Coverage < stat.Confidence:
		a.Reason = TooFew
	case a.Quantity == Parts, a.Equals == nil && a.Above == nil && a.Below == nil: // a bound is of one figure
		a.Verdict = Measured
	case isYes:
		a.Verdict = Holds
	case isNo:
		a.Verdict = Fails
	}
}
