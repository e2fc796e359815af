package report_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lockstep/app/record"
	"lockstep/app/report"
	"lockstep/forecast"
)

// A prediction that was frozen before a benchmark stands on its page as one, with what the rows measured of
// it; one that was changed is not shown.
func TestPredictionsOfAPlan(t *testing.T) {
	r := only(sample(), "lenet")
	batch := r.Rows[0].Setting.Batch
	row := func(workers, threads int, median float64) forecast.Row {
		return forecast.Row{Way: "all-reduce", Workers: workers, Threads: threads, Batch: batch,
			Rate: 1e3 * float64(batch) / median, Efficiency: 7 / median / float64(workers),
			Step:  forecast.Predicted{Median: median, Low: median / 2, High: 2 * median},
			Naive: median, Amdahl: median, Gustafson: median}
	}
	p := &forecast.Prediction{Date: time.Now().UTC(), Rows: []forecast.Row{row(2, 1, 7), row(3, 3, 2)},
		Inputs:   forecast.Inputs{Cores: 8},
		Settings: []json.RawMessage{json.RawMessage("{}"), json.RawMessage("{}")}}
	path, err := p.Save(filepath.Join(t.TempDir(), "p.json"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r.Inquiry = &record.Inquiry{Predictions: []record.Foresight{{Ask: "What would 3 bring?"},
		{Ask: "And now?"}, {Ask: "3 times?", Speedups: map[string]float64{"2": 3}},
		{Ask: "4 times?", Speedups: map[string]float64{"2": 1.1, "3": 4}}}}
	changed := bytes.Replace(text, []byte(`"workers": 3`), []byte(`"workers": 4`), 1)
	r.Predictions = []json.RawMessage{text, changed, text, text}
	var page bytes.Buffer
	if err := report.Benchmark(r).Markdown(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"What would 3 bring? Predicted before the first run for 8 cores, over " +
		"one worker: 2 workers predicted 1.00× (0.50–2.00), measured 1.35×; 3 workers 3.50× (1.75–7.00).",
		"| all-reduce | 3 | 2.00 | 1.00–4.00 | – |",
		"- ≈ 3 times? Predicted before the first run ", ", measured 1.35×, reference 3×: likely not; 3 work",
		"- ? 4 times? Predicted before the first run ", ", measured 1.35×, reference 1.1×: likely; 3 work",
		"3 workers 3.50× (1.75–7.00), reference 4×: not testable, threads share cores.\n",
		"Efficiency: of the samples/s", "And now? Not shown: it was changed after it was written"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("no %q in\n%.6000s", want, page.String())
		}
	}
}

// The median error of two predictions is the mean of both, not the greater.
func TestMedianErrorOfTwo(t *testing.T) {
	step := forecast.Predicted{Median: 110, Low: 90, High: 130}
	p := &forecast.Prediction{Rows: []forecast.Row{{Way: "ddp", Workers: 2, Step: step},
		{Way: "ddp", Workers: 4, Step: step}}}
	var page bytes.Buffer
	if err := report.Predicted(p, []forecast.Verified{{StepMS: 100, Inside: true},
		{StepMS: 110, Inside: true, Taken: 0.6}}).Markdown(&page); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(page.String(), "No prediction on this machine") ||
		!strings.Contains(page.String(), "Others took up to 60.0 % of the cores' time while it was ver") {
		t.Errorf("%.1500s", page.String())
	}
	if want := "the median error is 5.0 %, the greatest 10.0 %"; !strings.Contains(page.String(), want) {
		t.Errorf("no %q in\n%.1000s", want, page.String())
	}
}
