package forecast_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"lockstep/comm/codec"
	"lockstep/forecast"
	"lockstep/simulate"
)

// measured is a calibration of a model with ten parameters of 5 MiB in all, on two cores.
func measured() *forecast.Calibration {
	k := &forecast.Calibration{Machine: "m", Cores: 2, Add: 1e-10, Crowding: []float64{1, 1.1},
		Shapes: []forecast.Passes{{Samples: 8, Shards: 4, Forward: 0.02, Backward: 0.04, Update: 0.001}},
		Step:   []float64{0.98, 1, 1.05}, Runs: []float64{-0.01, 0, 0.01},
		Inside:  forecast.Link{Latency: 1e-5, Byte: 2e-10, CPUByte: 2e-10},
		Outside: forecast.Link{Latency: 1e-4, Byte: 8e-9, CPUByte: 5e-10, CPUMessage: 1e-5}}
	for i := range 10 {
		k.Gradient = append(k.Gradient, forecast.Gradient{Offset: i << 17, Len: 1 << 17,
			Ready: float64(i + 1)})
	}
	return k
}

func network() forecast.Inputs {
	return forecast.Inputs{Network: "1gbit", Rate: 1e9, PerHost: 1, Cores: 2}
}

func row(t *testing.T, in forecast.Inputs, k *forecast.Calibration, r forecast.Run) forecast.Row {
	t.Helper()
	got, err := in.Row(k, r, run(r.Way, 2), run("single", 1))
	if err != nil {
		t.Fatal(err)
	}
	if s := got.Step; !(s.Low < s.Median && s.Median < s.High) || !(got.Rate > 0) || got.Binding == "" {
		t.Errorf("%+v", got)
	}
	return got
}

// The same calibration gives the same rows; a slower link, fewer cores or a slow worker make no step shorter.
func TestRowsFollowTheirInputs(t *testing.T) {
	slow, lab := measured(), network()
	slow.Outside.Byte *= 5
	lab.IsLab = true
	for _, way := range []string{"gather-scatter", "all-reduce", "ddp", "ps"} {
		r := run(way, 4)
		first := row(t, network(), measured(), r)
		if again := row(t, network(), measured(), r); !reflect.DeepEqual(first, again) {
			t.Errorf("%s: the same calibration gives another row", way)
		}
		hurt := r
		hurt.Slow = func(rank int) (factor, wait float64) { return 1 + float64(rank%2), 0 }
		for what, other := range map[string]forecast.Row{"200 Mbit/s": row(t, network(), slow, r),
			"a lab": row(t, lab, measured(), r), "slow workers": row(t, network(), measured(), hurt)} {
			if other.Step.Median < 0.999*first.Step.Median {
				t.Errorf("%s: %s takes %g ms, %g without", what, way, other.Step.Median, first.Step.Median)
			}
		}
		if way == "all-reduce" && (first.Naive < 40 || first.Naive > 120) {
			t.Errorf("naive formula %g ms, want 15 of 60 and 8 MiB at 1 Gbit/s", first.Naive)
		}
	}
}

// Workers that average their weights are predicted with what the averages take, in proportion to how many
// there are.
func TestAveragesCount(t *testing.T) {
	every := func(n int) forecast.Run {
		r := run("diloco", 4)
		r.Job.Averages.Every = n
		return r
	}
	never := row(t, network(), measured(), run("none", 4)).Step.Median
	often, seldom := row(t, network(), measured(), every(5)), row(t, network(), measured(), every(50))
	more, less := often.Step.Median-never, seldom.Step.Median-never
	if !(more > 5) || math.Abs(more/less/10-1) > 0.15 || !(often.Terms["exposed"] > 10*never/1e3) {
		t.Errorf("averages add %g ms to each of 5 steps, %g to each of 50; %+v", more, less, often)
	}
}

// Workers that do not wait for each other make an update each in the time of a batch, which each computes
// whole: as many samples per second as single workers.
func TestAsynchronousWorkersShareUpdates(t *testing.T) {
	k, in := measured(), network()
	k.Outside, k.Step, k.Runs = forecast.Link{}, nil, nil
	for _, workers := range []int{2, 4} {
		r := run("ps-async", workers)
		r.Job.Servers = simulate.Servers{Count: workers, Staleness: 4 * workers}
		got := row(t, in, k, r)
		if want := 61 / float64(workers); math.Abs(got.Step.Median/want-1) > 0.1 || got.Batch != 32 ||
			math.Abs(got.Efficiency-1) > 0.1 {
			t.Errorf("an update of %d workers takes %g ms, want %g; efficiency %g of 1", workers,
				got.Step.Median, want, got.Efficiency)
		}
	}
}

// Costs that a model's own steps are fitted by are found again, from others.
func TestFitFindsCosts(t *testing.T) {
	in := network()
	in.IsLab = true
	truth := measured()
	truth.Outside.Latency, truth.Outside.CPUByte = 3e-4, 1e-9
	var rows []forecast.Measured
	for _, way := range []string{"all-reduce", "ddp", "gather-scatter"} {
		r := run(way, 2)
		got := row(t, in, truth, r)
		sum := 0.0
		for _, ms := range got.Terms {
			sum += ms / 1e3
		}
		rows = append(rows, forecast.Measured{Run: r, Seconds: sum})
	}
	k := measured()
	if err := k.FitLink(true, in, rows); err != nil {
		t.Fatal(err)
	}
	for _, f := range k.Fits {
		if math.Abs(f.Model/f.Measured-1) > 0.02 {
			t.Errorf("%s: %g ms by the model, measured %g", f.Way, f.Model, f.Measured)
		}
	}
	if b := k.Outside.Byte / truth.Outside.Byte; b < 0.95 || b > 1.05 || len(k.Fits) != 3 {
		t.Errorf("%d fits, a byte takes %g of what it does", len(k.Fits), b)
	}
}

// A codec is measured once, and its figures are those of the file.
func TestCodecIsMeasuredOnce(t *testing.T) {
	k, again := measured(), forecast.Calibration{}
	codec, err := codec.New("bf16")
	if err != nil {
		t.Fatal(err)
	}
	first := k.Wire("bf16", codec)
	text, err := json.Marshal(k)
	if err == nil {
		err = json.Unmarshal(text, &again)
	}
	if err != nil || first.Ratio != 0.5 || !(first.Encode > 0) {
		t.Fatalf("%+v, %v", first, err)
	}
	for range 3 {
		if one, two := k.Wire("bf16", codec), again.Wire("bf16", codec); one != first || two != first {
			t.Errorf("%+v, read %+v, first %+v", one, two, first)
		}
	}
}

// Passes between two shapes are between theirs, and beyond them in proportion.
func TestPassesBetweenShapes(t *testing.T) {
	k := measured()
	k.Shapes = append(k.Shapes, forecast.Passes{Samples: 16, Shards: 2, Forward: 0.03, Backward: 0.04})
	for samples, want := range map[float64]float64{8: 0.005, 12: 0.01, 16: 0.015, 32: 0.03, 4: 0.0025} {
		p := k.PassesAt(samples)
		if got := p.Forward / float64(p.Shards); math.Abs(got-want) > 1e-12 {
			t.Errorf("a shard of %g samples takes %g s forward, want %g", samples, got, want)
		}
	}
}

// A thousand workers take seconds; the cost is that of their hosts.
func TestAThousandWorkers(t *testing.T) {
	in := network()
	in.Rate, in.Group, in.Oversubscription, in.IsWeak, in.Samples, in.Price = 1e10, 16, 4, true, 1e9, 1.2
	begin := time.Now()
	r := row(t, in, measured(), run("ddp", 1024))
	if took := time.Since(begin); took > time.Minute {
		t.Errorf("took %v", took)
	}
	if want := r.Seconds / 3600 * 1.2 * 1024; math.Abs(r.Dollars-want) > 1e-9*want || !(r.Efficiency > 0) {
		t.Errorf("%g dollars for %g s, want %g; efficiency %g", r.Dollars, r.Seconds, want, r.Efficiency)
	}
}

// A prediction is read as it was written, not written over, and refused when a figure was changed.
func TestFile(t *testing.T) {
	p := &forecast.Prediction{Date: time.Now().UTC(), Inputs: network(), MadeFrom: *measured(),
		Rows:     []forecast.Row{row(t, network(), measured(), run("ddp", 2))},
		Settings: []json.RawMessage{json.RawMessage("{}")}}
	path, err := p.Save(filepath.Join(t.TempDir(), "new", "p.json"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Save(path); err == nil {
		t.Error("a prediction is written over another one")
	}
	read, err := forecast.Read(path)
	if err != nil || read.Hash != p.Hash || !reflect.DeepEqual(read.Rows, p.Rows) {
		t.Fatalf("read %+v, %v", read, err)
	}
	text, _ := os.ReadFile(path)
	var compact bytes.Buffer // as results.json has it
	if err := json.Compact(&compact, text); err != nil {
		t.Fatal(err)
	}
	if read, err = forecast.Decode(compact.Bytes()); err != nil || read.Hash != p.Hash {
		t.Fatalf("decoded %+v, %v", read, err)
	}
	figure := strings.Replace(string(text), `"low": `, `"low": 0`, 1)
	for what, changed := range map[string]string{"figure": figure,
		"no hash": strings.Replace(string(text), p.Hash,
			"", 1), "cut": string(text[:len(text)/2]), "empty": ""} {
		if err := os.WriteFile(path, []byte(changed), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err = forecast.Read(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want an error that names the file", what, err)
		}
	}
}

// Misses widen later intervals, hits narrow them, and a few of either decide little.
func TestTrackRecordWidens(t *testing.T) {
	file := filepath.Join(t.TempDir(), forecast.RecordFile)
	add := func(n int, miss float64) forecast.Track {
		var all []forecast.Verified
		for i := range n {
			step := forecast.Predicted{Median: 100, Low: 95, High: 105, Scale: 0.05}
			v := forecast.Verified{Hash: fmt.Sprint(miss), Row: fmt.Sprint(i), Machine: "m", Step: step,
				Measured: time.Now(), Model: forecast.ModelVersion,
				StepMS: 100 * math.Exp(miss*float64(i+1)/float64(n))}
			v.Inside = step.Holds(v.StepMS)
			all = append(all, v)
		}
		all = append(all, forecast.Verified{Machine: "m", Error: "it failed"})
		if err := forecast.Append(file, all); err != nil {
			t.Fatal(err)
		}
		track, err := forecast.ReadTrack("m", file)
		if err != nil {
			t.Fatal(err)
		}
		return track
	}
	if none, err := forecast.ReadTrack("m", ""); err != nil || none.Predictions != 0 {
		t.Errorf("without a file %+v, %v", none, err)
	}
	none, err := forecast.ReadTrack("m", file)
	if err != nil || none.Predictions != 0 || none.Widening < 0.9 || none.Widening > 1.1 {
		t.Errorf("without a record %+v, %v", none, err)
	}
	good := add(40, 0.02)
	if good.Within != 40 || good.Widening > 0.7 {
		t.Errorf("after 40 hits %+v", good)
	}
	if again := add(40, 0.02); again != good {
		t.Errorf("measured again %+v, want %+v", again, good)
	}
	bad := add(40, 0.2)
	if bad.Predictions != 80 || bad.Within >= 80 || bad.Widening < 2.5 || bad.MedianError < 0.01 {
		t.Errorf("after misses %+v", bad)
	}
	write := func(text string) {
		f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"hash":"cut`)
	if cut, err := forecast.ReadTrack("m", file); err != nil || cut != bad {
		t.Errorf("with a line that was cut: %+v, %v", cut, err)
	}
	write("\n{}\n")
	if _, err := forecast.ReadTrack("m", file); err == nil || !strings.Contains(err.Error(), ":121 ") {
		t.Errorf("with a bad line: %v, want its number", err)
	}
}
