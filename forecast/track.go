package forecast

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"lockstep/internal/regular"
)

// Verified is a line of a track record: a predicted row with what was measured of it later.
type Verified struct {
	Hash      string    `json:"hash"`               // of the prediction
	Predicted time.Time `json:"predicted"`          // when
	Measured  time.Time `json:"measured"`           // when
	Machine   string    `json:"machine"`            // see Calibration
	Model     int       `json:"model_version"`      // see ModelVersion
	Row       string    `json:"row"`                // name of the row
	Step      Predicted `json:"step_ms"`            // as predicted
	StepMS    float64   `json:"measured_ms"`        // median over runs of their median steps
	RunsMS    []float64 `json:"runs_ms"`            // of each run
	Naive     float64   `json:"naive_ms,omitempty"` // see Row
	Amdahl    float64   `json:"amdahl_ms,omitempty"`
	Inside    bool      `json:"inside"`          // the interval holds the measurement
	Taken     float64   `json:"cores_taken"`     // share of core time that others took, at the median
	Error     string    `json:"error,omitempty"` // why nothing was measured; "": it was
}

// Track sums up how predictions of a machine fared that were verified.
type Track struct {
	Predictions int     `json:"predictions"`  // rows that were verified
	Within      int     `json:"within"`       // measured within their interval
	MedianError float64 `json:"median_error"` // of the median, relative; 0 without predictions
	Widening    float64 `json:"widening"`     // factor of the intervals that they ask for
}

// RecordFile is the name of a track record: a line of JSON for each row that was verified.
const RecordFile = "record.jsonl"

// Bounds of a track record.
const (
	maxTrack = 64 << 20 // bytes
	maxLine  = 1 << 20
)

// leastScores is how many rows a track record has before it decides how wide intervals are, and leastWidening
// the least that it may ask for.
const (
	leastScores   = 20
	leastWidening = 0.5
)

// ReadTrack sums up what a file says of a machine's predictions, each by its first measurement: measuring it
// again makes it no more right. A file that is not there, or "", says nothing; a line that is cut short at
// its end is left out, another one that is none is an error with its number.
func ReadTrack(machine, file string) (Track, error) {
	all, err := readRecord(file)
	if err != nil {
		return Track{}, fmt.Errorf("track record: %w", err)
	}
	known := map[[2]string]bool{}
	return trackOf(slices.DeleteFunc(all, func(v Verified) bool {
		row := [2]string{v.Hash, v.Row}
		isAgain := known[row]
		known[row] = v.Machine == machine && v.Error == "" || isAgain
		return isAgain || !known[row]
	})), nil
}

func readRecord(file string) (all []Verified, err error) {
	if file == "" {
		return nil, nil
	}
	f, err := regular.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(io.LimitReader(f, maxTrack))
	lines.Buffer(nil, maxLine)
	var bad error // of the last line so far, which a crash may have cut
	for number := 1; lines.Scan(); number++ {
		if bad != nil {
			return nil, bad
		}
		var v Verified
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil || !(v.StepMS > 0) && v.Error == "" {
			err = cmp.Or(err, errors.New("it has no step that was measured"))
			bad = fmt.Errorf("%s:%d is no verified prediction: %w; remove the line", file, number, err)
			continue
		}
		all = append(all, v)
	}
	return all, lines.Err()
}

// trackOf sums up verified rows. If there are enough of today's model, the widening is the quantile of their
// misses over the expected size that holds the share of the interval; else it is 1.
func trackOf(all []Verified) Track {
	t := Track{Predictions: len(all), Widening: 1}
	var scores, misses []float64
	for _, v := range all {
		if v.Inside {
			t.Within++
		}
		misses = append(misses, math.Abs(v.Step.Miss(v.StepMS)))
		if v.Model == ModelVersion {
			scores = append(scores, math.Abs(math.Log(v.Step.Median/v.StepMS))/max(v.Step.Scale, 1e-3))
		}
	}
	slices.Sort(misses)
	t.MedianError = quantile(misses, 0.5, 0)
	if slices.Sort(scores); len(scores) >= leastScores {
		at := int(math.Ceil(coverage*float64(len(scores)+1))) - 1
		t.Widening = max(leastWidening, scores[min(at, len(scores)-1)])
	}
	return t
}

// Append adds the rows that were measured to a track record, in one write; to "" nothing.
func Append(file string, all []Verified) error {
	if file == "" {
		return nil
	}
	err := os.MkdirAll(filepath.Dir(file), 0o777)
	var text []byte
	for _, v := range all {
		if v.Error != "" {
			continue
		}
		line, failed := json.Marshal(v)
		err = errors.Join(err, failed)
		text = append(append(text, line...), '\n')
	}
	if err != nil {
		return fmt.Errorf("track record: %w", err)
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return fmt.Errorf("track record: %w", err)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("track record: %w", err)
	}
	return nil
}
