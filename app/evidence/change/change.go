package change

import (
	"fmt"
	"math"
	"slices"
	"time"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/stat"
	"lockstep/app/explain"
	"lockstep/app/record"
)

// What another hour changes of one machine, as deviations of logarithms: of a step, and of a step beside
// those of the other rows. results/verdicts has benchmarks repeated an hour later: in quiet hours steps moved
// by 5 % (root mean square of 18 rows), their ratios by up to 1.5 %.
const (
	hoursOfStep  = 0.05
	hoursOfRatio = 0.01 * math.Sqrt2 // a ratio moves by 1 % in either benchmark, see docs/design/0030
)

// Row is a row of both benchmarks.
type Row struct {
	Name      string        // its group and its label
	Now, Then *compare.Line // the row
	Step      stat.Ratio    // step now / step then
	Beside    stat.Ratio    // the same of the step over the mean of the other rows; not Known without others
	IsSlower  bool          // told apart as slower by more than asked for
	IsFaster  bool          // told apart as faster

	// Terms say what made a slower row's step longer, by its means; nil of other rows, and of steps that do
	// not tell.
	Terms []explain.Term
}

// Change is what became of the rows of a benchmark.
type Change struct {
	Then, Now   time.Time // when the benchmarks were started
	Over        float64   // relative excess of a step from which on a row is called slower
	Rows        []Row     // of both
	New, Gone   []string  // rows of one benchmark only, by name
	Other       []string  // rows that both have, but that compute otherwise in the later one
	Common      float64   // median of the ratios of all rows; NaN without any
	Peak        float64   // operations per second the machine could do: now / then; NaN: not measured
	LeastRounds int       // rounds of the row that has fewest; below stat.LeastRounds nothing is told apart
}

// Slower returns the rows that are told apart as slower.
func (c *Change) Slower() []Row {
	return slices.DeleteFunc(slices.Clone(c.Rows), func(r Row) bool { return !r.IsSlower })
}

// MachineError says that results are from another kind of machine.
type MachineError struct {
	What      string // cpu, cores, instruction sets, system
	Then, Now any
}

// Error says what differs.
func (e *MachineError) Error() string {
	return fmt.Sprintf("measured on another kind of machine, whose times say nothing about this one's: "+
		"%s %v there, %v here", e.What, e.Then, e.Now)
}

// Machine returns a *MachineError if two machines are of different kinds, nil else.
func Machine(then, now record.Machine) error {
	for _, d := range []MachineError{{"processor", then.CPU, now.CPU}, {"cores", then.Cores, now.Cores},
		{"instruction sets", fmt.Sprint(then.ISA), fmt.Sprint(now.ISA)},
		{"system", then.OS + "/" + then.Arch, now.OS + "/" + now.Arch}} {
		if d.Then != d.Now {
			return &d
		}
	}
	return nil
}

// Fits reports whether r has a row that may be the one of s, of which not all is resolved yet.
func Fits(r *record.Results, s record.Setting) bool {
	return slices.ContainsFunc(r.Rows, func(row record.Row) bool {
		t := row.Setting
		return t.Model == s.Model && t.Data == s.Data && t.Strategy == s.Strategy &&
			t.Workers == s.Workers && t.Batch == s.Batch && t.Options == s.Options &&
			t.Condition == s.Condition
	})
}

// Between compares now with then, both valid. A row is slower if its step took longer by more than over, and
// if an interval of the step or of the step beside the others lies above that; faster if one lies below 1.
// All intervals hold together.
func Between(then, now *record.Results, over float64) (*Change, error) {
	if err := Machine(then.Host, now.Host); err != nil {
		return nil, err
	}
	c := &Change{Then: then.Started, Now: now.Started, Over: over, Common: math.NaN(),
		Peak: stat.Median(peaks(now)) / stat.Median(peaks(then))}
	c.match(named(then), named(now))
	c.judge(then.Rounds, now.Rounds)
	return c, nil
}

// peaks returns what the machine could do in each run.
func peaks(r *record.Results) (all []float64) {
	for _, row := range r.Rows {
		for _, run := range row.Runs {
			if run.PeakFLOPs > 0 {
				all = append(all, run.PeakFLOPs)
			}
		}
	}
	return all
}

// line is a row with its name.
type line struct {
	name string
	*compare.Line
}

// named returns the rows of r that ran.
func named(r *record.Results) (all []line) {
	c := compare.Compare(r)
	for i := range c.Groups {
		g := &c.Groups[i]
		for _, l := range g.Lines {
			if l.OK > 0 {
				all = append(all, line{c.Title(g) + ": " + l.Label, l})
			}
		}
	}
	return all
}

// match finds the rows of both benchmarks. What auto chose for a collective may differ; copies of a row are
// matched in their order.
func (c *Change) match(then, now []line) {
	taken := make([]bool, len(then))
	for _, n := range now {
		at := slices.IndexFunc(then, func(t line) bool { return t.Setting == n.Setting })
		for i, t := range then {
			a, b := t.Setting, n.Setting
			a.Algorithm, b.Algorithm = "", ""
			a.LinkRate, b.LinkRate = 0, 0 // older files have it in the condition alone
			if !taken[i] && a == b && (at < 0 || taken[at]) {
				at = i
			}
		}
		switch {
		case at < 0 || taken[at]:
			c.New = append(c.New, n.name)
			continue
		case n.ComputesOtherwise(then[at].Line) != nil:
			c.Other = append(c.Other, n.name)
		default:
			c.Rows = append(c.Rows, Row{Name: n.name, Now: n.Line, Then: then[at].Line})
		}
		taken[at] = true
	}
	for i, t := range then {
		if !taken[i] {
			c.Gone = append(c.Gone, t.name)
		}
	}
}

// judge fills the ratios of the rows and what they tell.
func (c *Change) judge(roundsThen, roundsNow int) {
	var then, now [][]float64
	var changes []float64
	for i, r := range c.Rows {
		then, now = append(then, steps(r.Then, roundsThen)), append(now, steps(r.Now, roundsNow))
		least := min(r.Then.Measured, r.Now.Measured)
		if i == 0 || least < c.LeastRounds {
			c.LeastRounds = least
		}
	}
	besideThen, besideNow := beside(then), beside(now)
	noise, shares := stat.NoiseOf([][][]float64{then, now}) // of steps; of ratios of two, which vary more
	for _, n := range [][]stat.Noise{noise, shares} {
		n[0].Tests, n[1].Tests = 2*len(c.Rows), 2*len(c.Rows)
	}
	for i := range c.Rows {
		r := &c.Rows[i]
		r.Step = stat.UnpairedRatio(now[i], then[i], noise[1], noise[0], hoursOfStep)
		changes = append(changes, r.Step.Median)
		if len(c.Rows) > 1 {
			r.Beside = stat.UnpairedRatio(besideNow[i], besideThen[i], shares[1], shares[0],
				hoursOfRatio)
		}
		if r.Now.Disturbed || r.Then.Disturbed {
			continue // others took cores from every run
		}
		above := func(x stat.Ratio) bool { return x.Interval.Coverage > 0 && x.Interval.Lo > 1+c.Over }
		below := func(x stat.Ratio) bool { return x.Interval.Coverage > 0 && x.Interval.Hi < 1 }
		r.IsSlower = r.Step.Median > 1+c.Over && (above(r.Step) || above(r.Beside))
		r.IsFaster = r.Step.Median < 1 && (below(r.Step) || below(r.Beside))
		if !r.IsSlower {
			continue
		}
		if e, err := explain.Decompose(side(r.Then), side(r.Now)); err == nil {
			r.Terms = e.Terms
		}
	}
	c.Common = stat.Median(changes)
}

// side returns a row as explain takes it.
func side(l *compare.Line) explain.Side { return explain.NewSide(l.Label, l.Record()) }

// steps returns what a step of a row took in each round; NaN where no run counts.
func steps(l *compare.Line, rounds int) []float64 {
	all := slices.Repeat([]float64{math.NaN()}, rounds)
	for _, r := range l.Runs() {
		if r.IsCounted || l.Disturbed {
			all[r.Round] = r.Step
		}
	}
	return all
}

// beside returns the steps of rows, each over the geometric mean of the other rows in its round; NaN where a
// row is missing.
func beside(rows [][]float64) [][]float64 {
	out := make([][]float64, len(rows))
	for i := range rows {
		out[i] = slices.Clone(rows[i])
		for round := range rows[i] {
			sum := 0.0
			for j := range rows {
				if j != i {
					sum += math.Log(rows[j][round])
				}
			}
			out[i][round] /= math.Exp(sum / float64(len(rows)-1))
		}
	}
	return out
}
