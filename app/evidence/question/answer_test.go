package question_test

import (
	"fmt"
	"math"
	"strconv"
	"testing"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/question"
	"lockstep/app/record"
)

// measured returns results of two rows in six rounds: all-reduce takes so many times as long as single, and
// so many samples.
func measured(factor float64, samples int64) *record.Results {
	r := &record.Results{Rounds: 6, Complete: true, Host: record.Machine{Cores: 2}}
	for i, strategy := range []string{"single", "all-reduce"} {
		row := record.Row{Setting: record.Setting{Model: "lenet", Data: "glyphs", Strategy: strategy,
			Link: "tcp", Workers: 1 + i, Threads: 1, Batch: 64, Shards: 2, Steps: 4, LR: 0.01, Seed: 1}}
		for round := range r.Rounds {
			step := 0.01 * math.Pow(factor, float64(i)) * (1 + 0.001*float64(round*(i+1)%4))
			accuracy := 0.5
			run := record.Run{Round: round, BytesVectors: 6000, Position: 2*round + i,
				TrainSeconds: 4 * step,
				Outcome: record.Outcome{Steps: 4, Samples: 256, BytesSent: 3000, Seconds: 4 * step,
					TestAccuracy: &accuracy, TestSamples: 100}}
			if i == 1 {
				run.Samples = samples
			}
			for rank := range 1 + i {
				seconds := record.Numbers{step, step, step, step}
				waits := record.Numbers{step / 4, step / 4, step / 4, step / 4}
				computes := record.Numbers{3 * step / 4, 3 * step / 4, 3 * step / 4, 3 * step / 4}
				none := make(record.Numbers, 4)
				run.Ranks = append(run.Ranks, record.Rank{Rank: rank, Steps: record.Steps{
					Epoch: make([]int, 4), Samples: []int{64, 64, 64, 64},
					Loss: record.Numbers{2.3, 2, 1.8, 1.5}, Seconds: seconds,
					OwnLoss: record.Numbers{2.3, 2, 1.8, 1.5},
					Phases: map[string]record.Numbers{"forward": computes, "backward": none,
						"sync_exposed": waits}}})
			}
			row.Runs = append(row.Runs, run)
		}
		r.Rows = append(r.Rows, row)
	}
	return r
}

// ask asks results what a plan asks.
func ask(r *record.Results, asked *record.Inquiry) []question.Answer {
	r.Inquiry = asked
	return question.Answers(r, compare.Compare(r))
}

// Each form of a question has the verdict that its figures decide, and no more.
func TestAnswers(t *testing.T) {
	single := record.Selector{"strategy": "single"}
	two := record.Selector{"strategy": "all-reduce", "workers": "2"}
	over := []record.Selector{single}
	none := record.Selector{"strategy": "ddp"}
	for _, c := range []struct {
		name    string
		factor  float64
		samples int64
		asked   record.Question
		want    question.Verdict
		why     question.Reason
	}{
		{"slower", 1.5, 256, record.Question{Quantity: "step", Of: two, Over: over, Above: new(1.0)},
			question.Holds, question.None},
		{"the other way round", 1.5, 256, record.Question{Quantity: "step", Of: single,
			Over: []record.Selector{two}, Below: new(1.0)}, question.Holds, question.None},
		{"not faster", 1.5, 256, record.Question{Quantity: "step", Of: two, Over: over, Below: new(1.0)},
			question.Fails, question.None},
		{"a factor", 1.5, 256, record.Question{Quantity: "step", Of: two, Over: over, Equals: new(1.5)},
			question.Holds, question.None},
		{"another factor", 1.5, 256, record.Question{Quantity: "step", Of: two, Over: over, Equals: new(1.6)},
			question.Fails, question.None},
		{"the same", 1, 256, record.Question{Quantity: "step", Of: two, Over: over, Below: new(1.0)},
			question.Undecided, question.None},
		{"longer in each round, by next to nothing", 1.004, 256, record.Question{Quantity: "step", Of: two,
			Over: over, Above: new(1.0)}, question.Likely, question.None},
		{"not shorter in any round", 1.004, 256, record.Question{Quantity: "step", Of: two, Over: over,
			Below: new(1.0)}, question.Unlikely, question.None},
		{"fastest of rows, one of which was not run", 0.5, 256, record.Question{Quantity: "step", Of: two,
			Over: []record.Selector{single, none}, Below: new(1.0)}, question.Unmeasured, question.NoRow},
		{"other work", 1.5, 128, record.Question{Quantity: "total", Of: two, Over: over, Above: new(1.0)},
			question.Unmeasured, question.OtherWork},
		{"totals", 1.5, 256, record.Question{Quantity: "total", Of: two, Over: over, Above: new(1.0)},
			question.Holds, question.None},
		{"beside itself", 1.5, 256, record.Question{Quantity: "step", Of: two, Over: []record.Selector{two},
			Above: new(1.0)}, question.Unmeasured, question.NoRow},
		{"a share", 1.5, 256, record.Question{Quantity: "sync_exposed", Of: two, Above: new(0.2)},
			question.Holds, question.None},
		{"a value", 1.5, 256, record.Question{Quantity: "loss", Of: two, Below: new(2.303)},
			question.Holds, question.None},
		{"the loss of a step", 1.5, 256, record.Question{Quantity: "loss-at-3", Of: two, Equals: new(1.8)},
			question.Holds, question.None},
		{"the loss of a step that no run has", 1.5, 256, record.Question{Quantity: "loss-at-5", Of: two,
			Above: new(1.0)}, question.Unmeasured, question.NoFigure},
		{"batches of all workers", 1.5, 256, record.Question{Quantity: "batches", Of: two,
			Equals: new(2 / 0.015)}, question.Holds, question.None},
		{"bytes of all workers", 1.5, 256, record.Question{Quantity: "sent", Of: two,
			Equals: new(3000 / 0.06)}, question.Holds, question.None},
		{"seconds on the network", 1.5, 256, record.Question{Quantity: "network", Of: two,
			Equals: new(0.25 * 0.06)}, question.Holds, question.None},
		{"equal workers", 1.5, 256, record.Question{Quantity: "evenness", Of: two, Above: new(0.99)},
			question.Holds, question.None},
		{"one worker is not even", 1.5, 256, record.Question{Quantity: "evenness", Of: single},
			question.Unmeasured, question.NoFigure},
		{"the serial part of Amdahl's law", 0.6, 256, record.Question{Quantity: "serial", Of: two,
			Above: new(0.15)}, question.Holds, question.None},
		{"the cost of twice the cores", 0.6, 256, record.Question{Quantity: "cost", Of: two, Over: over,
			Equals: new(1.2)}, question.Holds, question.None},
		{"compression", 1.5, 256, record.Question{Quantity: "compression", Of: two, Equals: new(2.0)},
			question.Holds, question.None},
		{"a figure alone", 1.5, 256, record.Question{Quantity: "accuracy", Of: two}, question.Measured,
			question.None},
		{"where a step goes", 1.5, 256, record.Question{Quantity: question.Parts, Of: two}, question.Measured,
			question.None},
		{"where a step goes, beside a share", 1.5, 256, record.Question{Quantity: question.Parts, Of: two,
			Equals: new(0.46)}, question.Measured, question.None},
		{"what the claim rests on is so", 1.5, 256, record.Question{Quantity: "step", By: "exposed", Of: two,
			Over: over, Above: new(1.0)}, question.Holds, question.None},
		{"what the claim rests on is the other way round", 1.5, 256, record.Question{Quantity: "step",
			By: "rate", Of: two, Over: over, Above: new(1.0)}, question.Undecided, question.Unsupported},
		{"what the claim rests on was not measured", 1.5, 256, record.Question{Quantity: "step",
			By: "memory", Of: two, Over: over, Above: new(1.0)}, question.Undecided, question.Unsupported},
		{"a no rests on nothing", 1.5, 256, record.Question{Quantity: "step", By: "rate", Of: two, Over: over,
			Below: new(1.0)}, question.Fails, question.None},
		{"computing", 1.5, 256, record.Question{Quantity: "computing", Of: two, Equals: new(0.75)},
			question.Holds, question.None},
		{"seconds of a step in the exchange", 1.5, 256, record.Question{Quantity: "exposed", Of: two,
			Equals: new(0.015 / 4)}, question.Holds, question.None},
		{"no figure", 1.5, 256, record.Question{Quantity: "memory", Of: two}, question.Unmeasured,
			question.NoFigure},
		{"packing without a codec", 1.5, 256, record.Question{Quantity: "packing", Of: two},
			question.Unmeasured, question.NoFigure},
		{"a run without checkpoints", 1.5, 256, record.Question{Quantity: "checkpoints", Of: two},
			question.Measured, question.None},
	} {
		r := measured(c.factor, c.samples)
		got := ask(r, &record.Inquiry{Questions: []record.Question{c.asked}})[0]
		if got.Verdict != c.want || got.Reason != c.why {
			t.Errorf("%s: verdict %d, reason %d, want %d and %d; %+v", c.name, got.Verdict, got.Reason,
				c.want, c.why, got.Estimate)
		}
		if isKnown := !math.IsNaN(got.Median); isKnown != (c.want != question.Unmeasured) {
			t.Errorf("%s: a figure of %v", c.name, got.Median)
		}
	}
}

// Packing is the part of a step's exchange in which gradients are encoded: two fifths of a quarter.
func TestPacking(t *testing.T) {
	r := measured(1.5, 256)
	for i := range r.Rows[1].Runs {
		for j := range r.Rows[1].Runs[i].Ranks {
			s := &r.Rows[1].Runs[i].Ranks[j].Steps
			for _, waits := range s.Phases["sync_exposed"] {
				s.Coded = append(s.Coded, 0.4*waits)
			}
		}
	}
	got := ask(r, &record.Inquiry{Questions: []record.Question{{Quantity: "packing",
		Of: record.Selector{"workers": "2"}, Equals: new(0.1)}}})[0]
	if got.Verdict != question.Holds || math.Abs(got.Median-0.1) > 1e-9 {
		t.Errorf("%.4f of a step, verdict %d", got.Median, got.Verdict)
	}
}

// A figure of the reference is what a question asks for, unless it asks for several.
func TestAReferenceIsTheBound(t *testing.T) {
	asked := record.Inquiry{Reference: record.Reference{Columns: []string{"computing %"},
		Rows: []record.ReferenceRow{{Name: "theirs", Figures: map[string]float64{"computing": 46}}}}}
	for _, quantity := range []string{"computing", question.Parts} {
		asked.Questions = append(asked.Questions, record.Question{Ask: "?", Quantity: quantity,
			Of: record.Selector{"workers": "2"}, Reference: []string{"theirs", "computing"}})
	}
	if err := question.Complete(&asked); err != nil {
		t.Fatal(err)
	}
	if one := asked.Questions[0].Equals; one == nil || *one != 0.46 {
		t.Errorf("computing is to equal %v, want 0.46", one)
	}
	if several := asked.Questions[1].Equals; several != nil {
		t.Errorf("the parts of a step are to equal %v", *several)
	}
	got := ask(measured(1.5, 256), &asked)
	if got[0].Verdict != question.Fails || got[1].Verdict != question.Measured {
		t.Errorf("verdicts %d and %d", got[0].Verdict, got[1].Verdict)
	}
}

// One round has no interval, and decides nothing.
func TestOneRound(t *testing.T) {
	r := measured(2, 256)
	r.Rounds = 1
	for i := range r.Rows {
		r.Rows[i].Runs = r.Rows[i].Runs[:1]
	}
	two := record.Selector{"workers": "2"}
	asked := record.Inquiry{Questions: []record.Question{{Quantity: "total", Of: two,
		Over: []record.Selector{{"workers": "1"}}, Above: new(1.0)},
		{Quantity: "accuracy", Of: two}, {Quantity: question.Parts, Of: two}}}
	for i, got := range ask(r, &asked) {
		if got.Verdict != question.Undecided || got.Reason != question.TooFew {
			t.Errorf("question %d: verdict %d, reason %d", i+1, got.Verdict, got.Reason)
		}
	}
}

// Where workers share too few cores a speed-up is one of cores, whatever it is, and so is the time of a step
// beside that of another number of workers. What they learn is not.
func TestContentionDecidesNoScaling(t *testing.T) {
	for cores, want := range map[int]question.Verdict{1: question.Undecided, 2: question.Fails} {
		r := measured(1.5, 256)
		r.Host.Cores = cores
		got := ask(r, &record.Inquiry{Questions: []record.Question{{Quantity: "speedup",
			Of: record.Selector{"workers": "2"}, Equals: new(1.79)}}})[0]
		if got.Verdict != want || (got.Reason == question.Contended) != (cores == 1) {
			t.Errorf("%d cores: verdict %d, reason %d", cores, got.Verdict, got.Reason)
		}
		one, two := record.Selector{"workers": "1"}, record.Selector{"workers": "2"}
		all := ask(r, &record.Inquiry{Questions: []record.Question{
			{Quantity: "step", Of: two, Over: []record.Selector{one}, Below: new(1.0)},
			{Quantity: "rate", Of: one, Over: []record.Selector{two}, Below: new(1.0)},
			{Quantity: "accuracy", Of: two, Over: []record.Selector{one}, Equals: new(1.0)}}})
		if all[0].Verdict != want || all[1].Verdict != want || all[2].Verdict != question.Holds {
			t.Errorf("%d cores: verdicts %d, %d, %d", cores, all[0].Verdict, all[1].Verdict, all[2].Verdict)
		}
	}
}

// The interval of a share is one of shares, however far its few runs are apart.
func TestAShareStaysOne(t *testing.T) {
	r := measured(1.5, 256)
	two := &r.Rows[1]
	for i, even := range []float64{0.995, 0.80, 0.99, 0.85, 0.98, 0.9} {
		computes := two.Runs[i].Ranks[1].Steps.Phases["forward"]
		for at := range computes {
			computes[at] *= even
		}
	}
	in := question.Of(compare.Compare(r).Groups[0].Lines[1], "evenness").Interval
	if !(0.5 < in.Lo && in.Lo < 0.95 && 0.98 < in.Hi && in.Hi < 1) {
		t.Errorf("interval %+v", in)
	}
}

// What a run divides by its own times is as certain as its own rounds, whatever the steps do.
func TestSharesAreAsCertainAsTheirRounds(t *testing.T) {
	r := measured(1.5, 256)
	r.Rounds = 3
	for i := range r.Rows {
		r.Rows[i].Runs = r.Rows[i].Runs[:3]
	}
	for round, even := range []float64{0.987, 0.983, 0.9753} { // as four workers of recipe r2 have had it
		for rank, v := range r.Rows[1].Runs[round].Ranks {
			for at := range v.Steps.Seconds {
				v.Steps.Seconds[at] *= 1 + 0.3*float64(round)
				v.Steps.Phases["sync_exposed"][at] *= 1 + 0.3*float64(round)
				v.Steps.Phases["forward"][at] *= (1 + 0.3*float64(round)) * math.Pow(even, float64(rank))
			}
		}
	}
	two := record.Selector{"workers": "2"}
	got := ask(r, &record.Inquiry{Questions: []record.Question{
		{Quantity: "evenness", Of: two, Above: new(0.9)},
		{Quantity: "sync_exposed", Of: two, Above: new(0.24)},
		{Quantity: "exposed", Of: two, Above: new(0.24 * 0.015)}}})
	if in := got[0].Interval; math.Abs(in.Lo-0.961) > 1e-3 || math.Abs(in.Hi-0.992) > 1e-3 {
		t.Errorf("evenness %v, %+v", got[0].Median, in)
	}
	for i, want := range []question.Verdict{question.Holds, question.Holds, question.Undecided} {
		if got[i].Verdict != want {
			t.Errorf("%s: verdict %d, want %d; %+v", got[i].Quantity, got[i].Verdict, want, got[i].Estimate)
		}
	}
}

// A total that is its steps is as certain as they are, by as many rounds.
func TestTotalsAreAsCertainAsSteps(t *testing.T) {
	two, single := record.Selector{"workers": "2"}, []record.Selector{{"workers": "1"}}
	got := ask(measured(1.5, 256), &record.Inquiry{Questions: []record.Question{
		{Quantity: "step", Of: two, Over: single}, {Quantity: "total", Of: two, Over: single}}})
	if step, total := got[0].Interval, got[1].Interval; math.Abs(step.Lo-total.Lo) > 1e-9 ||
		math.Abs(step.Hi-total.Hi) > 1e-9 {
		t.Errorf("steps %+v, totals %+v", step, total)
	}
}

// Two rows that guess are equally accurate, which says nothing about how they train.
func TestGuesses(t *testing.T) {
	asked := record.Inquiry{Questions: []record.Question{{Quantity: "accuracy",
		Of: record.Selector{"workers": "2"}, Over: []record.Selector{{"workers": "1"}}, Equals: new(1.0)}}}
	for classes, want := range map[int]question.Verdict{0: question.Holds, 2: question.Undecided,
		10: question.Holds} {
		r := measured(1.5, 256)
		for i := range r.Rows {
			r.Rows[i].Setting.Classes = classes
		}
		got := ask(r, &asked)[0]
		if got.Verdict != want || (got.Reason == question.Guessing) != (classes == 2) {
			t.Errorf("%d classes: verdict %d, reason %d", classes, got.Verdict, got.Reason)
		}
	}
}

// Rows that end with the same parameters are as accurate, however short their runs are.
func TestSameParametersAreAsAccurate(t *testing.T) {
	for hash, want := range map[string]question.Reason{"a": question.SameBits, "b": question.Guessing} {
		r := measured(1.5, 256)
		for i := range r.Rows {
			r.Rows[i].Setting.Classes = 2
			for j := range r.Rows[i].Runs {
				r.Rows[i].Runs[j].ParameterSHA256 = []string{"a", hash}[i]
			}
		}
		got := ask(r, &record.Inquiry{Questions: []record.Question{{Quantity: "accuracy", Equals: new(1.0),
			Of: record.Selector{"workers": "2"}, Over: []record.Selector{{"workers": "1"}}}}})[0]
		if got.Reason != want || (got.Verdict == question.Holds) != (want == question.SameBits) {
			t.Errorf("%s: verdict %d, reason %d", hash, got.Verdict, got.Reason)
		}
		got = ask(r, &record.Inquiry{Questions: []record.Question{{Quantity: "parameters", Equals: new(1.0),
			Of: record.Selector{"workers": "2"}, Over: []record.Selector{{"workers": "1"}}}}})[0]
		wantVerdict := map[string]question.Verdict{"a": question.Holds, "b": question.Fails}[hash]
		if got.Verdict != wantVerdict {
			t.Errorf("parameters %s: verdict %d, want %d", hash, got.Verdict, wantVerdict)
		}
	}
}

// Others take time from a run, not what it trained: rows of the same trainings tell the same losses,
// accuracies and parameters, whichever runs' times count.
func TestResultsOfTakenRuns(t *testing.T) {
	r := measured(1.5, 256)
	for i := range r.Rows {
		for j := range r.Rows[i].Runs {
			run := &r.Rows[i].Runs[j]
			accuracy := 0.1 * float64(j)
			run.Seed, run.ParameterSHA256, run.TestAccuracy = uint64(1+j), fmt.Sprint("seed", j), &accuracy
			for _, rank := range run.Ranks {
				rank.Steps.Loss[3] = 1 + accuracy
			}
		}
	}
	r.Rows[0].Runs[0].Taken = &record.Taken{Others: 0.3}
	rows := compare.Compare(r).Groups[0].Lines
	a, b := rows[0], rows[1]
	if a.Measured != 5 || a.LossLast != b.LossLast || *r.Rows[0].Runs[0].TestAccuracy != a.TestAccuracy ||
		a.SHA256 != b.SHA256 {
		t.Errorf("%d runs, loss %v and %v, accuracy %v, parameters %q and %q", a.Measured, a.LossLast,
			b.LossLast, a.TestAccuracy, a.SHA256, b.SHA256)
	}
	for _, quantity := range []string{"loss", "loss-at-4", "accuracy"} {
		if of, other := question.Of(a, quantity), question.Of(b, quantity); of.Median != other.Median {
			t.Errorf("%s: %v and %v", quantity, of.Median, other.Median)
		}
	}
}

// Rows end with the same parameters if they do for every seed that both had.
func TestParametersOfEverySeed(t *testing.T) {
	for other, want := range map[string]question.Verdict{"3": question.Holds, "x": question.Fails} {
		r := measured(1.5, 256)
		for i := range r.Rows {
			for j := range r.Rows[i].Runs {
				run := &r.Rows[i].Runs[j]
				run.Seed, run.ParameterSHA256 = uint64(j+1), strconv.Itoa(j)
			}
		}
		r.Rows[1].Runs = r.Rows[1].Runs[1:] // without the first seed
		r.Rows[1].Runs[2].ParameterSHA256 = other
		got := ask(r, &record.Inquiry{Questions: []record.Question{{Quantity: "parameters", Equals: new(1.0),
			Of: record.Selector{"workers": "2"}, Over: []record.Selector{{"workers": "1"}}}}})[0]
		if got.Verdict != want {
			t.Errorf("%s for seed 4: verdict %d, want %d", other, got.Verdict, want)
		}
	}
}

// Others took cores from every run: there is no speed-up, which is not one of 0; accuracies are as they are.
func TestNoSpeedup(t *testing.T) {
	r := measured(1.5, 256)
	for i := range r.Rows {
		for j := range r.Rows[i].Runs {
			r.Rows[i].Runs[j].Taken = &record.Taken{Others: 0.5}
		}
	}
	two := question.Find(compare.Compare(r), record.Selector{"workers": "2"})
	for _, quantity := range []string{"speedup", "efficiency"} {
		if got := question.Of(two, quantity); !math.IsNaN(got.Median) {
			t.Errorf("%s %v", quantity, got.Median)
		}
	}
	of := record.Selector{"workers": "2"}
	got := ask(r, &record.Inquiry{Questions: []record.Question{
		{Quantity: "efficiency", Of: of, Equals: new(0.9)},
		{Quantity: "accuracy", Of: of, Over: []record.Selector{{"workers": "1"}}, Equals: new(1.0)}}})
	if got[0].Verdict != question.Undecided || got[0].Reason != question.Disturbed ||
		got[1].Verdict != question.Holds {
		t.Errorf("efficiency %d (%d), accuracy, which cores do not change, %d", got[0].Verdict, got[0].Reason,
			got[1].Verdict)
	}
}

// Nobody asks, nothing is answered.
func TestNoQuestions(t *testing.T) {
	if got := ask(measured(1, 256), nil); got != nil {
		t.Errorf("%v", got)
	}
}

// The batches of workers that wait for one another are shares of the global one; where a step is one
// worker's, they are whole.
func TestBatchesOfWorkersThatShareNone(t *testing.T) {
	r := measured(1, 256)
	r.Rows[1].Setting.Strategy = "ps-async"
	l := compare.Compare(r).Groups[0].Lines[1]
	shared := question.Of(l, "batches").Median
	for i := range r.Rows[1].Runs {
		r.Rows[1].Runs[i].Staleness = []int{3, 1}
	}
	l = compare.Compare(r).Groups[0].Lines[1]
	if got := question.Of(l, "batches").Median; math.Abs(got/shared-0.5) > 1e-9 || l.OwnSamples() != 64 {
		t.Errorf("%g batches of %g samples a second, want half of %g", got, l.OwnSamples(), shared)
	}
}
