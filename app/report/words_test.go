package report

import (
	"slices"
	"strings"
	"testing"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/finding"
	"lockstep/app/evidence/question"
	"lockstep/app/evidence/stat"
	"lockstep/app/record"
)

// Whatever a rule finds has a sentence of its own, with a value for every name in it.
func TestEveryRuleHasASentence(t *testing.T) {
	for _, rule := range compare.Rules() {
		if sentenceOf(rule)(finding.Values{"check": record.PeerCheck{}, "sitting": record.Sitting{},
			"first": record.Sitting{}, "disturbed": 1, "failed": 1, "runs": map[string]int{}}) == rule {
			t.Errorf("rule %s has no sentence", rule)
		}
	}
	settled := map[string]bool{}
	for _, r := range remedies() {
		for _, rule := range r.rules {
			if settled[rule] || !slices.Contains(compare.Rules(), rule) {
				t.Errorf("a remedy is of the rule %q, which is none, or has one", rule)
			}
			settled[rule] = true
		}
	}
}

// Values are written by their type, and the first screen has a sentence with a few rows.
func TestFindingsInWords(t *testing.T) {
	rows := []string{"a", "b", "c", "d"}
	for want, f := range map[string]finding.Finding{
		"More workers × threads than the 2 cores of this machine: a, b, c, d. Step times show " +
			"contention, not " +
			"scaling, so there is no efficiency.": {Rule: "contention", Rows: rows,
			Values: finding.Values{"cores": 2}},
		"a did not do the work of b: samples 11571 against 10240. It gets no speed-up.": {Rule: "unequal " +
			"work",
			Rows: rows[:1], Values: finding.Values{"baseline": "b", "differences": []compare.Difference{
				{Name: "samples", Values: []any{11571, 10240}}}}},
		"Others took cores from every run: every row.": {Rule: "taken cores", Rows: rows, IsAll: true,
			Values: finding.Values{"taken": &record.Taken{Others: 0.3}}},
		"vgg11: both rows that train one model end with the same parameters, bit for bit (SHA-256 " +
			"0123456789ab…).": {
			Rule: "parameters agree", Values: finding.Values{"group": "vgg11", "rows": 2, "all": true,
				"seeds": 1, "sha256": "0123456789abcdef"}},
	} {
		if got := Word(f); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", f.Rule, got, want)
		}
	}
	brief := worded([]finding.Finding{{Rule: "contention", Rows: rows,
		Values: finding.Values{"cores": 2}}})[0].Brief
	if want := "More workers × threads than the 2 cores of this machine: 4 rows."; brief != want {
		t.Errorf("%q, want %q", brief, want)
	}
	if got := opening(strings.Repeat("word ", 100)); len(got) > 270 || !strings.HasSuffix(got, "word …") {
		t.Errorf("%q is no short sentence", got)
	}
}

// compared returns the only group of rows with such steps; a name is of two workers but for single.
func compared(steps map[string][]float64) *compare.Group {
	r := &record.Results{Complete: true, Host: record.Machine{Cores: 4}}
	for _, name := range []string{"single", "all-reduce", "ddp", "ps"} {
		s := record.Setting{Model: "vgg11", Strategy: name, Workers: 2, Threads: 1, Batch: 64, Shards: 2,
			Classes: 10}
		if name == "single" {
			s.Workers = 1
		}
		row := record.Row{Setting: s}
		for round, seconds := range steps[name] {
			run := record.Run{Round: round, Outcome: record.Outcome{Steps: 4, Samples: 256}}
			for rank := range s.Workers {
				one := slices.Repeat(record.Numbers{seconds}, 4)
				run.Ranks = append(run.Ranks, record.Rank{Rank: rank, Steps: record.Steps{Seconds: one,
					Loss: record.Numbers{2, 1, 1, 1}, OwnLoss: record.Numbers{2, 1, 1, 1},
					Epoch:   make([]int, 4),
					Samples: []int{64, 64, 64, 64}}})
			}
			row.Runs = append(row.Runs, run)
		}
		r.Rounds = max(r.Rounds, len(row.Runs))
		if row.Runs != nil {
			r.Rows = append(r.Rows, row)
		}
	}
	return &compare.Compare(r).Groups[0]
}

// A headline says as one would speak what the rounds decide, and no more.
func TestHeadline(t *testing.T) {
	type steps map[string][]float64
	for want, rows := range map[string]steps{
		"ddp 2×1 is the fastest, 1000 ms a step: 2.00× (1.96–2.04) as fast as single 1×1.": {
			"single": {2, 2.01, 2, 2.01, 2, 2.01}, "ddp": {1, 1.01, 1, 1, 1.01, 1}},
		"all-reduce 2×1, 2000 ms a step, is 2.00× (1.90–2.08) as fast as single 1×1; not told apart from " +
			"ddp 2×1.": {"single": {4, 4.01, 4, 4.02, 4, 4.01, 4, 4},
			"all-reduce": {2, 2.1, 1.95, 2, 2.05, 2, 2.1, 1.9},
			"ddp":        {2.05, 1.95, 2.05, 2, 2, 2.1, 1.95, 2}},
		"ddp 2×1, 1005 ms a step, is 2.00× (1.73–2.29) as fast as single 1×1; faster than all-reduce 2×1 " +
			"in all 4 rounds, not certain.": {"single": {2, 2.02, 2, 2.01}, "ddp": {1, 1.01, 1, 1.02},
			"all-reduce": {1.03, 1.04, 1.02, 1.05}},
		"No way of training is faster than single 1×1, 1000 ms a step; the nearest, ddp 2×1, has": {
			"single": {1, 1.01, 1, 1.01, 1, 1}, "ddp": {2, 2.02, 2, 2.02, 2, 2.01}},
		"ddp 2×1 takes 2000 ms a step, single 1×1 2000 ms.": {
			"single": {2, 2, 2.2}, "ddp": {1.9, 2.1, 2}},
		"ddp 2×1 takes 1000 ms a step, single 1×1 2000 ms.":                 {"ddp": {1}, "single": {2}},
		"ddp 2×1 takes 1000 ms a step; there is no row to rank it against.": {"ddp": {1, 1, 1, 1}},
	} {
		g := compared(rows)
		if got := headline(g, g.Verdict()); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Of rows from which others took cores the headline says what was measured, and that nothing is decided.
func TestHeadlineOfABusyMachine(t *testing.T) {
	g := compared(map[string][]float64{"single": {2, 2, 2, 2}, "ddp": {1, 1, 1, 1}})
	for _, l := range g.Lines {
		l.Disturbed = true
	}
	g.Rivals = nil
	const want = "single 1×1 takes 2000 ms a step, ddp 2×1 1000 ms; others took cores, so there is no " +
		"verdict."
	if got := headline(g, g.Verdict()); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if why := reason(g, g.Verdict()); why != "Not ranked, others took cores: single 1×1 and ddp 2×1." {
		t.Errorf("because %q", why)
	}
}

// Differences of accuracies say no more than their interval shows.
func TestAccuracyInWords(t *testing.T) {
	over := func(mean, lo, hi float64) compare.Estimate {
		return compare.Estimate{Mean: mean, Seeds: 3, Interval: stat.Interval{Lo: lo, Hi: hi, Coverage: 0.95}}
	}
	for want, e := range map[string]compare.Estimate{
		"below (interval -3.77 to -0.90, 3 seeds)":        over(-0.0233, -0.0377, -0.009),
		"the same within 0.5 points":                      over(-0.001, -0.003, 0.001),
		"not shown to differ":                             over(-0.0233, -0.05, 0.01),
		"one seed has no interval, so that is no finding": {Mean: 0.01, Seeds: 1},
	} {
		if got := overText(compare.Over{Estimate: e, Own: 0.5}); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What a run tells is worded, and what it does not tell is nothing.
func TestRunsInWords(t *testing.T) {
	async := &record.Async{Bound: 8, Backup: 1, DividesRate: true, Updates: 4, Dropped: 2,
		Staleness: []int{1, 2, 1}}
	gpu := &record.RankGPU{GPU: record.GPU{MemoryBytes: 140 << 30}, BytesInUse: 5 << 30,
		Time: &record.GPUTime{Steps: 4, Seconds: 0.04, Forward: 0.01, Backward: 0.02, Optimizer: 0.002}}
	moves := []record.Move{{Step: 10, From: []int{4, 4}, To: []int{4, 4}, After: 0.01, Ideal: 0.009},
		{Step: 31, From: []int{4, 4}, To: []int{6, 2}, After: 0.02, Ideal: 0.018}}
	for want, got := range map[string]string{
		"1 updates on average, 2 at most, where 8 are allowed; the learning rate was divided by it; " +
			"2 gradients came after their round and were dropped": asyncText(async),
		"forward 2.50 ms, backward 5.00 ms, optimizer 0.500 ms of a step of 10.0 ms, idle for 20 % of it; " +
			"at most 5.37 GB of 150 GB of its memory in use, by all processes": gpuText(gpu),
		"by worker [4 4] at first, [6 2] since step 31: the slowest worker computes 20 ms of a step, 18 ms " +
			"if shards could be divided": movesText(moves),
		"5.0 % of the cores' time went to other virtual machines, 12 % to other processes": takenText(
			&record.Taken{Stolen: 0.05, Others: 0.12}),
		"": asyncText(nil) + gpuText(nil) + movesText(nil) + takenText(&record.Taken{Stolen: 0.01}) +
			takenText(nil),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A sentence writes a time with the digits of the table: 3.70, not 3.7.
func TestTimesHaveThreeDigits(t *testing.T) {
	for seconds, want := range map[float64]string{0.0037: "3.70 ms", 0.01: "10.0 ms", 0.187: "187 ms",
		1.016: "1016 ms", 0.0000123: "0.0123 ms", 0: "0 ms"} {
		if got := ms(seconds); got != want {
			t.Errorf("%v s are %s, want %s", seconds, got, want)
		}
	}
}

// An interval that tells nothing of a ratio is left out of sentences as of cells.
func TestIntervalOfARatio(t *testing.T) {
	for hi, want := range map[float64]string{3.9: "2.39× (0.50–3.90)", 447885.99: "2.39×"} {
		r := stat.Ratio{Median: 2.39, Interval: stat.Interval{Lo: 0.5, Hi: hi, Coverage: 0.95}}
		if got := times(r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A share that is there is not written as none.
func TestSmallShares(t *testing.T) {
	for v, want := range map[float64]string{0: "0.0 %", 0.0001: "< 0.1 %", 0.003: "0.3 %", 0.0994: "9.9 %",
		0.4567: "46 %"} {
		if got := shareText(v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}

// More rounds may also decide what others disturbed, and nothing that rounds do not.
func TestTheLegendSaysWhatRoundsMayDecide(t *testing.T) {
	for reason, may := range map[question.Reason]bool{question.Disturbed: true, question.TooFew: true,
		question.Guessing: false} {
		text := legendText([]question.Answer{{Verdict: question.Undecided, Reason: reason}}, 6)
		if strings.Contains(text, "--repeats 12 may decide") != may {
			t.Errorf("reason %v: %s", reason, text)
		}
	}
}
