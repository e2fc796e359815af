package record

import (
	"fmt"
	"math"
)

// Best is the evaluation on the validation samples that was best.
type Best struct {
	By         string  `json:"by"`          // the figure that chose it
	Value      float64 `json:"value"`       // of that figure, the greater the better: a loss is negative
	Steps      int     `json:"steps"`       // trained until then
	Epochs     float64 `json:"epochs"`      // the same in epochs
	IsRestored bool    `json:"is_restored"` // the run ended with these weights
	IsEnough   bool    `json:"is_enough"`   // patience ended the run
}

// String says it in a sentence.
func (b Best) String() string {
	text := fmt.Sprintf("the best %s on the validation samples, %.4g, came after epoch %.4g", b.By,
		math.Abs(b.Value), b.Epochs)
	if b.IsEnough {
		text += "; none was better for as long as --patience goes"
	}
	if b.IsRestored {
		return text + "; the run ends with these weights"
	}
	return text + "; best/ has these weights, the run's folder the last"
}
