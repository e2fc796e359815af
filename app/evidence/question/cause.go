package question

import (
	"cmp"
	"math"
	"slices"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/stat"
	"lockstep/app/explain"
	"lockstep/app/record"
	"lockstep/app/strategy"
)

// Quantities that are no figure of a row but compare all rows of its group.
const (
	Why     = "why"     // what makes each slower row slower than the fastest
	Balance = "balance" // what each row saves of the baseline's computation, and what it pays
)

// IsOfRows reports whether a quantity compares all rows of a group by what their steps are made of.
func IsOfRows(quantity string) bool { return quantity == Why || quantity == Balance }

// AsksWhy reports whether a plan asks what makes rows slower.
func AsksWhy(asked *record.Inquiry) bool {
	return asked != nil && slices.ContainsFunc(asked.Questions, func(q record.Question) bool {
		return q.Quantity == Why
	})
}

// Cause is what the steps of two rows go into, and what explain makes of their difference.
type Cause struct {
	Line, Than *compare.Line
	*explain.Explanation
	Ratio   *stat.Ratio // of their steps; nil: they are no rivals
	Further []Further   // of both rows

	again [2]*compare.Line // Than and Line in the runs beside those of Further; nil: there are none
}

// Further is a row that ran again without a cause, as [record.Intervention] has it.
type Further struct {
	record.Intervention
	*compare.Line
}

// Verdict says whether the steps of the rows differ, as the comparison has it or, of rows that are no rivals,
// the explanation: [Measured], [Likely] or [Undecided].
func (c Cause) Verdict() Verdict {
	switch isClean := !c.Line.Disturbed && !c.Than.Disturbed; {
	case c.Ratio == nil && c.IsTold && isClean, c.Ratio != nil && c.Ratio.IsDecided():
		return Measured
	case c.Ratio != nil && c.Ratio.IsUnanimous():
		return Likely
	}
	return Undecided
}

// Names returns what tells the rows of the cause apart, the row that it is of last.
func (c Cause) Names() [2]string {
	names := [2]string{c.Than.Label, c.Line.Label}
	if names[0] == names[1] { // in groups of other conditions
		for i, l := range []*compare.Line{c.Than, c.Line} {
			if condition := l.Setting.Condition; condition != "" {
				names[i] += ", " + condition
			}
		}
	}
	return names
}

// Most returns the part of a step that grew most beside that of the other row.
func (c Cause) Most() (most int) {
	is, was := PartsOf(c.Line), PartsOf(c.Than)
	for at := range is {
		if is[at]-was[at] > is[most]-was[most] {
			most = at
		}
	}
	return most
}

// gone is the part of what a row takes longer that a run without the cause takes away to confirm it.
const gone = 0.75

// ConfirmedBy returns the run without the part that grew most, if that leaves at most a quarter of what the
// row takes longer in runs beside it: the row without any exchange, or a worker of it alone. Where it is
// computing that grew, it is a worker of the other row alone with its share of the batch. It returns nil if
// it leaves more, if none ran, or if not half of the difference came back in them.
func (c Cause) ConfirmedBy() (without *Further) {
	isOfCompute := c.Most() == Compute
	for i, v := range c.Further {
		isFirst := without == nil || v.Action == explain.Silence
		isMeant := v.Action == explain.Isolate || v.Action == explain.Silence && !isOfCompute
		if isFirst && isMeant && v.OfB != isOfCompute {
			without = &c.Further[i]
		}
	}
	if without == nil {
		return nil
	}
	was, is, left := PartsOf(c.again[0]), PartsOf(c.again[1]), PartsOf(without.Line)
	taken := is.Total() - left.Total()
	if isOfCompute {
		taken = is[Compute] - left[Compute]
	}
	longer, recorded := is.Total()-was.Total(), PartsOf(c.Line).Total()-PartsOf(c.Than).Total()
	if !(longer > 0 && longer >= recorded/2 && taken >= gone*longer) {
		return nil
	}
	return without
}

// causesOf explains the rows that a question is about. Those of [Why] are the row alone where it is over
// another one, else all of its group that are slower than the fastest, the slowest first; those of [Balance]
// all beside the baseline, the one that gains most first. Floors and rows of other programs, of another
// learning rate or without steps enough, are left out.
func (q asker) causesOf(asked record.Question, l *compare.Line) (all []Cause) {
	lines, than := q.beside(asked, l)
	for _, line := range lines {
		if than == nil || line == than || than.Phases == nil || line.Phases == nil {
			continue
		}
		if c, err := q.cause(than, line); err == nil && !math.IsNaN(c.DifferenceMS) {
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b Cause) int {
		if asked.Quantity == Why {
			a, b = b, a
		}
		return cmp.Compare(a.Line.Step.Median, b.Line.Step.Median)
	})
	return all
}

// beside returns the rows that a question explains, and the one beside which it does; nil if there is none.
func (q asker) beside(asked record.Question, l *compare.Line) (lines []*compare.Line, than *compare.Line) {
	if asked.Over != nil {
		return []*compare.Line{l}, Find(q.c, asked.Over[0])
	}
	g := groupOf(q.c, l)
	lines = slices.DeleteFunc(slices.Clone(g.Lines), func(o *compare.Line) bool {
		isFloor := strategy.Named(o.Setting.Strategy).IsFloor && o.Setting.Workers > 1
		return o.OK == 0 || o.Setting.Peer != "" || isFloor || o.Setting.LR != l.Setting.LR
	})
	if asked.Quantity != Why || len(lines) == 0 {
		return lines, g.Baseline
	}
	return lines, slices.MinFunc(lines, func(a, b *compare.Line) int {
		return cmp.Compare(a.Step.Median, b.Step.Median)
	})
}

// groupOf returns the group of a row.
func groupOf(c *compare.Comparison, l *compare.Line) *compare.Group {
	return &c.Groups[slices.IndexFunc(c.Groups, func(g compare.Group) bool {
		return slices.Contains(g.Lines, l)
	})]
}

// asker is what questions are asked of.
type asker struct {
	r *record.Results
	c *compare.Comparison
}

// rowOf returns the number of a line's row.
func (q asker) rowOf(l *compare.Line) int {
	for i := range q.r.Rows {
		if &q.r.Rows[i] == l.Record() {
			return i
		}
	}
	return -1
}

// cause explains why a row is slower than another, by the runs that confirm it too if there are any.
func (q asker) cause(than, line *compare.Line) (c Cause, err error) {
	c = Cause{Line: line, Than: than, Ratio: stepRatio(q.c, than, line)}
	if runs := q.r.Causes; runs != nil {
		rows := [2]int{q.rowOf(than), q.rowOf(line)}
		at := slices.IndexFunc(runs.Pairs, func(p record.CausePair) bool { return p.Rows == rows })
		if at >= 0 && runs.Pairs[at].Again != nil {
			for i, row := range runs.Pairs[at].Again {
				c.again[i] = compare.LineOf(&runs.Rows[row], runs.Rounds)
			}
			for _, v := range runs.Pairs[at].Variants {
				if l := compare.LineOf(&runs.Rows[v.Row], runs.Rounds); l.OK > 0 {
					c.Further = append(c.Further, Further{v, l})
				}
			}
		}
	}
	c.Explanation, err = explain.Decompose(sideOf(than), sideOf(line))
	return c, err
}

// Pair is two rows of a benchmark whose difference a question asks the cause of.
type Pair struct {
	Rows  [2]int               // numbers of the one that is faster, and of the other
	Names [2]string            // as the report has them
	First *explain.Explanation // by the runs of the benchmark alone
}

// Pairs lists those that a plan asks why for and that have terms worth a run: of each question one, the
// slowest row first, then of each another one.
func Pairs(r *record.Results, c *compare.Comparison) (all []Pair) {
	if r.Inquiry == nil {
		return nil
	}
	q := asker{r, c}
	var asked [][]Cause
	most := 0
	for _, one := range r.Inquiry.Questions {
		if l := Find(c, one.Of); l != nil && one.Quantity == Why {
			asked = append(asked, q.causesOf(one, l))
			most = max(most, len(asked[len(asked)-1]))
		}
	}
	for place := range most {
		for _, causes := range asked {
			if place >= len(causes) {
				continue
			}
			one := causes[place]
			p := Pair{[2]int{q.rowOf(one.Than), q.rowOf(one.Line)}, one.Names(), one.Explanation}
			isThere := slices.ContainsFunc(all, func(other Pair) bool { return other.Rows == p.Rows })
			if len(p.First.Large()) > 0 && !isThere {
				all = append(all, p)
			}
		}
	}
	return all
}

func sideOf(l *compare.Line) explain.Side { return explain.NewSide(l.Label, l.Record()) }
