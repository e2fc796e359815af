package claim_test

import (
	"strings"
	"testing"

	"lockstep/app/claim"
)

// mended is a table of a report in which each name is one row, and strategies is one in which ddp is two.
const (
	mended = "10 classes, median of 5 runs.\n\n" +
		"| strategy | workers | total s | low | high |\n|---|---|---|---|---|\n" +
		"| Single | 1 | 40.0 | 39.8 | 40.2 |\n| All-reduce | 2 | 21.5 | 21.3 | 21.7 |\n" +
		"| DDP | 4 | 12.0 | 11.8 | 12.2 |\n\n"
	twoOfDDP = "| strategy | workers | total s | low | high |\n|---|---|---|---|---|\n" +
		"| Single | 1 | 40.0 | 39.8 | 40.2 |\n| DDP | 2 | 21.5 | 21.3 | 21.7 |\n" +
		"| DDP | 4 | 12.0 | 11.8 | 12.2 |\n\n"
)

// alike is a table of three strategies, with three seeds of each, whose accuracies are shown to be the same.
const alike = "| strategy | seed | step ms | accuracy |\n|---|---|---|---|\n" +
	"| all-reduce | 1 | 20 | 91.1% |\n| all-reduce | 2 | 20 | 91.3% |\n| all-reduce | 3 | 20 | 91.5% |\n" +
	"| int8 | 1 | 18 | 91.2% |\n| int8 | 2 | 18 | 91.3% |\n| int8 | 3 | 18 | 91.4% |\n" +
	"| int4 | 1 | 17 | 91.0% |\n| int4 | 2 | 17 | 91.2% |\n| int4 | 3 | 17 | 91.4% |\n\n"

// Sentences of a reader's report that were not understood: each with its verdict and a part of the reason.
func TestSentencesOfAReader(t *testing.T) {
	for _, c := range []struct {
		table, text string
		want        claim.Verdict
		why         string
	}{
		{mended, "With 4 workers we get a speed-up of 3.3x.", claim.Holds, "3.333"},
		{mended, "With 4 workers we get a speed-up of 8x.", claim.Wrong, "3.333"},
		{mended, "With 8 workers we get a speed-up of 8x.", claim.NotChecked, "no row is called 8 workers"},
		{mended, "All-reduce was almost twice as fast as the single worker.", claim.Holds, "1.86"},
		{mended, "DDP was almost twice as fast as the single worker.", claim.Wrong, "3.333"},
		{mended, "DDP on 4 workers scales well.", claim.NotChecked, "83.33 % of linear"},
		{mended, "All-reduce scales well.", claim.Holds, "93.02 % of linear"},
		{mended, "The speedup is 1.9.", claim.Holds, "1.86"},
		{mended, "The speedup is 2.6.", claim.NotChecked, "no row has"}, // their mean
		{mended, "The speedup is 2.2.", claim.Wrong, "the speed-ups are 1.86 and 3.333"},
		{mended, "With DDP the training time fell from 40 s to 12 s.", claim.Holds, "3.333"},
		{mended, "With DDP the training time fell from 40 s to 10 s.", claim.Wrong, "DDP 12 s"},
		{mended, "The time went from 40 s to 12 s.", claim.Holds, "3.333"},
		{mended, "The time went from 44 s to 12 s.", claim.Wrong, "no two rows"},
		{mended, "DDP reduced the total time from 40 s to 12 s.", claim.Holds, "3.333"},
		{mended, "DDP takes 70 % less time than Single.", claim.Holds, "3.333"},
		{mended, "DDP needs 50 % less time than Single.", claim.Wrong, "3.333"},
		{mended, "Going from 1 to 4 workers, the time fell by 70 %.", claim.Holds, "3.333"},
		{mended, "Going from 1 to 4 workers, the time fell by 50 %.", claim.Wrong, "3.333"},
		{mended, "The time fell by 70 % when going from one to 4 workers.", claim.Holds, "3.333"},
		{mended, "Going from 1 to 4 workers gives a speed-up of 3.3x.", claim.Holds, "3.333"},
		{mended, "Going from 2 to 4 workers gives a speed-up of 3.3x.", claim.Wrong, "1.79"},
		{mended, "Going from 3 to 4 workers gives a speed-up of 3.3x.", claim.NotChecked, "no two rows"},
		{mended, "DDP runs 3.3 times faster than Single.", claim.Holds, "3.333"},
		{mended, "Single is 233% slower than DDP.", claim.Holds, "one of time, not of speed"},
		{mended, "Single is 70% slower than DDP.", claim.Holds, ""},
		{mended, "Foo is 2x faster than Single.", claim.NotChecked, "no row is called Foo"},
		{mended, "Single is slower than Foo Bar.", claim.NotChecked, "no row is called Foo Bar"},
		{mended, "Foo is 2x faster than Bar.", claim.NotChecked, "no row is called Foo"},
		{mended, "It is 2x faster than Single.", claim.NotChecked, "outside the grammar"},
		{mended, "The weather was 2x warmer than in June.", claim.NotChecked, "outside the grammar"},
		{mended, "The single run converged to a loss of 2.303.", claim.Wrong, "ln(10) = 2.303"},
		{mended, "The single run converged to a loss of 0.3.", claim.NotChecked, "below that of guessing"},
		{mended, "The single run converged.", claim.NotChecked, "neither the sentence nor a column"},
		{twoOfDDP, "The single run converged to a loss of 2.303.", claim.NotChecked, `write "10 classes"`},
		{twoOfDDP, "DDP is 2x faster than Single.", claim.NotChecked,
			"DDP is 2 rows (2 and 4 workers): say which"},
		{twoOfDDP, "DDP on 4 workers is 3.3x faster than Single.", claim.Holds, "3.333"},
		{course, "All strategies reach the same accuracy.", claim.Wrong, "one seed each"},
		{course, "The accuracy stays the same for all strategies.", claim.Wrong, "one seed each"},
		{mended, "All strategies reach the same accuracy.", claim.NotChecked, "no accuracies of two rows"},
		{alike, "All strategies reach the same accuracy.", claim.Holds,
			"all-reduce 91.3 % (91.1 % to 91.5 %), int8 91.3 % (91.2 % to 91.4 %) " +
				"and int4 91.2 % (91 % to 91.4 %): each two within 0.5 points"},
		{alike, "The accuracy is the same for all strategies.", claim.Holds, "p = 0.045 at most"},
		{strings.TrimSpace(alike) + "\n| fp8 | 1 | 16 | |\n\n", "All strategies reach the same accuracy.",
			claim.NotChecked, "no accuracy of fp8"},
		{course, "Going from 1 to 4 workers gives a speedup of 3.2x.", claim.NotChecked,
			"4 workers is 2 rows (all-reduce and ddp)"},
		{mended, "None of 10 comparisons shows one row to be the fastest.", claim.NotChecked, "names no row"},
	} {
		r := check(t, "report.md", c.table+c.text+"\n")
		last := claim.Statement{}
		if n := len(r.Statements); n > 0 {
			last = r.Statements[n-1]
		}
		if last.Verdict != c.want || !strings.Contains(last.Why, c.why) {
			t.Errorf("%q: want %s, %q; got %+v", c.text, c.want, c.why, last)
		}
	}
}

// An objection to a sentence says in which line it begins.
func TestLinesOfSentences(t *testing.T) {
	text := mended + "We ran it.\nIt took `--long\nflags` a while. DDP is 3.3x faster\nthan Single. " +
		"DDP is 9x faster\nthan Single.\n"
	r := check(t, "report.md", text)
	if len(r.Objections) == 0 || r.Objections[0].Where != "sentence 5, line 12" {
		t.Errorf("want sentence 5, line 12:\n%+v", r.Objections)
	}
	csv := check(t, "table.csv", "strategy,workers,total s\nsingle,1,40\n# ddp is 9x faster than single.\n"+
		"ddp,4,12\n")
	if len(csv.Objections) == 0 || csv.Objections[0].Where != "sentence 1, line 3" {
		t.Errorf("want sentence 1, line 3:\n%+v", csv.Objections)
	}
}

// mendedCases are about headings, clocks, cores of the machine and quotients of whole seconds.
func mendedCases() []example {
	const four = "strategy,workers,threads,cores,step ms,speed-up,efficiency %\n"
	const whole = "strategy,workers,total s,speed-up\nsingle,1,40,1\nall-reduce,4,12,"
	const both = "strategy,workers,total s,samples/s,speed-up\nsingle,1,40,320,1\nall-reduce,4,12,1067,"
	return []example{
		{"cores of the machine in every row", four + "single,1,1,4,100 ± 1,1,100\nddp,4,1,4,30 ± 1,3.33,83\n",
			[]string{"note cores"}},
		{"and an efficiency that is none", four + "single,1,1,4,100 ± 1,1,100\nddp,4,1,4,30 ± 1,3.33,93\n",
			[]string{"note cores", "refused wrong denominators"}},
		{"cores of the rows", four + "single,1,1,1,100 ± 1,1,100\nddp,4,1,8,30 ± 1,3.33,42\n",
			[]string{"refused cores"}},
		{"fewer cores in every row than threads", four + "single,1,1,2,100 ± 1,1,100\nddp,4,1,2,30 ± 1,,\n",
			[]string{"refused cores"}},
		{"more cores in every row than the machine has", "workers,threads,cores,step ms\n1,1,4,100 ± 1\n" +
			"2,1,4,60 ± 1\n# A machine with 2 cores.\n", []string{"refused cores"}},
		{"whole seconds", whole + "3.5\n", []string{"note one repeat"}},
		{"whole seconds that cannot give it", whole + "3.6\n",
			[]string{"note one repeat", "refused wrong denominators"}},
		{"a rate that agrees with the total", both + "3.33\n", []string{"note one repeat"}},
		{"a quotient of neither", both + "3.6\n", []string{"note one repeat", "refused wrong denominators"}},
		{"a rate that agrees, and rounding that would do",
			"strategy,workers,total s,samples/s,speed-up\nsingle,1,4,320,1\nall-reduce,2,2,640,2.4\n",
			[]string{"note one repeat", "refused above 100 %", "refused wrong denominators"}},
		{"minutes and seconds", "strategy,workers,total,speed-up\nsingle,1,2:40,1\nddp,2,1:20,2\n",
			[]string{"note one repeat"}},
		{"minutes and seconds that do not give it", "strategy,workers,total,speed-up\nsingle,1,2:40,1\n" +
			"ddp,2,1:50,2\n", []string{"note one repeat", "refused wrong denominators"}},
		{"hours, minutes and seconds", "strategy,workers,total,speed-up\nsingle,1,1:02:00,1\nddp,2,31:00,2\n",
			[]string{"note one repeat"}},
		{"times in words", "strategy,workers,total time,speed-up\nsingle,1,10m 40s,1\nddp,2,5 min 20 s,2\n" +
			"ring,2,0h10m40s,1\nps,2,8m,1.33\n# Training with ddp took 5m 20s in total.\n",
			[]string{"note one repeat", "holds"}},
		{"times in words that do not give it", "strategy,workers,epoch time,speed-up\nsingle,1,1h 2m,1\n" +
			"ddp,2,2m30s,2\n", []string{"note one repeat", "refused wrong denominators"}},
		{"epochs in words", "strategy,workers,epoch,speed-up\nsingle,1,10m 20s,1\nddp,2,5m 10s,2\n",
			[]string{"note one repeat"}},
		{"epochs in words that do not give it",
			"strategy,workers,epoch,speed-up\nsingle,1,10m 20s,1\nddp,2,5m 10s,1.5\n",
			[]string{"note one repeat", "refused wrong denominators"}},
		{"numbers of epochs", "strategy,epoch,loss\nddp,1,2.3\nddp,2,1.1\n", nil},
		{"names of epochs", "strategy,epoch,loss\nddp,first,2.3\nddp,last,1.1\n", nil},
		{"a median step", "strategy,workers,median step ms,speed-up\nsingle,1,100,1\nddp,2,60,1.9\n",
			[]string{"note one repeat", "refused wrong denominators"}},
		{"eff", "strategy,workers,step ms,eff\nsingle,1,100,1\nddp,2,60,0.95\n",
			[]string{"note one repeat", "refused wrong denominators"}},
		{"time/step without a unit", "strategy,workers,batch,time/step,samples/s,speed-up\n" +
			"single,1,64,100,640,1\nddp,2,64,60,1067,1.67\n", []string{"note one repeat"}},
		{"time/step that does not give it",
			"strategy,workers,time/step,speed-up\nsingle,1,100,1\nddp,2,60,1.9\n",
			[]string{"note one repeat", "refused wrong denominators"}},
		{"times that nearly agree", "strategy,workers,total s,samples/s\nsingle,1,40 ± 0.1,320 ± 1\n" +
			"ddp,4,12 ± 0.1,1030 ± 1\n# ddp is 3.35x faster than single.\n", []string{"holds"}},
	}
}
