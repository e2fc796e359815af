package claim_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/app/claim"
)

// check judges a text.
func check(t *testing.T, name, text string) *claim.Report {
	t.Helper()
	d, err := claim.Read(strings.NewReader(text), name)
	if err != nil {
		t.Fatal(err)
	}
	return claim.Check(d)
}

// outcome lists the rules that objected, and the sentences that hold or were not checked.
func outcome(r *claim.Report) []string {
	var out []string
	for _, o := range r.Objections {
		if line := string(o.Severity) + " " + o.Rule; !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	for _, s := range r.Statements {
		if s.Verdict != claim.Wrong {
			out = append(out, string(s.Verdict))
		}
	}
	slices.Sort(out)
	return out
}

func render(r *claim.Report) string {
	var b bytes.Buffer
	if err := claim.Write(&b, r); err != nil {
		return err.Error()
	}
	return b.String()
}

// The five reports that this project grew from. Each line names what must be found wrong in one of them,
// with a part of its arithmetic; nothing else may be refused.
func TestOriginalReports(t *testing.T) {
	for _, c := range []struct {
		file string
		want []string
	}{
		{"r0.md", []string{
			"unlabelled rows: 5 rows carry one name",
			"unlabelled rows: 6 rows carry one name",
			"unequal work: total / epoch is 2.001",
			"unequal work: accuracies from 5.11 %",
			"one repeat: bert_nodes_ (row 5) 151 s, bert_nodes_ (row 1) 161.6 s",
			`cause: "The slower runs likely correspond to multi-node configurations."`,
			"cause: \"Some runs are slower because of network communication.\"",
			"cause: \"Longer epochs are caused by contention for the CPU.\"",
			"cause: \"Differences are probably due to the batch per process.\"",
		}},
		{"r1.md", []string{
			"projections: a time of 122.4 s (epoch) is what table 3 projects for 2 workers",
			"Amdahl: 3.36 at 4 times the processors: 1.78 at 2 means a serial fraction of 12.36 %, hence " +
				"2.918",
			"Amdahl: 5.98 at 8 times the processors: 1.78 at 2 means a serial fraction of 12.36 %, hence " +
				"4.289",
			"Amdahl: 6.15 at 8, but Amdahl's law with a serial fraction of 5 % gives 5.926",
			"Amdahl: 10.4 at 16, but Amdahl's law with a serial fraction of 5 % gives 9.143",
			"total mixed with epoch: speed-up 1.78 is that by the epoch; by the total it is " +
				"2470 s / 1224 s = 2.018",
			"total mixed with epoch: total / epoch is 11.3",
			"total mixed with epoch: \"The distributed run is 1.78x faster",
			"total mixed with epoch: \"The distributed run is 2.02x faster",
			"Amdahl: \"Amdahl's law with 95 % parallel gives 6.15",
		}},
		{"r2.md", []string{
			"cause: \"The network is not the bottleneck.\": 14 s of 30 s in deflate, 46.67 %",
			"loss at chance: \"Training shows reliable convergence.\": deflate ends with a loss of 2.33",
		}},
		{"r3.md", []string{
			"ranks disagree: s/iteration rank 0 takes 1.174 s and ranks 1-3 1.745 s, 48.64 % more",
			"ranks disagree: s/iteration rank 0 takes 0.95 s and ranks 1-3 1.505 s",
			"ranks disagree: s/iteration rank 0 takes 0.885 s and ranks 1-3 1.402 s",
			"wrong denominators: a mean loss of 0.99 beside losses of 2.7 to 3.8",
			"cause: \"DDP overlaps communication with computation.\"",
			"one repeat: DDP 1.402 s, all-reduce 1.505 s: 7.35 % apart",
		}},
		{"r4.md", []string{
			"unequal work: 3 × 21 = 63 samples a step against 64",
			"winner: \"Batch 32 trains fastest.\": batch 32 12143 s, one process 9238 s: it is not",
			"one repeat: one process 9238 s, with checkpoints 9354 s: 1.26 % apart",
			"one repeat: \"Checkpoints cost 1.2 %.\"",
			"unequal work: \"Three nodes are 0.63x as fast as distributed code.\"",
			"cause: \"Two nodes are slower because of communication.\"",
			"cause: \"The lower speed of three nodes is probably due to slower nodes.\"",
		}},
	} {
		t.Run(c.file, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("..", "original", "text", c.file))
			if err != nil {
				t.Fatal(err)
			}
			r := check(t, c.file, string(text))
			var got []string
			for _, o := range r.Objections {
				if o.Severity == claim.Refused {
					got = append(got, o.Rule+": "+o.Text)
				}
				if o.Answer == "" {
					t.Errorf("nothing would answer %q", o.Text)
				}
			}
			for _, want := range c.want {
				at := slices.IndexFunc(got, func(s string) bool { return strings.HasPrefix(s, want) })
				if at < 0 {
					t.Errorf("not found: %s", want)
					continue
				}
				got = slices.Delete(got, at, at+1)
			}
			for _, extra := range got {
				t.Errorf("a false alarm: %s", extra)
			}
		})
	}
}

// Objections write figures as the table does: the reader looks for 56 ms, not for 0.056.
func TestFiguresAreWrittenAsTheTableDoes(t *testing.T) {
	for table, want := range map[string]string{
		"strategy,step ms,low,high\nsingle,100,98,103\nddp,56,57,60\n": `"step ms" is 56 ms, which is not ` +
			"within its own interval from 57 ms to 60 ms",
		"strategy,step\nsingle,4.1 (4.3–4.4) ms\n": `"step" is 4.1 ms, which is not within its own ` +
			"interval from 4.3 ms to 4.4 ms",
		"strategy,workers,step ms,speed-up\nsingle,1,100,1\nddp,2,60,1.9\n": "100 ms / 60 ms = 1.667",
		"strategy,accuracy %\nsingle,80.1 (93.5–94)\n":                      "from 93.5 % to 94 %",
		"strategy,accuracy\nsingle,80.1 (93.5–94)\n":                        "from 93.5 % to 94 %",
		"strategy,epoch (min),low,high\na,4,4,5\nb,3,31,33\n":               "is 3 min, w",
		"strategy,forward %\nsingle,\"40 [41, 42]\"\n":                      "is 40 %, which",
		"strategy,step s,forward,backward,data\na,1,0.8,0.3,0.1\n":          "are 20 % more than it",
	} {
		if text := render(check(t, "", table)); !strings.Contains(text, want) {
			t.Errorf("%q\ngot %s\nwant %s", table, text, want)
		}
	}
}

func TestCases(t *testing.T) {
	clean := 0
	names := map[string]bool{}
	for _, c := range cases() {
		isRefusal := func(s string) bool { return strings.HasPrefix(s, "refused") }
		isClean := !slices.ContainsFunc(c.want, isRefusal)
		if isClean {
			clean++
		}
		if names[c.name] {
			t.Errorf("two cases are called %s", c.name)
		}
		names[c.name] = true
		t.Run(c.name, func(t *testing.T) {
			r := check(t, "", c.text)
			want := slices.Sorted(slices.Values(c.want))
			if got := outcome(r); !slices.Equal(got, want) {
				t.Errorf("got  %q\nwant %q\n%s", got, want, render(r))
			}
			if r.IsRefused() == isClean {
				t.Errorf("refused: %v", r.IsRefused())
			}
		})
	}
	if n := len(cases()); n < 60 || 2*clean < n {
		t.Errorf("%d cases, %d of them clean: want at least 60, half of them clean", n, clean)
	}
}
