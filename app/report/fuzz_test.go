package report_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"lockstep/app/record"
	"lockstep/app/report"
)

// FuzzReport renders whatever passes for results.
func FuzzReport(f *testing.F) {
	f.Add([]byte(`{"schema":2,"rounds":1,"rows":[{"setting":{"model":"<b>","workers":1,"threads":1,` +
		`"batch":1,"shards":1},"runs":[{"ranks":[{"steps":{"seconds":[1],"loss":[1],"own_loss":[1],` +
		`"epoch":[0],"samples":[1]}}],"config":{"seed":1}}]}]}`))
	f.Add([]byte(`{"schema":2,"rounds":0,"rows":[]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := record.Decode(bytes.NewReader(text))
		if err != nil {
			return
		}
		if err := report.Benchmark(r).Markdown(io.Discard); err != nil {
			t.Fatal(err)
		}
		if err := report.Benchmark(r).HTML(io.Discard); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzTrainingReport renders whatever passes for the files of a run. No text of theirs becomes markup.
func FuzzTrainingReport(f *testing.F) {
	f.Add([]byte(`{"model":"<script>","workers":1,"steps":2,"ranks":[{"buckets":[{"bytes":1}]}],`+
		`"evaluations":[{},{"accuracy":null}],"target":{},"checkpoints":{"count":1}}`),
		[]byte(`{"rank":0,"step":1,"loss":null}`))
	f.Add([]byte(`{"workers":2,"steps":9,"work":{},"cores_taken":{"stolen":1}}`),
		[]byte(`{"rank":1,"step":5}`))
	f.Fuzz(func(t *testing.T, summary, steps []byte) {
		r, err := readTraining(bytes.NewReader(summary), bytes.NewReader(steps))
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := report.Run(r).HTML(&b); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "<script") {
			t.Fatal("the page holds a script")
		}
	})
}
