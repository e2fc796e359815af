package claim_test

import (
	"strings"
	"testing"

	"lockstep/app/claim"
)

// crowded is a table of a machine with two cores, which one row's workers share.
const crowded = "| strategy | workers | threads | host cores | step ms | communication ms | accuracy |\n" +
	"|---|---|---|---|---|---|---|\n" +
	"| single | 1 | 1 | 2 | 3.50 ± 0.05 | 0 | 83.5 % |\n| ddp | 2 | 1 | 2 | 1.86 ± 0.03 | 0.1 | 83.5 % |\n" +
	"| ps | 3 | 1 | 2 | 2.60 ± 0.03 | 0.39 | 83.5 % |\n\n"

// A reason that is about cores is judged by the columns that tell of them, and the rest of the sentence by
// its figures, which are told in the unit of the table.
func TestSentencesOfACrowdedMachine(t *testing.T) {
	for _, test := range []struct {
		text    string
		verdict claim.Verdict
		why     string
	}{
		{"Ps is slower than ddp because the machine has only two cores.", claim.Holds,
			"(1.86 ms and 2.6 ms); ps has 3 workers × 1 thread on 2 cores"},
		{"3 workers are slower than 2 because there are only 2 cores.", claim.Holds, "ps has 3 workers"},
		{"Ps is faster than ddp because the machine has only two cores.", claim.Wrong, "0.7154×"},
		{"Ddp is faster than single because the machine has only two cores.", claim.Wrong,
			"ddp has 2 workers × 1 thread on 2 cores: no more than there are"},
		{"Ps is slower than ddp because the machine has only 16 cores.", claim.Wrong,
			"on 2 cores, not on 16"},
		{"Ps is slower than ddp because each worker has only 1 core.", claim.Wrong, "no column measures"},
		{"Ps is slower than ddp because of the moon.", claim.Wrong,
			"no column measures the reason: of the moon"},
		{"The network costs ps 15 % of the step.", claim.Holds,
			"0.39 ms against a step of 2.6 ms in ps, 15 %"},
		{"The network costs ps 25 % of the step.", claim.Wrong, "15 %"},
		{"DDP's step takes 47 % less time than that of single.", claim.Holds, "(1.86 ms and 3.5 ms)"},
		{"The step of ddp takes 57 % less time than that of single.", claim.Wrong, "(1.86 ms and 3.5 ms)"},
		{"A step of ddp takes 1.75 ms.", claim.Wrong, "the step of ddp is 1.86 ms"},
		{"All strategies reach the same accuracy of 83.5 %.", claim.Wrong, "from one seed each"},
		{"All strategies reach the same accuracy of 93.5 %.", claim.Wrong,
			"the accuracy of single is 83.5 %"},
	} {
		r := check(t, "report.md", crowded+test.text+"\n")
		if len(r.Statements) != 1 || r.Statements[0].Verdict != test.verdict ||
			!strings.Contains(r.Statements[0].Why, test.why) {
			t.Errorf("%s: %+v, want %s, %q", test.text, r.Statements, test.verdict, test.why)
		}
	}
}

// Without columns of threads and cores, a reason about cores is refused in words that say what is missing.
func TestCoresThatNoColumnTells(t *testing.T) {
	r := check(t, "x.csv", "strategy,workers,step ms\nddp,2,10 ± 1\nps,4,20 ± 1\n"+
		"# Ps is slower than ddp because the machine has only two cores.\n")
	const want = "no columns tell of workers, threads and cores"
	if len(r.Statements) != 1 || r.Statements[0].Why != want {
		t.Errorf("%+v, want %q", r.Statements, want)
	}
}

// Sentences that are not understood lead to the page that has the forms, once.
func TestThePageIsNamed(t *testing.T) {
	text := render(check(t, "report.md", crowded+"Ps burns 3 candles. Ddp burns 2 candles.\n"))
	if strings.Count(text, "docs/check.md") != 1 {
		t.Errorf("want docs/check.md once:\n%s", text)
	}
}
