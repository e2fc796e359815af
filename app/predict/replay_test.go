package predict_test

import (
	"encoding/json"
	"flag"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/app/predict"
	"lockstep/forecast"
	"lockstep/internal/regular"
)

var isWhole = flag.Bool("whole", false, "replay vgg11, too")

// replayed is a file of an older model in results/predict with what was measured of it.
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

// The calibrations of results/predict, fitted anew, predict what was measured on three and four hosts. The
// costs that groups measured were not kept: they are those of a machine of the same kind.
func TestKeptMeasurementsArePredicted(t *testing.T) {
	if testing.Short() {
		t.Skip("fits and simulates twenty rows")
	}
	files, err := filepath.Glob("../../results/predict/quiet/*-verified.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	var all []float64
	within := 0
	for _, path := range files {
		if strings.Contains(path, "vgg11") && !*isWhole {
			continue
		}
		r := read(t, path)
		k := &r.MadeFrom
		k.RowBytes, k.Outside.Latency, k.Outside.Message, k.Outside.CPUMessage = 32, 12e-6, 9e-6, 4.5e-6
		k.Outside.Byte, k.Outside.CPUByte = 1.0075*8/r.Inputs.Rate, 2e-9
		if len(k.Gradient) > 8 { // vgg11
			k.RowBytes, k.Outside.CPUByte = 22e3, 1e-9
		}
		rows, err := predict.Replay(&r.Prediction)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %+v", filepath.Base(path), k.Outside)
		for _, f := range k.Fits {
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
	if middle > 0.07 || most > 0.2 || within < len(all)*8/10 {
		say = t.Errorf
	}
	say("%d rows: median error %.1f %%, greatest %.1f %%, %d in their intervals", len(all), 100*middle,
		100*most, within)
}
