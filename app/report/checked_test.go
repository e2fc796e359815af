package report_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"lockstep/app/check"
	"lockstep/app/evidence/compare"
	"lockstep/app/record"
	"lockstep/app/report"
)

// reports returns a report of every kind.
func reports(t *testing.T) map[string]*report.Report {
	t.Helper()
	folder := trainingRun(t)
	trained, err := report.ReadTraining(folder)
	if err != nil {
		t.Fatal(err)
	}
	interrupted, err := report.ReadTraining(folder)
	if err != nil {
		t.Fatal(err)
	}
	interrupted.IsInterrupted = true
	measured, err := report.Collectives(collectivesNamed("all-reduce"))
	if err != nil {
		t.Fatal(err)
	}
	ddp := laid(t, "ddp", "model: lenet\nstrategy: ddp\n", "")
	ps := laid(t, "ps", "model: lenet\nstrategy: ps\n", `"step_ms":{"median":15},"samples_per_second":4267`)
	longer := laid(t, "ddp", "model: lenet\nstrategy: ddp\n", `"steps":80`)
	return map[string]*report.Report{
		"benchmark":          report.Benchmark(sample()),
		"with all figures":   report.Benchmark(rich()),
		"results/r3":         report.Benchmark(stored(t, "r3/results.json")),
		"beside PyTorch":     report.Benchmark(stored(t, "pytorch/images-zen5/results.json.gz")),
		"40 rows":            report.Benchmark(many(40)),
		"one row":            report.Benchmark(many(1)),
		"no run succeeded":   report.Benchmark(failing()),
		"training":           report.Run(trained),
		"interrupted run":    report.Run(interrupted),
		"collectives":        measured,
		"runs side by side":  report.Overlay([]string{"first", "second"}, []*compare.Training{ddp, ps}),
		"runs of other work": report.Overlay([]string{"first", "second"}, []*compare.Training{ddp, longer}),
	}
}

// many returns results of so many rows: a way of training with several settings of its own.
func many(rows int) *record.Results {
	r := only(sample(), "lenet")
	r.Rows = r.Rows[:1]
	for i := 1; i < rows; i++ {
		row := sampleRow{"lenet", "ddp", 2, 1, 0.0046, 0.0008, ""}.row(uint64(i))
		row.Setting.Options = fmt.Sprintf("bucket=%dKiB", i)
		r.Rows = append(r.Rows, row)
	}
	for i := range r.Rows {
		for j := range r.Rows[i].Runs {
			r.Rows[i].Runs[j].Position = j*len(r.Rows) + i
		}
	}
	return r
}

// failing returns results of which no run succeeded.
func failing() *record.Results {
	r := only(sample(), "lenet")
	for i := range r.Rows {
		for j := range r.Rows[i].Runs {
			r.Rows[i].Runs[j] = record.Run{Round: j, Position: j*len(r.Rows) + i, Error: "no space left"}
		}
	}
	return r
}

// Reports of our own pass the check that other people's have to.
func TestOwnReportsAreNotRefused(t *testing.T) {
	for name, r := range reports(t) {
		t.Run(name, func(t *testing.T) {
			text := read(t, written(t, r), report.MarkdownFile)
			d, err := check.Read(strings.NewReader(text), report.MarkdownFile)
			if err != nil {
				t.Fatal(err)
			}
			found := check.Check(d)
			if found.IsRefused() || found.Figures.Read == 0 {
				var b bytes.Buffer
				_ = check.Write(&b, found)
				t.Errorf("%.4000s", b.String())
			}
		})
	}
}

// written returns a folder with the files of a report.
func written(t *testing.T, r *report.Report) string {
	t.Helper()
	folder := t.TempDir()
	if err := r.Write(folder); err != nil {
		t.Fatal(err)
	}
	return folder
}
