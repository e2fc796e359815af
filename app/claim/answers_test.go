package claim_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/app/claim"
)

// figure is the table of step times of a report, with the runs of four rows in six rounds, and one row that
// is not ranked.
const figure = `# lenet

## In short

### Step time

Median of each run: a dot.

| row | median, ms | interval, ms | runs, ms | told apart |
| --- | --- | --- | --- | --- |
| B  single 1×2 | 5.22 | 5.17–5.28 | 5.17 5.21 5.28 5.22 5.20 5.25 | Fastest |
| E  ddp 2×1 | 5.64 | 5.61–5.66 | 5.61 5.62 5.66 5.65 5.63 5.66 | Slower |
| C  ddp 2×1 rebalance | 5.65 | 5.60–5.67 | 5.62 5.60 5.66 5.66 5.61 5.67 | Slower |
| A  single 1×1 | 9.07 | 8.98–9.13 | 9.10 8.98 9.13 9.02 9.12 (12.5) | Slower |
| F  none 2×1 | 4.77 | 4.74–4.80 | 4.77 4.80 4.74 4.75 4.79 4.77 | Not ranked: no exchange |

`

// Every sentence in which a report says what it found is understood, and judged by the report's own runs.
func TestAnswersAreUnderstood(t *testing.T) {
	for want, sentences := range map[claim.Verdict][]string{
		claim.Holds: {
			"single 1×2 has the shortest step: 5.22 ms, 1.74× (1.73–1.75) as fast as single 1×1, 87 % " +
				"per core.",
			"1.08× (1.07–1.08) as fast as the next, ddp 2×1.",
			"No way of training is faster than single 1×2: 5.22 ms a step.",
			"The nearest, ddp 2×1, reaches 0.93× (0.92–0.93) of its speed.",
			"No way of training is shown to be faster than single 1×2: the shortest steps cannot " +
				"be told apart.",
			"ddp 2×1 and ddp 2×1 rebalance cannot be told apart.",
			"The shortest steps cannot be told apart: ddp 2×1 and ddp 2×1 rebalance (medians 5.64 ms " +
				"and 5.65 ms).",
			"ddp 2×1 and ddp 2×1 rebalance have the shortest steps.",
			"ddp 2×1, ddp 2×1 rebalance and 1 more have the shortest steps.",
			"On the same 2 cores, ddp 2×1 is 0.93× (0.92–0.93) as fast as one process (single 1×2).",
			"On the same 2 cores, ddp 2×1 and one process (ddp 2×1 rebalance) are not shown to " +
				"differ: 1.00×.",
			"On the same core, ddp 2×1 is 0.93× (0.92–0.93) as fast as one process (single 1×2).",
			"On the same core, ddp 2×1 and one process (ddp 2×1 rebalance) are not shown to differ: 1.00×.",
			"On the same 1 cores, ddp 2×1 is 0.93× (0.92–0.93) as fast as one process (single 1×2).",
			"ddp 2×1 is 1.61× (1.60–1.62) as fast as single 1×1, 80 % per core.",
			"single 1×1 takes 9.07 ms a step.",
			"single 1×2 had the shortest step, 5.22 ms, in one run of each row.",
			"In it, single 1×2 has the shortest step: 5.22 ms.",
			"In those that count, single 1×2 has the shortest step: 5.22 ms.",
			"single 1×2 had the shortest step, 5.22 ms, in the few runs that count.",
			"ddp 2×1 rebalance cannot be told from ddp 2×1.",
		},
		claim.Wrong: {
			"single 1×2 has the shortest step: 4.22 ms, 1.74× (1.73–1.75) as fast as single 1×1.",
			"single 1×2 has the shortest step: 5.22 ms, 1.94× (1.93–1.95) as fast as single 1×1.",
			"ddp 2×1 has the shortest step: 5.64 ms.",
			"1.58× (1.57–1.58) as fast as the next, ddp 2×1.",
			"No way of training is faster than single 1×1: 9.07 ms a step.",
			"No way of training is shown to be faster than single 1×1.",
			"ddp 2×1, single 1×2 and 4 more cannot be told apart.",
			"On the same 2 cores, ddp 2×1 and one process (single 1×2) are not shown to differ: 0.93×.",
			"single 1×1 takes 907 ms a step.",
			"ddp 2×1 had the shortest step, 5.64 ms, in one run of each row.",
			"In it, ddp 2×1 has the shortest step: 5.64 ms.",
			"ddp 2×1 cannot be told from single 1×2.",
			"ddp 2×1 had the shortest step, 5.64 ms, but 3 rounds cannot tell it from single 1×1, 9.07 ms " +
				"(--repeats 6).",
			"single 1×2 had the shortest step, 5.22 ms, but 3 rounds cannot tell it from ddp 2×1, 5.64 ms " +
				"(--repeats 6).",
		},
		claim.NotChecked: {
			"The fastest row of each of 2 comparisons is below: one is certain after 3 rounds (--repeats 6).",
			"Their steps are the shortest, 5.22 ms to 5.65 ms.",
			"certain: The rounds tell it apart from each of the other 3 rows that are ranked.",
		},
	} {
		for _, sentence := range sentences {
			r := check(t, "report.md", figure+sentence+"\n")
			if len(r.Statements) == 0 {
				t.Fatalf("%s: no statement", sentence)
			}
			last := r.Statements[len(r.Statements)-1]
			if last.Verdict != want || strings.HasPrefix(last.Why, "outside") {
				t.Errorf("%s: want %s, got %+v", sentence, want, last)
			}
		}
	}
}

// A part that gives no speed-ups, because others used the baseline's cores, is not charged with those that
// its times have. One that gives them is.
func TestTimesOfADisturbedBaseline(t *testing.T) {
	const text = "## lenet\n\n- Other programs or virtual machines used the cores during these rows: " +
		"single 1×1. So no speed-ups: the baseline, single 1×1, is one of them. Run it again.\n\n" +
		"| row | strategy | workers | threads, each | cores | step, ms | speed-up |\n" +
		"| --- | --- | --- | --- | --- | --- | --- |\n| A | single | 1 | 1 | 1 | 4.85 | – |\n" +
		"| D | ddp | 2 | 1 | 2 | 1.75 | – |\n"
	for _, c := range []struct {
		text      string
		isRefused bool
	}{
		{text, false},
		{strings.Replace(text, "1.75 | –", "1.75 | 2.77", 1), true},
		{strings.Replace(text, "So no speed-ups", "There are speed-ups", 1), true},
	} {
		if r := check(t, "report.md", c.text); r.IsRefused() != c.isRefused {
			t.Errorf("refused is %v:\n%s", !c.isRefused, render(r))
		}
	}
}

// No sentence holds by a speed-up that the table's own times refute.
func TestSentencesAreJudgedByWhatIsNotRefused(t *testing.T) {
	table := func(speedup string) string {
		return "| strategy | workers | step ms | speed-up |\n| --- | --- | --- | --- |\n" +
			"| single | 1 | 4.00 | 1.00 |\n| ddp | 2 | 2.50 | " + speedup + " |\n\n"
	}
	for _, speedup := range []string{"1.90", "1.60"} {
		for sentence, want := range map[string]claim.Verdict{
			"ddp scales linearly.":            claim.Wrong,
			"ddp has an efficiency of 95 %.":  claim.Wrong,
			"ddp has an efficiency of 80 %.":  claim.Holds,
			"ddp is 1.6x faster than single.": claim.Holds,
		} {
			r := check(t, "a.md", table(speedup)+sentence+"\n")
			if last := r.Statements[len(r.Statements)-1]; last.Verdict != want {
				t.Errorf("a speed-up of %s in the table: %s: want %s, got %+v", speedup, sentence, want, last)
			}
		}
	}
}

// Of a few rounds a report says which row had the shortest step, and from what they do not tell it: that
// holds only if the runs do not, the row had it, and a row has the time that is said to be the longest.
func TestTheShortestStepOfAFewRounds(t *testing.T) {
	const few = "## Step time\n\nMedian of each run after its first step: a dot.\n\n" +
		"| row | median, ms | interval, ms | runs, ms | told apart |\n| --- | --- | --- | --- | --- |\n" +
		"| B  ddp 2×1 | 3.90 | – | 2.00 4.10 3.90 | Cannot be told apart |\n" +
		"| A  single 1×1 | 4.10 | – | 4.00 8.00 4.10 | Cannot be told apart |\n" +
		"| C  ps 2×1 | 10.0 | – | 10.0 5.00 18.0 | Cannot be told apart |\n\n"
	const had = "ddp 2×1 had the shortest step, 3.9 ms, but 3 rounds cannot tell it from single 1×1"
	for sentence, want := range map[string]claim.Verdict{
		had + " and ps 2×1, up to 10 ms (--repeats 6).": claim.Holds,
		had + ", 4.1 ms (--repeats 6).":                 claim.Holds,
		had + " and ps 2×1, up to 12 ms (--repeats 6).": claim.Wrong,
		strings.Replace(had, "ms, but", "ms, 1.95× (1.05–2.00 in 3 rounds) as fast as single 1×1, but", 1) +
			", 4.1 ms (--repeats 6).": claim.Holds,
		strings.Replace(had, "ms, but", "ms, 1.05× (0.98–2.00 in 3 rounds) as fast as single 1×1, but", 1) +
			", 4.1 ms (--repeats 6).": claim.Wrong,
		"ddp 2×1 was the fastest in the median round, 1.95× (1.05–2.00 in 3 rounds) as fast as single 1×1, " +
			"98 % per core, but 3 rounds cannot tell it from ps 2×1 (--repeats 6).": claim.Holds,
		"ddp 2×1 was the fastest in the median round, 3.95× (3.05–4.00 in 3 rounds) as fast as single 1×1, " +
			"but 3 rounds cannot tell it from ps 2×1 (--repeats 6).": claim.Wrong,
		strings.Replace(had, "3.9", "3.5", 1) + ", 4 ms.": claim.Wrong,
		strings.Replace(had, "ddp 2×1 had the shortest step, 3.9", "ps 2×1 had the shortest step, 10", 1) +
			", 4.1 ms.": claim.Wrong,
	} {
		r := check(t, "report.md", few+sentence+"\n")
		last := r.Statements[len(r.Statements)-1]
		if last.Verdict != want || strings.HasPrefix(last.Why, "outside") {
			t.Errorf("%s: want %s, got %+v", sentence, want, last)
		}
	}
}

// The sentences of a part of a report are judged by the tables of that part, although those of another one
// have rows of the same names.
func TestPartsAreJudgedByTheirTables(t *testing.T) {
	other := strings.NewReplacer("# lenet\n\n## In short", "## vgg11",
		"5.22 | 5.17–5.28 | 5.17 5.21 5.28 5.22 5.20 5.25",
		"6.22 | – | 6.17 6.21 6.28 6.22 6.20 6.25", "Fastest", "Slower").Replace(figure)
	first := strings.Replace(figure, "### Step time", "- **vgg11** (certain): ddp 2×1 takes 5.64 ms a step; "+
		"single 1×2 takes 6.22 ms a step.\n\n### Step time · lenet", 1)
	r := check(t, "report.md", first+other+"single 1×2 takes 6.22 ms a step.\n\n## lenet\n\n"+
		"single 1×2 takes 5.22 ms a step.\n")
	if len(r.Statements) < 4 || r.IsRefused() {
		t.Fatal(render(r))
	}
	for _, s := range r.Statements {
		if strings.Contains(s.Text, "takes") && s.Verdict != claim.Holds {
			t.Errorf("%+v", s)
		}
	}
}

// The answers of the reports that are kept here are understood, and none is wrong.
func TestOwnAnswersHold(t *testing.T) {
	for _, c := range []struct {
		path  string
		holds int
	}{{"app/report/testdata/report.md", 2}, {"results/r3/report.md", 2}, {"results/r4/report.md", 2}} {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(c.path)))
		if err != nil {
			t.Fatal(err)
		}
		r := check(t, c.path, string(text))
		holds := 0
		for _, s := range r.Statements {
			if s.Verdict == claim.Holds {
				holds++
			}
			isAnswer := strings.Contains(s.Text, "shortest step") || strings.Contains(s.Text, "told apart;")
			if isAnswer && (strings.HasPrefix(s.Why, "outside") || s.Verdict == claim.Wrong) {
				t.Errorf("%s: %+v", c.path, s)
			}
		}
		if holds < c.holds {
			t.Errorf("%s: %d hold\n%s", c.path, holds, render(r))
		}
	}
}

// Sentences about rows that no table has, and figures without end, do not end the program.
func TestOddSentences(t *testing.T) {
	const table = "| strategy | workers | step (ms) |\n|---|---|---|\n" +
		"| single | 1 | 10 |\n| ddp | 2 | 6 |\n\n"
	for _, sentence := range []string{"§0 is 5% slower than §1.", "§0 has an efficiency of 90%.",
		"§0 has the highest accuracy.", "§0 is the fastest.", "§1 is 2x as fast as §2.",
		"§0 has the shortest step: 5 ms.", "The nearest, §3, reaches 0.9× of its speed.",
		"§0 takes 3 ms a step.",
		"§0 and §1 cannot be told apart.", "§0 costs 10% more.", "§9 converges."} {
		for _, text := range []string{sentence + "\n", table + sentence + "\n"} {
			r := check(t, "x.md", text)
			if len(r.Statements) != 1 || r.Statements[0].Verdict != claim.NotChecked {
				t.Errorf("%s: %+v", sentence, r.Statements)
			}
		}
	}
	for _, sentence := range []string{"99999999999999999999% parallel gives 5x at 4 workers.",
		"150% parallel gives 5x at 4 workers.", "95% parallel gives 5x at 0 workers."} {
		if r := check(t, "x.md", sentence+"\n"); r.Statements[0].Verdict != claim.Wrong {
			t.Errorf("%s: %+v", sentence, r.Statements)
		}
	}
}

// A report that says of itself that nothing is decided is not refused for what single runs cannot decide.
func TestUndecidedReportsAreNotRefused(t *testing.T) {
	const table = "\n\n### Step time\n\n| row | median, ms | interval, ms | runs, ms | told apart |\n" +
		"| --- | --- | --- | --- | --- |\n" +
		"| B  ddp 2×1 | 127 | – | (127) | Not ranked: others took cores |\n" +
		"| A  single 1×1 | 130 | – | (130) | Not ranked: others took cores |\n"
	for text, isRefused := range map[string]bool{
		"not decided: Other programs or virtual machines used the cores during every row, so nothing is " +
			"said about which is the faster.": false,
		"**The fastest row of each of 2 comparisons is below: none is certain after 1 round " +
			"(--repeats 6).**": false,
		"**The fastest row of each of 2 comparisons is below.**": true,
	} {
		r := check(t, "report.md", "# lenet\n\n## In short\n\n"+text+table)
		if r.IsRefused() != isRefused {
			t.Errorf("%q: refused %v\n%s", text, r.IsRefused(), render(r))
		}
	}
}

// The summary of a report on two comparisons has the reason for each verdict before the answer.
func TestAnswersOfTwoComparisonsAreJudged(t *testing.T) {
	part := func(title, ddp, ps string) string {
		return "\n## " + title + "\n\n| row | step, ms | runs, ms |\n| --- | --- | --- |\n" +
			"| A  ddp 2×1 | " + ddp + " |\n| B  ps 2×1 | " + ps + " |\n"
	}
	said := func(step string) string {
		return "# lenet\n\n## In short\n\n- **lenet batch 32** (not decided: The rounds do not tell these " +
			"2 rows apart): ddp 2×1 had the shortest step, " + step + " ms, but 3 rounds cannot tell it " +
			"from ps 2×1, 2.31 ms (--repeats 6).\n" + part("lenet batch 32", "1.49 | 1.69 0.918 1.49",
			"2.31 | 2.31 1.95 2.56") + part("lenet batch 64", "3.49 | 3.49 3.4 3.6", "3.62 | 3.62 3.3 3.7")
	}
	r := check(t, "report.md", said("1.49"))
	if len(r.Statements) == 0 || r.Statements[0].Verdict != claim.Holds {
		t.Errorf("not understood:\n%s", render(r))
	}
	if r = check(t, "report.md", said("3.49")); !r.IsRefused() {
		t.Errorf("of another comparison, and not refused:\n%s", render(r))
	}
}

// A part with one row has its verdict too, and what it says of that row is judged by the part's own table.
func TestAnswersOfOneRowAreJudged(t *testing.T) {
	part := func(title, ddp string) string {
		return "\n## " + title + "\n\n| row | step, ms | runs, ms |\n| --- | --- | --- |\n| A  ddp 2×1 | " +
			ddp + " |\n"
	}
	said := func(step string) string {
		return "# lenet\n\n## In short\n\n- **lenet batch 32** (nothing to compare: No other row did as " +
			"much): ddp 2×1 takes " + step + " ms a step.\n" +
			part("lenet batch 32", "1.49 | 1.69 0.918 1.49") + part("lenet batch 64", "3.49 | 3.49 3.4 3.6")
	}
	if r := check(t, "report.md", said("1.49")); r.IsRefused() {
		t.Errorf("refused:\n%s", render(r))
	}
	if r := check(t, "report.md", said("3.49")); !r.IsRefused() {
		t.Errorf("of another part, and not refused:\n%s", render(r))
	}
}
