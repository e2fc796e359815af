package record

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
)

// Evaluation is how well the model did on the validation or the test set at one time of a run: a line of
// evaluations.jsonl, and part of summary.json. A run with both is evaluated on the test set at its end alone.
// Loss, accuracy and rate are the same on all ranks, so rank 0 tells them, unless ranks never exchange.
type Evaluation struct {
	Part     string  `json:"part,omitempty"`    // validation or test; "": an older version, test
	Rank     int     `json:"rank"`              // whose replica
	Steps    int     `json:"steps"`             // trained so far
	Epochs   float64 `json:"epochs"`            // the same in epochs
	Loss     Number  `json:"loss"`              // mean cross entropy; null: not computed
	Accuracy float64 `json:"accuracy"`          // part of the samples, 0 to 1
	Rate     float64 `json:"learning_rate"`     // of the last step; 0 if there was none
	Views    int     `json:"views"`             // of each sample, their logits averaged
	Samples  int64   `json:"samples,omitempty"` // of the part; 0: an older version did not tell
	Seconds  float64 `json:"seconds"`           // that it took; 0: others trained on

	TrainSeconds float64 `json:"train_seconds"` // of training before it, see Target
	WallSeconds  float64 `json:"wall_seconds"`  // of training and evaluations, this one included
}

// UnmarshalJSON reads an evaluation; older ones have no loss.
func (e *Evaluation) UnmarshalJSON(b []byte) error {
	type fields Evaluation
	read := fields{Loss: Number(math.NaN())}
	if err := json.Unmarshal(b, &read); err != nil {
		return err
	}
	*e = Evaluation(read)
	return nil
}

// Of returns the name of the part that was evaluated: validation or test.
func (e Evaluation) Of() string { return cmp.Or(e.Part, "test") }

// FinalPart returns the name of the part that the figures at the end are of, given all evaluations.
func FinalPart(all []Evaluation) string {
	if len(all) == 0 {
		return Evaluation{}.Of()
	}
	return all[len(all)-1].Of()
}

// Followed returns the evaluations of the part that was evaluated during training.
func Followed(all []Evaluation) []Evaluation {
	isOther := func(e Evaluation) bool { return e.Of() != all[0].Of() }
	return slices.DeleteFunc(slices.Clone(all), isOther)
}
