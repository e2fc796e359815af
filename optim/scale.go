package optim

import (
	"fmt"
	"strconv"
	"strings"
)

// ScaleRule adapts a learning rate that was chosen for another batch size. The zero rule leaves
// it alone.
type ScaleRule struct {
	// Name is "linear": the rate grows with the batch (Goyal et al. 2017, section 2.1). Empty
	// means no rule.
	Name string
	// Batch is the batch that the rate was chosen for, at least 1.
	Batch int
}

// ParseScaleRule reads "linear,256"; the empty string is the zero rule.
func ParseScaleRule(s string) (ScaleRule, error) {
	if s == "" {
		return ScaleRule{}, nil
	}
	name, batch, _ := strings.Cut(s, ",")
	n, err := strconv.Atoi(batch)
	if name != "linear" || err != nil || n < 1 {
		return ScaleRule{}, fmt.Errorf("optim: scale rule %q, want linear,BATCH such as linear,256", s)
	}
	return ScaleRule{Name: name, Batch: n}, nil
}

// String returns the form that ParseScaleRule reads.
func (r ScaleRule) String() string {
	if r == (ScaleRule{}) {
		return ""
	}
	return r.Name + "," + strconv.Itoa(r.Batch)
}

// Apply returns the rate for a global batch: lr*batch/r.Batch, or lr under the zero rule.
func (r ScaleRule) Apply(lr float64, batch int) float64 {
	if r == (ScaleRule{}) {
		return lr
	}
	return float64(lr*float64(batch)) / float64(r.Batch)
}
