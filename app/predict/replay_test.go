package predict_test

import (
	"compress/gzip"
	"encoding/json"
	"flag"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/app/evidence/stat"
	"lockstep/app/predict"
	"lockstep/app/record"
	"lockstep/forecast"
	"lockstep/internal/regular"
)

var isWhole = flag.Bool("whole", false, "replay all, and print them")

// replayed is a file of results/predict with what was measured of it.
type replayed struct {
	forecast.Prediction
	verified []forecast.Verified
}

func read(t *testing.T, path string) (r replayed) {
	t.Helper()
	for file, into := range map[string]any{path: &r.verified,
		strings.Replace(path, "-1-verified", "", 1): &r.Prediction} {
		text, err := regular.ReadFile(file, 1<<20)
		if err == nil {
			err = json.Unmarshal(text, into)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// The calibrations of results/predict, fitted anew from what groups measured, predict what was measured on
// three and four hosts. Groups of four chose between direct and halving-doubling by microseconds then, mostly
// direct.
func TestKeptMeasurementsArePredicted(t *testing.T) {
	if testing.Short() {
		t.Skip("fits and simulates many rows")
	}
	files, err := filepath.Glob("../../results/predict/runs/*-verified.json")
	if err != nil || len(files) != 6 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	var all []float64
	within := 0
	for _, path := range files {
		if !*isWhole && !strings.Contains(path, "bert-mini-200") && !strings.Contains(path, "lenet-1gbit") {
			continue
		}
		r := read(t, path)
		rows, err := predict.Replay(&r.Prediction, "direct")
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %+v", filepath.Base(path), r.MadeFrom.Outside)
		for _, f := range r.MadeFrom.Fits {
			t.Logf("  %-28s fitted %8.2f, measured %8.2f: %+5.1f %%", f.Way, f.Model, f.Measured,
				100*(f.Model/f.Measured-1))
		}
		for i, v := range r.verified {
			off := rows[i].Step.Miss(v.StepMS)
			all = append(all, math.Abs(off))
			isWithin := rows[i].Step.Holds(v.StepMS)
			if isWithin {
				within++
			}
			t.Logf("  %-32s %8.2f (%7.2f to %7.2f), measured %8.2f: %+5.1f %%, then %+5.1f %% %v", v.Row,
				rows[i].Step.Median, rows[i].Step.Low, rows[i].Step.High, v.StepMS, 100*off,
				100*v.Step.Miss(v.StepMS), isWithin)
		}
	}
	slices.Sort(all)
	middle, most := all[len(all)/2], all[len(all)-1]
	say := t.Logf
	if middle > 0.05 || most > 0.25 || within < len(all)*85/100 {
		say = t.Errorf
	}
	say("%d rows: median error %.1f %%, greatest %.1f %%, %d in their intervals", len(all), 100*middle,
		100*most, within)
}

// Workers that share cores, with gradients that fit no cache, take what a calibration like r1's predicts.
func TestCoresSharedByManyArePredicted(t *testing.T) {
	f, err := regular.Open("../../results/r1/recipe/results.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	r, err := record.Decode(z)
	if err != nil {
		t.Fatal(err)
	}
	var p *forecast.Prediction
	for i := 0; p == nil || p.Inputs.Cores != float64(p.MadeFrom.Cores); i++ { // another is of more cores
		if p, err = forecast.Decode(r.Predictions[i]); err != nil {
			t.Fatal(err)
		}
	}
	for i := len(p.Rows) - 1; i >= 0; i-- { // of eight and more nothing was measured
		if p.Rows[i].Workers > 4 {
			p.Rows, p.Settings = slices.Delete(p.Rows, i, i+1), slices.Delete(p.Settings, i, i+1)
		}
	}
	rows, err := predict.Replay(p, "auto")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v, %+v", p.MadeFrom.Inside, p.MadeFrom.Fits)
	tried := 0
	for _, row := range r.Rows {
		i := slices.IndexFunc(rows, func(one forecast.Row) bool {
			return one.Way == row.Setting.Strategy && one.Workers == row.Setting.Workers &&
				one.Batch == row.Setting.Batch
		})
		if i < 0 || row.Setting.Workers <= p.MadeFrom.Cores || row.Setting.Options != "" {
			continue
		}
		tried++
		var steps []float64
		for _, run := range row.Runs {
			steps = append(steps, 1e3*predict.StepOf(row, run))
		}
		say := t.Logf
		if !rows[i].Step.Holds(stat.Median(steps)) {
			say = t.Errorf
		}
		say("%s of %d workers: %.1f ms (%.1f to %.1f), measured %.1f", rows[i].Way, rows[i].Workers,
			rows[i].Step.Median, rows[i].Step.Low, rows[i].Step.High, stat.Median(steps))
	}
	if tried == 0 {
		t.Error("no row of more workers than cores was measured")
	}
}
