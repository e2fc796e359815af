package forecast

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"lockstep/internal/regular"
)

// ModelVersion is that of the model of a step: of package simulate, and of how its costs are calibrated.
// Predictions of different versions are of one track record, though not of one model.
const ModelVersion = 4

// Prediction is what was predicted before any of it was measured.
type Prediction struct {
	Hash     string    `json:"hash"`               // SHA-256 of the file with an empty hash
	Version  string    `json:"version"`            // of the program
	Revision string    `json:"revision,omitempty"` // of its source
	Model    int       `json:"model_version"`      // see ModelVersion
	Date     time.Time `json:"date"`               // when it was made
	Command  []string  `json:"command"`            // arguments that made it

	Inputs   Inputs            `json:"inputs"`       // what was described
	MadeFrom Calibration       `json:"made_from"`    // what was measured
	Rows     []Row             `json:"rows"`         // by strategy, then workers
	Settings []json.RawMessage `json:"settings"`     // of each row, every resolved one
	Track    Track             `json:"track_record"` // how earlier predictions of this machine fared
}

// encode returns p as its file has it, and sets its hash.
func (p *Prediction) encode() ([]byte, error) {
	p.Hash = ""
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	p.Hash = hex.EncodeToString(sum[:])
	empty, full := []byte(`"hash": ""`), []byte(`"hash": "`+p.Hash+`"`)
	return append(bytes.Replace(text, empty, full, 1), '\n'), nil
}

// Save writes p to a file, which must not exist, and sets its hash. If path is "", it is
// predictions/<date>-<hash>.json. It returns the path.
func (p *Prediction) Save(path string) (string, error) {
	text, err := p.encode()
	if err != nil {
		return "", fmt.Errorf("prediction: %w", err)
	}
	if path == "" {
		path = filepath.Join("predictions", p.Date.Format("20060102-1504")+"-"+p.Hash[:8]+".json")
	}
	if _, err := os.Lstat(path); err == nil {
		return "", fmt.Errorf("prediction: %s is there already, and predictions are not changed; name "+
			"another file", path)
	}
	err = os.MkdirAll(filepath.Dir(path), 0o777)
	if err == nil {
		err = regular.Write(path, text)
	}
	if err != nil {
		return "", fmt.Errorf("prediction: %w", err)
	}
	return path, nil
}

// Bounds of a file.
const (
	maxFile = 64 << 20 // bytes
	maxRows = 1 << 14
)

// Read reads a prediction. A file that is none, or that was changed after it was written, is an error.
func Read(path string) (*Prediction, error) {
	text, err := regular.ReadFile(path, maxFile)
	if err != nil {
		return nil, fmt.Errorf("prediction: %w", err)
	}
	p, err := Decode(text)
	if err != nil {
		return nil, fmt.Errorf("prediction: %s: %w", path, err)
	}
	return p, nil
}

// Decode reads the text of a prediction, whose blanks between tokens may be others. One that was changed
// after it was written is an error.
func Decode(text []byte) (*Prediction, error) {
	p := &Prediction{}
	if err := json.Unmarshal(text, p); err != nil {
		return nil, err
	}
	var spread bytes.Buffer
	if err := json.Indent(&spread, bytes.TrimSpace(text), "", "  "); err != nil {
		return nil, err
	}
	return p, p.check(spread.Bytes())
}

func (p *Prediction) check(text []byte) error {
	if p.Hash == "" || len(p.Rows) == 0 || len(p.Rows) > maxRows || len(p.Settings) != len(p.Rows) {
		return errors.New("it has no hash or no rows with settings; want a file that lockstep predict wrote")
	}
	with := []byte(`"hash": "` + p.Hash + `"`)
	sum := sha256.Sum256(bytes.TrimSuffix(bytes.Replace(text, with, []byte(`"hash": ""`), 1), []byte("\n")))
	if hex.EncodeToString(sum[:]) != p.Hash {
		return errors.New("it was changed after it was written: its hash is not that of what it holds")
	}
	for i, row := range p.Rows {
		s := row.Step
		isOrdered := s.Low > 0 && s.Low <= s.Median && s.Median <= s.High && s.High < math.Inf(1)
		if !isOrdered || row.Workers < 1 {
			return fmt.Errorf("row %d: %d workers, step %+v: want low, median and high in order", i,
				row.Workers, s)
		}
	}
	return nil
}
