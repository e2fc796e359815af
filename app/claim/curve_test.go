package claim_test

import (
	"strings"
	"testing"
)

// Tables of curves name a row at each of its points, which is no lack of labels; a place is no time of a run.
// What looks like one and compares rows is judged as before.
func TestCurves(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"ranks over time", "seconds,rank 0,rank 1\n1.5,40.2,41\n3,60.1,80\n4.5,70,99\n", ""},
		{"accuracy by samples", "row,samples,\"accuracy, %\"\na,3200,11\na,6400,30\na,9600,60\n" +
			"b,3200,12\nb,6400,31\n", ""},
		{"accuracy by time", "row,seconds of training,accuracy\na,1.2,0.11\na,2.5,0.30\nb,3.1,0.12\n" +
			"b,6.4,0.31\n", ""},
		{"steps that are no whole numbers", "run,step,\"step time, ms\"\na,3.000,10\na,6.000,11\n" +
			"b,3.000,14\nb,6.000,15\n", ""},
		{"evaluations", "epoch,rank,loss/validation,accuracy/validation,\"wall time, s\"\n" +
			"0.5,0,2.1,30 %,4\n1,0,1.5,50 %,9\n1.5,0,1.2,60 %,15\n", ""},
		{"parts of ranks", "row,\"rank 0, %\",\"rank 1, %\"\na,66.7,33.3\nb,50,50\n", ""},
		{"ranks of a step over time", "row,step,\"rank 0, ms\",\"rank 1, ms\"\nddp,1,20,20\n" +
			"ddp,2,10,10\n", ""},

		{"ranks of a step that differ", "row,step,\"rank 0, ms\",\"rank 1, ms\"\nddp,1,20,20\nddp,2,10,15\n",
			"ranks disagree"},
		{"ranks that differ", "row,\"rank 0, ms\",\"rank 1, ms\"\nddp,10,15\n", "ranks disagree"},
		{"totals without labels", "total s,accuracy %\n100,50\n200,60\n300,70\n", "unlabelled rows"},
		{"times behind samples", "row,samples,total s\na,100,5\na,200,9\nb,100,4\n", "unlabelled rows"},
		{"a name for three runs", "row,samples,accuracy %\na,3200,60\na,3200,61\na,3200,62\n",
			"unlabelled rows"},
		{"unequal samples", "strategy,samples,total s\nsingle,1000,50\nddp,500,20\n", "unequal work"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := check(t, "table.csv", c.text)
			text := render(r)
			if c.want == "" && r.IsRefused() || c.want != "" && !strings.Contains(text, "refused: "+c.want) {
				t.Errorf("want %q in\n%s", c.want, text)
			}
		})
	}
}

// Rows of equal steps ran as many epochs, whatever else their totals hold; without that a total is of nobody
// knows how many.
func TestTotalsOfEqualSteps(t *testing.T) {
	const with = "row,workers,steps,batch,total s,epoch s\na,1,200,64,0.594,0.118\nb,2,200,64,0.805,0.171\n"
	if r := check(t, "table.csv", with); r.IsRefused() {
		t.Errorf("equal steps:\n%s", render(r))
	}
	const without = "row,workers,total s,epoch s\na,1,0.594,0.118\nb,2,0.805,0.171\n"
	if r := check(t, "table.csv", without); !strings.Contains(render(r), "refused: total mixed with epoch") {
		t.Errorf("totals of nobody knows what:\n%s", render(r))
	}
}

// Differences of single runs are refused where a text compares them, unless its verdict says that they decide
// nothing.
func TestVerdictOnSingleRuns(t *testing.T) {
	const (
		table = "| row | workers | step ms | speed-up |\n|---|---|---|---|\n| a | 1 | 10.0 | 1 |\n" +
			"| b | 2 | 9.8 | 1.02 |\n"
		verdict = "measured once: One run of each row decides nothing.\n\n"
		refused = "refused: one repeat"
	)
	if r := check(t, "a.md", "# Report\n\n## Rows\n\n"+table); !strings.Contains(render(r), refused) {
		t.Errorf("not refused:\n%s", render(r))
	}
	if r := check(t, "a.md", "# Report\n\n## Rows\n\n"+verdict+table); r.IsRefused() {
		t.Errorf("refused although it says so:\n%s", render(r))
	}
	if r := check(t, "a.md", "# Report\n\n## Others\n\n"+verdict+"## Rows\n\n"+table); !strings.Contains(
		render(r), refused) {
		t.Errorf("a verdict of another part excuses it:\n%s", render(r))
	}
}
