package question_test

import (
	"math"
	"slices"
	"testing"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/question"
	"lockstep/app/record"
)

// The slower row is explained by terms that add up to its difference, beside the fastest; what it gains and
// pays beside the baseline adds up to the same.
func TestCauses(t *testing.T) {
	r := measured(2, 256)
	for i := range r.Rows {
		r.Rows[i].Setting.Steps = 4
	}
	other := r.Rows[1] // which no question is about
	other.Setting.LR, other.Setting.Options, other.Setting.Inexact = 0.02, "lr=0.02", "a rate of its own"
	r.Rows = append(r.Rows, other)
	asked := record.Inquiry{Questions: []record.Question{
		{Quantity: question.Why, Of: record.Selector{"model": "lenet"}},
		{Quantity: question.Balance, Of: record.Selector{"model": "lenet"}},
		{Quantity: question.Why, Of: record.Selector{"model": "vgg11"}}}}
	got := ask(r, &asked)
	for _, a := range got[:2] {
		if len(a.Causes) != 1 || a.Verdict != question.Measured {
			t.Fatalf("%s: %d causes, verdict %d", a.Quantity, len(a.Causes), a.Verdict)
		}
		c := a.Causes[0]
		sum := c.ResidualMS
		for _, term := range c.Terms {
			sum += term.MS
		}
		if c.Line.Setting.Strategy != "all-reduce" || c.Than.Setting.Strategy != "single" ||
			math.Abs(sum-c.DifferenceMS) > 1e-9 || math.Abs(c.DifferenceMS-10) > 0.2 || !c.IsTold {
			t.Errorf("%s: %s than %s by %v ms, terms of %v", a.Quantity, c.Line.Label, c.Than.Label,
				c.DifferenceMS, sum)
		}
		is, was := question.PartsOf(c.Line), question.PartsOf(c.Than)
		if math.Abs(is.Total()-c.Line.Step.Median) > 1e-9 || c.Most() != question.Compute ||
			math.Abs(is[question.Exchange]-2*was[question.Exchange]) > 1e-9 {
			t.Errorf("%v beside %v, most by part %d", is, was, c.Most())
		}
	}
	if got[2].Verdict != question.Unmeasured || got[2].Causes != nil {
		t.Errorf("a model that was not run: %+v", got[2])
	}
	r.Rows = r.Rows[:1]
	for _, a := range ask(r, &asked)[:2] {
		if a.Verdict != question.Unmeasured || a.Reason != question.NoFigure {
			t.Errorf("%s of a row alone: verdict %d, reason %d", a.Quantity, a.Verdict, a.Reason)
		}
	}
}

// A page says of two rows what its rounds tell: two tell nothing, so they leave open why a row is slower.
func TestWhyIsAsCertainAsTheRounds(t *testing.T) {
	why := record.Question{Quantity: question.Why, Of: record.Selector{"model": "lenet"}}
	step := record.Question{Quantity: "step", Of: record.Selector{"workers": "2"},
		Over: []record.Selector{{"workers": "1"}}, Above: new(1.0)}
	for rounds, want := range map[int]question.Verdict{2: question.Undecided, 6: question.Measured} {
		r := measured(2, 256)
		r.Rounds = rounds
		for i := range r.Rows {
			r.Rows[i].Setting.Steps, r.Rows[i].Runs = 4, r.Rows[i].Runs[:rounds]
		}
		got := ask(r, &record.Inquiry{Questions: []record.Question{why, step}})
		isOpen := got[1].Verdict == question.Undecided
		if got[0].Verdict != want || isOpen != (want == question.Undecided) || !got[0].Causes[0].IsTold {
			t.Errorf("%d rounds: why %d, step %d, %+v", rounds, got[0].Verdict, got[1].Verdict, got[0].Causes)
		}
	}
}

// Nothing is told of why where others took cores from every run.
func TestWhyOfDisturbedRows(t *testing.T) {
	r := measured(2, 256)
	for i := range r.Rows {
		r.Rows[i].Setting.Steps = 4
		for j := range r.Rows[i].Runs {
			r.Rows[i].Runs[j].Taken = &record.Taken{Others: 0.5}
		}
	}
	why := record.Question{Quantity: question.Why, Of: record.Selector{"workers": "2"}}
	a := ask(r, &record.Inquiry{Questions: []record.Question{why}})[0]
	if a.Verdict != question.Undecided || a.Reason != question.Disturbed {
		t.Errorf("verdict %d, reason %d", a.Verdict, a.Reason)
	}
}

// without returns a row whose steps take so long and wait for so long, in rounds of their own.
func without(setting record.Setting, step, waits float64) record.Row {
	row := record.Row{Setting: setting}
	for round := range 4 {
		all := func(v float64) record.Numbers { return slices.Repeat(record.Numbers{v}, 12) }
		run := record.Run{Round: round, Ranks: make([]record.Rank, setting.Workers)}
		for i := range run.Ranks {
			run.Ranks[i] = record.Rank{Rank: i, Steps: record.Steps{Seconds: all(step),
				Phases: map[string]record.Numbers{"forward": all(step - waits), "sync_exposed": all(waits)}}}
		}
		row.Runs = append(row.Runs, run)
	}
	return row
}

// Runs without a cause stand beside it with what their steps go into.
func TestCausesAreConfirmed(t *testing.T) {
	for name, c := range map[string]struct {
		silent, again float64 // steps without an exchange, and of the row itself
		isTried       bool    // there are further runs
	}{"confirmed": {0.010, 0.020, true}, "refuted": {0.020, 0.020, true}, "passing": {0.010, 0.011, true},
		"no time": {0, 0, false}} {
		r := measured(2, 256)
		for i := range r.Rows { // all of what is longer is the exchange
			for j := range r.Rows[i].Runs {
				for k := range r.Rows[i].Runs[j].Ranks {
					s := &r.Rows[i].Runs[j].Ranks[k].Steps
					for n, step := range s.Seconds {
						s.Phases["forward"][n] = 0.010
						s.Phases["sync_exposed"][n] = step - 0.010
					}
				}
			}
		}
		single, two := r.Rows[0].Setting, r.Rows[1].Setting
		none := two
		none.Strategy = "none"
		r.Causes = &record.Causes{Rounds: 4, Pairs: []record.CausePair{{Rows: [2]int{0, 1}}}}
		if c.isTried {
			r.Causes.Rows = []record.Row{without(single, 0.010, 0), without(two, c.again, c.again-0.010),
				without(none, c.silent, c.silent-0.010)}
			r.Causes.Pairs[0].Again = &[2]int{0, 1}
			r.Causes.Pairs[0].Variants = []record.Intervention{{Row: 2, Action: "silence", OfB: true,
				Cost: "latency", Text: "two without any exchange"}}
		}
		got := ask(r, &record.Inquiry{Questions: []record.Question{{Quantity: question.Why,
			Of: record.Selector{"workers": "2"}, Over: []record.Selector{{"workers": "1"}}}}})[0]
		if len(got.Causes) != 1 {
			t.Fatalf("%s: %d causes", name, len(got.Causes))
		}
		cause := got.Causes[0]
		if got.Verdict != question.Measured || len(cause.Further) > 0 != c.isTried {
			t.Errorf("%s: verdict %d; %d further rows; %+v", name, got.Verdict, len(cause.Further),
				cause.Terms)
		}
		if v := cause.ConfirmedBy(); (v != nil) != (name == "confirmed") {
			t.Errorf("%s: by %v", name, v)
		}
		for _, v := range cause.Further {
			if v.Text != "two without any exchange" || math.Abs(v.Step.Median-c.silent) > 1e-9 {
				t.Errorf("%s: %s takes %v s, want %v", name, v.Text, v.Step.Median, c.silent)
			}
		}
	}
}

// Pairs are those that why asks for, the slowest first; without a question there are none.
func TestPairs(t *testing.T) {
	r := measured(2, 256)
	for i := range r.Rows {
		r.Rows[i].Setting.Steps = 4
	}
	if got := question.Pairs(r, compare.Compare(r)); got != nil {
		t.Errorf("%+v without a question", got)
	}
	r.Inquiry = &record.Inquiry{Questions: []record.Question{
		{Quantity: question.Balance, Of: record.Selector{"model": "lenet"}},
		{Quantity: question.Why, Of: record.Selector{"model": "lenet"}},
		{Quantity: question.Why, Of: record.Selector{"model": "lenet"}}}}
	got := question.Pairs(r, compare.Compare(r))
	if len(got) != 1 || got[0].Rows != [2]int{0, 1} || len(got[0].First.Large()) == 0 {
		t.Errorf("%+v, want one pair of rows 0 and 1", got)
	}
}
