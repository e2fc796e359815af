package claim_test

import (
	"strings"
	"testing"
)

// course is a table as students' reports have it, and a time in each cell of which somebody could be wrong.
const course = "A machine with 4 cores, median of 5 runs.\n\n" +
	"| strategy | workers | batch | step ms | low | high | communication ms | epochs | total s | " +
	"efficiency | accuracy |\n|---|---|---|---|---|---|---|---|---|---|---|\n" +
	"| single | 1 | 256 | 400 | 395 | 405 | 0 | 10 | 8000 | 100% | 0.71 |\n" +
	"| all-reduce | 4 | 256 | 161 | 159 | 163 | 64.4 | 10 | 3220 | 62.1% | 0.70 |\n" +
	"| ddp | 4 | 256 | 124 | 122 | 126 | 22 | 10 | 2480 | 80.6% | 0.71 |\n\n"

// Sentences of students' reports: each is right of the table above, and wrong with the other figure.
func TestEverydaySentences(t *testing.T) {
	for _, c := range []struct{ text, right, wrong string }{
		{"DDP was about # faster than all-reduce with 4 workers.", "30%", "60%"},
		{"We observed a # speedup with ddp.", "3.2x", "4.2x"},
		{"We achieved a speedup of # using ddp over single.", "3.2", "2.2"},
		{"A speedup of # was observed.", "3.2x", "5.5x"},
		{"With ddp, training took # for 10 epochs.", "41m 20s", "2h 13m"},
		{"With ddp, training took 41m 20s for # epochs.", "10", "20"},
		{"DDP finished 10 epochs in #.", "2480 s", "1480 s"},
		{"DDP finished 2 epochs in #.", "496 s", "2480 s"},
		{"The total training time of ddp is #.", "2480 seconds", "1480 seconds"},
		{"Training with all-reduce took # in total.", "53 min 40 s", "2 hours"},
		{"Scaling efficiency dropped to # with all-reduce.", "62%", "52%"},
		{"Scaling efficiency dropped to #.", "62%", "42%"},
		{"With ddp the efficiency fell to #.", "81%", "91%"},
		{"Communication accounts for # of the step of all-reduce.", "40%", "20%"},
		{"Communication accounts for # of the step.", "40%", "60%"},
		{"DDP spends # of its step in communication.", "18%", "48%"},
		{"In all-reduce, communication takes up # of the total time.", "40%", "10%"},
		{"A step of ddp takes #.", "124 ms ± 2 ms", "100 ms ± 2 ms"},
		{"The step time of ddp was #.", "0.124 s", "0.224 s"},
		{"DDP needs # per step.", "124 ms", "142 ms"},
		{"DDP has an average step time of #.", "124 ms", "99 ms"},
		{"DDP reduces the step time by # compared to single.", "69%", "90%"},
		{"DDP cuts the step time by a factor of # versus single.", "3.2", "4"},
		{"DDP trains # times faster than the baseline.", "3.2", "4.4"},
		{"ddp is # faster than all-reduce.", "37 ms", "87 ms"},
		{"all-reduce is # slower than ddp.", "37 ms", "87 ms"},
		{"Throughput of ddp is # samples/s.", "2065", "4065"},
		{"ddp processes # images per second.", "2065", "2650"},
		{"ddp reached # accuracy.", "71%", "91%"},
		{"The final test accuracy of ddp was #.", "71%", "81%"},
		{"We achieved a speedup of #.", "3.2x", "5x"},
		{"A step took # with ddp.", "124 ms", "144 ms"},
		{"ddp saves # per step over all-reduce.", "37 ms", "73 ms"},
		{"ddp saves # a step over all-reduce.", "37 ms", "740 s"}, // which it saves in all
		{"The overhead of all-reduce is # compared to ddp.", "30%", "50%"},
		{"We found that ddp achieved a test accuracy of #.", "71.0%", "71.9%"},
		{"DDP scales at # efficiency.", "81%", "95%"},
		{"DDP reaches # scaling efficiency.", "80.6%", "90.6%"},
		{"DDP # the throughput of single.", "more than triples", "quadruples"},
		{"DDP # the throughput of single.", "more than doubles", "almost quadruples"},
		{"DDP cuts the step time # compared to single.", "by more than half", "in half"},
		{"DDP cuts the step from 400 ms to #.", "124 ms", "100 ms"},
		{"DDP cuts the step from # to 124 ms.", "400 ms", "500 ms"},
		{"DDP increases the throughput from 640 to # samples/s.", "2065", "2650"},
		{"DDP increases the throughput from # to 2065 samples/s.", "640", "840"},
		{"The throughput rises from 640 to # samples/s with ddp.", "2065", "2650"},
		{"We measured # per step with ddp.", "124 ms", "142 ms"},
		{"DDP takes 124 ms per step, all-reduce #.", "161 ms", "116 ms"},
		{"Single needs # per step, whereas ddp needs 124 ms.", "400 ms", "450 ms"},
	} {
		judges(t, course, c.text, c.right, c.wrong)
	}
}

// judges checks that a sentence behind a table holds with one figure in place of #, and is refused with
// another.
func judges(t *testing.T, table, sentence, right, wrong string) {
	t.Helper()
	for figure, want := range map[string]string{right: "holds", wrong: "refused"} {
		text := strings.Replace(sentence, "#", figure, 1)
		r := check(t, "report.md", table+text+"\n")
		isOther := len(r.Statements) != 1 || string(r.Statements[0].Verdict) != want
		if isOther || r.IsRefused() != (want == "refused") {
			t.Errorf("%q: want %s\n%s", text, want, render(r))
		}
		if r.NotUnderstood != 0 {
			t.Errorf("%q: %d not understood", text, r.NotUnderstood)
		}
	}
}

// Sentences that are right, or of which the table cannot tell, are no objections; those with figures that
// nobody has compared are counted.
func TestEverydaySentencesWithoutAlarm(t *testing.T) {
	for _, c := range []struct {
		text          string
		notUnderstood int
	}{
		{"The mean share of communication over the strategies is 29%.", 1},
		{"Communication accounts for 29% of the step.", 0}, // on average
		{"Scaling efficiency was 71%.", 0},                 // on average
		{"We observed a 1.3x speedup.", 0},                 // of ddp over all-reduce
		{"The best accuracy of ddp was 73%.", 1},           // before the end
		{"The validation loss of ddp was 0.9.", 1},
		{"Going from 1 to 4 workers gives a speedup of 3.2x.", 1},
		{"The speedup went from 2.5x with all-reduce to 3.2x with ddp.", 1},
		{"The whole experiment cost 12 dollars.", 1},
		{"DDP is not 60% faster than all-reduce.", 1},
		{"Is ddp 60% faster than all-reduce?", 0},
		{"With faster links, ddp could be 60% faster than all-reduce.", 0},
		{"ddp takes 3 s to start.", 1},
		{"We used a batch size of 256 and a learning rate of 0.1.", 1},
		{"ddp used 35% less memory than single.", 1},
		{"Each experiment was repeated 5 times.", 1},
		{"The energy efficiency dropped to 12%.", 1},
		{"Network bandwidth was 10 Gbit/s.", 1},
		{"The model has 9.2 million parameters.", 1},
		{"See Section 3 for ddp.", 1},
	} {
		r := check(t, "report.md", course+c.text+"\n")
		if r.IsRefused() || r.NotUnderstood != c.notUnderstood {
			t.Errorf("%q: %d not understood, want %d and no objection\n%s", c.text, r.NotUnderstood,
				c.notUnderstood, render(r))
		}
	}
	r := check(t, "report.md", course+"The whole experiment cost 12 dollars.\n")
	if text := render(r); !strings.Contains(text, "1 sentence with figures not understood") {
		t.Errorf("the last lines do not say what was not understood:\n%s", text)
	}
}

// A median is no mean, and a validation set no test set.
func TestOtherAverages(t *testing.T) {
	table := strings.NewReplacer("step ms", "step time, median ms", "accuracy", "validation accuracy").
		Replace(course)
	for _, text := range []string{"The mean step time of ddp was 131 ms.",
		"The test accuracy of ddp was 69%."} {
		if r := check(t, "report.md", table+text+"\n"); r.IsRefused() {
			t.Errorf("%q:\n%s", text, render(r))
		}
	}
}

// Deviations may have a unit of their own, and a link's definition shows nothing.
func TestCourseReports(t *testing.T) {
	const ranges = "| strategy | workers | step | speed-up |\n|---|---|---|---|\n"
	for _, c := range []example{
		{"units on both sides", ranges + "| single | 1 | 100 ms ± 2 ms | 1 |\n" +
			"| ddp | 2 | 50 ms ± 1 ms | 2 |\n", nil},
		{"and a wrong speed-up", ranges + "| single | 1 | 100 ms ± 2 ms | 1 |\n" +
			"| ddp | 2 | 50 ms ± 1 ms | 2.9 |\n", []string{"refused wrong denominators"}},
		{"seconds with milliseconds", ranges + "| single | 1 | 0.1 s ± 2 ms | 1 |\n" +
			"| ddp | 2 | 0.05s±1ms | 2 |\n", nil},
		{"a definition", course + "[x]: # \"ddp is 9x faster than single.\"\n", nil},
		{"a definition in brackets", course + "[//]: # (ddp is 9x faster than single.)\n", nil},
		{"a definition in a paragraph is shown", course + "ddp wins.\n[x]: ddp\n", []string{"holds"}},
		{"a footnote is shown", course + "[^1]: ddp is 9x faster than single.\n", nil},
	} {
		r := check(t, "report.md", c.text)
		if text := render(r); len(c.want) == 0 && r.IsRefused() || len(c.want) > 0 && c.want[0] != "holds" &&
			!r.IsRefused() {
			t.Errorf("%s:\n%s", c.name, text)
		}
	}
	r := check(t, "report.md", course+"[x]: # \"ddp is 9x faster than single.\"\n")
	if len(r.Statements) != 0 || len(r.Unread) != 1 {
		t.Errorf("a definition is read as a sentence, or not told of:\n%s", render(r))
	}
}
