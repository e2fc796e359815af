package optim

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ScaleRule adapts a learning rate that was chosen for another batch size. The zero rule leaves it
// unchanged.
type ScaleRule struct {
	// Name is "linear" (the rate is proportional to the batch; Goyal et al. 2017, section 2.1) or
	// "sqrt" (proportional to its root; Krizhevsky 2014, arXiv 1404.5997, section 5; You et al.
	// 2019, arXiv 1904.00962, for LAMB). Empty means no rule.
	Name string
	// Batch is the batch size that the rate was chosen for, at least 1.
	Batch int
}

// ParseScaleRule parses "linear,256" or "sqrt,256"; the empty string is the zero rule.
func ParseScaleRule(s string) (ScaleRule, error) {
	if s == "" {
		return ScaleRule{}, nil
	}
	name, batch, _ := strings.Cut(s, ",")
	n, err := strconv.Atoi(batch)
	if name != "linear" && name != "sqrt" || err != nil || n < 1 {
		return ScaleRule{}, fmt.Errorf("optim: scale rule %.80q, want linear,BATCH or sqrt,BATCH "+
			"such as linear,256", s)
	}
	return ScaleRule{Name: name, Batch: n}, nil
}

// String returns the form that ParseScaleRule parses.
func (r ScaleRule) String() string {
	if r == (ScaleRule{}) {
		return ""
	}
	return r.Name + "," + strconv.Itoa(r.Batch)
}

// Apply returns the rate for a global batch: lr*batch/r.Batch, lr*sqrt(batch/r.Batch), or lr for
// the zero rule.
func (r ScaleRule) Apply(lr float64, batch int) float64 {
	switch r.Name {
	case "linear":
		return float64(lr*float64(batch)) / float64(r.Batch)
	case "sqrt":
		return lr * math.Sqrt(float64(batch)/float64(r.Batch))
	}
	return lr
}
