package report_test

import (
	"slices"
	"strings"
	"testing"

	"lockstep/app/record"
)

// A worker whose processors drop for a tenth of a second has its reason beside it, and what it used is drawn.
func TestDropsOfProcessors(t *testing.T) {
	r := only(sample(), "lenet")
	r.Rows = r.Rows[:1]
	for i := range r.Rows[0].Runs {
		s := &r.Rows[0].Runs[i].Ranks[0].Steps
		n := len(s.Seconds)
		column := func(v float64) record.Numbers {
			values := make(record.Numbers, n)
			for i := range values {
				values[i] = v
			}
			return values
		}
		s.Usage, s.CPU, s.RSS = column(0.11), column(0.11), column(1<<20)
		s.Checkpoint, s.Paused = column(0), column(0)
		s.CPU[2], s.Checkpoint[2] = 0.02, 0.09
		s.CPU[4], s.Paused[4] = 0.05, 0.06
		s.CPU[5] = 0.01
	}
	page := render(t, asText, r)
	for _, want := range []string{"3 of ", ", 1 at a checkpoint, 1 with Go's collector at work, 1 untold |"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page[strings.Index(page, "What each worker did"):][:1500])
		}
	}
}

// watched returns results of rows with so many workers each, that tell what they took.
func watched(workers int) *record.Results {
	r := only(sample(), "lenet")
	for i := range r.Rows {
		r.Rows[i].Setting.Workers, r.Rows[i].Setting.Strategy = workers, "all-reduce"
		for j := range r.Rows[i].Runs {
			run := &r.Rows[i].Runs[j]
			first := run.Ranks[0].Steps
			run.Ranks = nil
			for rank := range workers {
				s, n := first, len(first.Seconds)
				s.Usage, s.CPU, s.RSS = s.Seconds, s.Seconds, slices.Repeat(record.Numbers{1 << 20}, n)
				s.Sent, s.Received = make(record.Numbers, n), make(record.Numbers, n)
				run.Ranks = append(run.Ranks, record.Rank{Rank: rank, Steps: s, BytesSent: int64(100 + rank),
					BytesVectors: 300})
			}
		}
	}
	r.Rows = r.Rows[:2]
	return r
}

// Every worker has its row, and tells how far it compressed what it sent.
func TestEveryWorkerHasARow(t *testing.T) {
	page := render(t, asText, watched(16))
	at := strings.Index(page, "### What each worker did")
	table := page[at : at+10+strings.Index(page[at+10:], "###")]
	if n := strings.Count(table, "\n|"); n != 2+2*16 || !strings.Contains(table, "| 2.61 : 1 |") {
		t.Errorf("%d lines of the table, want a head and 32 rows:\n%s", n, table)
	}
}

// The best of several evaluations stands beside the last one, with the epochs after which runs had it. One
// evaluation is no best.
func TestBestAccuracy(t *testing.T) {
	r := only(sample(), "lenet")
	r.Rows = r.Rows[:2]
	for j := range r.Rows[0].Runs {
		r.Rows[0].Runs[j].Evaluations = []record.Evaluation{{Steps: 20, Epochs: 1, Accuracy: 0.4},
			{Steps: 40, Epochs: 2, Accuracy: 0.625},
			{Steps: 60, Epochs: 3, Accuracy: record.Number(0.6 + 0.02*float64(j))}}
		r.Rows[1].Runs[j].Evaluations = []record.Evaluation{{Steps: 60, Epochs: 3, Accuracy: 0.6}}
	}
	page := render(t, asText, r)
	if want := "| 65.0 % (epochs 2–3) |"; !strings.Contains(page, want) {
		t.Errorf("no %q in\n%s", want, page)
	}
}

// Rows that differ in their batch alone stand in one table and one picture, whatever comparison each is in.
func TestBatchesStandTogether(t *testing.T) {
	page := render(t, asPage, rich())
	for _, want := range []string{`<section id="batches"`, `<figure id="batches-accuracy"`,
		`href="#g2-H">128</a>`, "ddp 2×1 with each global batch", "at a time"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(render(t, asPage, sample()), `id="batches"`) {
		t.Error("rows of one batch are a sweep")
	}
}
