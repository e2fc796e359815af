package report_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"lockstep/app/record"
	"lockstep/app/report"
)

// asked returns the page of results that are asked something, as Markdown.
func asked(t *testing.T, r *record.Results, of record.Inquiry) string {
	t.Helper()
	r.Inquiry = &of
	var page bytes.Buffer
	if err := report.Benchmark(r).Markdown(&page); err != nil {
		t.Fatal(err)
	}
	return page.String()
}

// A question whose row was not run has no figure of ours, and surely not 0.
func TestAnUnmeasuredAnswerHasNoFigure(t *testing.T) {
	page := asked(t, sample(), record.Inquiry{Questions: []record.Question{{Ask: "Is ps slower?",
		Quantity: "step", Of: record.Selector{"strategy": "ps"}, Over: []record.Selector{{"workers": "1"}},
		Above: new(1.0)}}})
	want := "the true one, 95 %.\n\n- ? Is ps slower? Not measured (one of its rows was not run).\n"
	if !strings.Contains(page, want) {
		t.Errorf("no %q in\n%.2000s", want, page)
	}
}

// A page says in how many rounds rows ran where that is not the same for all.
func TestRoundsOfRows(t *testing.T) {
	r := only(sample(), "lenet")
	r.Rows[0].Runs = r.Rows[0].Runs[:4]
	if page := asked(t, r, record.Inquiry{}); !strings.Contains(page, " · 34 runs in 4 to 6 rounds · ") {
		t.Errorf("%.300s", page)
	}
}

// The figures of a reference stand beside ours in their units, with what they are of and how many runs they
// are medians over; a figure that follows from others says from which. The title is that of the plan.
func TestReferenceBesideOurs(t *testing.T) {
	r := only(sample(), "lenet")
	page := asked(t, r, record.Inquiry{Title: "Do two pay?", Reference: record.Reference{Title: "theirs",
		Columns: []string{"batches batches/s", "sent MB/s", "accuracy %", "speedup x", "energy Wh"},
		Rows: []record.ReferenceRow{{Name: "two nodes", Is: record.Selector{"strategy": "all-reduce"},
			Figures: map[string]float64{"batches": 459, "sent": 1.67, "speedup": 1.44},
			Derived: map[string]string{"speedup": "2.504 / 1.745"}}}}})
	for _, want := range []string{
		"# Do two pay?\n",
		"| two nodes | 459 | 1.67 | – | 1.44 (= 2.504 / 1.745) |",
		"| ours: all-reduce 2×1 (batch 64, 6 runs of 3840 samples) | 294.7 | 30.16 | 58.70 | 1.350 |",
		"Batches: of all workers, the part of each.", "Sent: by all workers together.",
		"Energy: of whole processors by their own counters (RAPL)",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%.3000s", want, page)
		}
	}
}

// Runs that train for as long do other numbers of steps: there is no one number of samples, and no interval
// of losses.
func TestRunsByTime(t *testing.T) {
	r := only(sample(), "lenet")
	for i := range r.Rows {
		r.Rows[i].Setting.For = "2s"
	}
	two := record.Selector{"strategy": "all-reduce"}
	page := asked(t, r, record.Inquiry{Reference: record.Reference{Title: "theirs", Columns: []string{"loss"},
		Rows: []record.ReferenceRow{{Name: "two nodes", Is: two}}},
		Questions: []record.Question{{Ask: "How far is it?", Quantity: "loss", Of: two}}})
	for _, want := range []string{"ours: all-reduce 2×1 (batch 64, 6 runs of 2s) |", ", loss.\n"} {
		if !strings.Contains(page, want) || strings.Contains(page, "), loss.") {
			t.Errorf("no %q, or an interval, in\n%.3000s", want, page)
		}
	}
}

// An answer says which row's figure it is, of which other row, in what unit, and what was asked where the
// words of the question do not say so anyway.
func TestAnswersNameTheirFigures(t *testing.T) {
	two, one := record.Selector{"strategy": "all-reduce"}, record.Selector{"strategy": "single"}
	page := asked(t, only(sample(), "lenet"), record.Inquiry{
		Reference: record.Reference{Title: "theirs", Columns: []string{"speedup x"},
			Rows: []record.ReferenceRow{{Name: "two nodes", Figures: map[string]float64{"speedup": 1.78}},
				{Name: "one node", Figures: map[string]float64{"speedup": 0.89}}}},
		Questions: []record.Question{
			{Ask: "Is it faster?", Quantity: "step", Of: two, Over: []record.Selector{one}, Below: new(1.0),
				Reference: []string{"two nodes", "speedup", "one node"}},
			{Ask: "Is it 1.78 times as fast?", Quantity: "step", Of: one, Over: []record.Selector{two},
				Equals: new(1.78), Reference: []string{"two nodes", "speedup"}},
			{Ask: "Is it accurate?", Quantity: "accuracy", Of: two, Above: new(0.9)},
			{Ask: "Is it faster by fewer samples?", Quantity: "step", By: "rate", Of: two,
				Over: []record.Selector{one}, Below: new(1.0)},
			{Ask: "How long is a run?", Quantity: "total", Of: two}}})
	for _, want := range []string{
		"- ✓ Is it faster? Yes, here: 0.741× (0.",
		") the step of single 1×1; reference: speed-up 1.78× (two nodes) against 0.89× (one node).\n",
		"- ✗ Is it 1.78 times as fast? Not here: 1.35× (1.",
		") as fast by the step; reference: speed-up 1.78× (two nodes).\n",
		"- ✗ Is it accurate? Not here: 58.7 %, accuracy.\n",
		"- ✓ How long is a run? 0.4", "), time in all.\n",
		"- ? Is it faster by fewer samples? Not decided (what the claim rests on is not shown): samples per",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%.2500s", want, page)
		}
	}
	if strings.Contains(page, "not certain") {
		t.Errorf("rounds enough are too few in\n%.2500s", page)
	}
}

// Where rows train to other results, an answer about their speeds has their accuracies beside it.
func TestSpeedsOfOtherResultsHaveAccuraciesBesideThem(t *testing.T) {
	r := only(sample(), "lenet")
	r.Rows[4].Setting.Wire, r.Rows[4].Setting.IsLossy = "int8", true
	for i := range r.Rows[4].Runs {
		r.Rows[4].Runs[i].TestAccuracy = new(0.25)
	}
	one := []record.Selector{{"strategy": "single"}}
	page := asked(t, r, record.Inquiry{Questions: []record.Question{
		{Ask: "Is it faster?", Quantity: "rate", Of: record.Selector{"strategy": "ddp"}, Over: one,
			Above: new(1.0)},
		{Ask: "Is all-reduce?", Quantity: "rate", Of: record.Selector{"strategy": "all-reduce"}, Over: one,
			Above: new(1.0)}}})
	for _, want := range []string{
		") the samples per second of single 1×1; accuracy 25.0 % in place of 58.7 %.\n",
		") the samples per second of single 1×1.\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%.2500s", want, page)
		}
	}
}

// A page explains what several figures or tables have alike once.
func TestCaptionsAreSaidOnce(t *testing.T) {
	page := asked(t, sample(), record.Inquiry{})
	for _, caption := range []string{"A dot: the median step of a run.", "Spread: range of the runs"} {
		if n := strings.Count(page, caption); n != 1 {
			t.Errorf("%q stands %d times", caption, n)
		}
	}
}

// What a row saves and pays beside the baseline follows from their steps; rows that learned nothing are not
// said to be as accurate as each other.
func TestBalanceAndNothingLearned(t *testing.T) {
	r := only(sample(), "lenet")
	for i := range r.Rows {
		r.Rows[i].Setting.Classes = 2
		for j := range r.Rows[i].Runs {
			r.Rows[i].Runs[j].TestAccuracy, r.Rows[i].Runs[j].ParameterSHA256 = new(0.5), fmt.Sprint(i)
		}
	}
	page := asked(t, r, record.Inquiry{Questions: []record.Question{
		{Ask: "What does it pay?", Quantity: "balance", Of: record.Selector{"strategy": "all-reduce"},
			Over: []record.Selector{{"strategy": "single"}}},
		{Ask: "Is it as accurate?", Quantity: "accuracy", Of: record.Selector{"strategy": "ddp"},
			Over: []record.Selector{{"strategy": "all-reduce"}}, Equals: new(1.0)}}})
	for _, want := range []string{
		"- ✓ What does it pay? Of the 8.72 ms of compute of single 1×1, all-reduce 2×1 saves 4.17 ms and " +
			"pays 1.79 ms for exchange and cores: 1.35× (1.30–1.41) as fast.\n",
		"- ? Is it as accurate? Not testable here (after 60 steps its rows still guess).\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%.2500s", want, page)
		}
	}
}

// Where rounds do not decide and each says the same, the answer says so, with what the claim rests on; of
// where a step goes it has the parts.
func TestAnswersSayWhatRoundsAgreeOn(t *testing.T) {
	r := only(sample(), "lenet")
	r.Rounds = 3
	for i := range r.Rows {
		r.Rows[i].Runs = r.Rows[i].Runs[:3]
	}
	two := record.Selector{"strategy": "all-reduce"}
	for i := range r.Rows[3].Runs { // a quarter of the exchange of all-reduce
		for rank := range r.Rows[3].Runs[i].Ranks {
			s := &r.Rows[3].Runs[i].Ranks[rank].Steps
			for _, v := range s.Phases["sync_exposed"] {
				s.Coded = append(s.Coded, v/4)
			}
		}
	}
	page := asked(t, r, record.Inquiry{Questions: []record.Question{
		{Ask: "Is it slower?", Quantity: "step", By: "exposed", Of: record.Selector{"strategy": "ddp"},
			Over: []record.Selector{{"strategy": "single", "threads": "2"}}, Above: new(1.0)},
		{Ask: "Is it shorter?", Quantity: "step", By: "exposed", Of: record.Selector{"strategy": "single",
			"threads": "1"}, Over: []record.Selector{two}, Below: new(1.0)},
		{Ask: "Where does it go?", Quantity: "parts", Of: two}}})
	for _, want := range []string{
		"## In short\n\n✓ yes, or measured; ✗ no; ≈ likely; ? left open. In brackets behind a figure: the " +
			"interval that holds the true one, 95 %. --repeats 6 may decide ≈ and ?.\n\n" +
			"- ≈ Is it slower? Likely (all 3 rounds agree): exchange ", " in place of ",
		"; 1.07× (", ") the step of single 1×2.\n",
		") the step of all-reduce 2×1; but compute 8.", " ms in place of 4.",
		"- ✓ Where does it go? Of 6.71 ms ", " % compute, ", " % exchange (",
		" % packing, ", " % sending and waiting for others), ",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%.2500s", want, page)
		}
	}
}

// scale makes the steps of a row's runs so many times as long, by round.
func scale(row *record.Row, by ...float64) {
	for round, f := range by {
		for _, rank := range row.Runs[round].Ranks {
			for _, v := range append(slices.Collect(maps.Values(rank.Steps.Phases)), rank.Steps.Seconds) {
				for i := range v {
					v[i] *= f
				}
			}
		}
	}
}

// A row that no other one is ranked against is not told apart from it; each question has the table of its own
// rows.
func TestCausesOfRowsThatAreNoRivals(t *testing.T) {
	r := only(sample(), "lenet")
	r.Rows[4].Setting.Wire, r.Rows[4].Setting.IsLossy = "int8", true
	why := func(strategy string) record.Question {
		return record.Question{Ask: "Why is " + strategy + " faster?", Quantity: "why",
			Of: record.Selector{"strategy": strategy}, Over: []record.Selector{{"workers": "1"}}}
	}
	page := asked(t, r, record.Inquiry{Questions: []record.Question{why("ddp"), why("all-reduce")}})
	for _, want := range []string{"### Why is ddp faster?\n", "### Why is all-reduce faster?\n",
		"| not ranked; most by exchange, not confirmed | 6 |\n",
		"| told apart; most by exchange, not confirmed | 6 |\n"} {
		if strings.Count(page, want) != 1 {
			t.Errorf("no %q, or several, in\n%.3000s", want, page)
		}
	}
}

// Where some rows are likely slower and others are not told from the fastest, an answer says so.
func TestLikelyIsSaidOfTheRowsThatAre(t *testing.T) {
	r := only(sample(), "lenet")
	r.Rounds = 3
	r.Rows = []record.Row{r.Rows[1], r.Rows[4], r.Rows[2]}
	for i := range r.Rows {
		r.Rows[i].Runs = r.Rows[i].Runs[:3]
	}
	scale(&r.Rows[2], 0.6, 0.67, 0.69) // from 7.7 ms to about the 5.1 of the first row
	page := asked(t, r, record.Inquiry{Questions: []record.Question{{Ask: "Why are they slower?",
		Quantity: "why", Of: record.Selector{"model": "lenet"}}}})
	want := "- ≈ Why are they slower? Likely (all 3 rounds agree): longer than a step of single 1×2 ("
	if !strings.Contains(page, want) || !strings.Contains(page, "; 1 more in the table.\n") {
		t.Errorf("no %q, or no row is left to the table, in\n%.2500s", want, page)
	}
}
