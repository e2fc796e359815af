package optim

import (
	"fmt"
	"strconv"
	"strings"
)

// Milestones are the epochs, possibly fractional and ascending, at which the rate of "step" drops,
// as in PyTorch's MultiStepLR.
type Milestones []float64

// ParseMilestones parses "EPOCH,EPOCH,..." such as "30,60,80"; the empty string means none.
func ParseMilestones(s string) (Milestones, error) {
	if s == "" {
		return nil, nil
	}
	var m Milestones
	for text := range strings.SplitSeq(s, ",") {
		epoch, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("optim: milestones %.80q, want epochs such as 30,60,80", s)
		}
		m = append(m, epoch)
	}
	return m, m.validate()
}

// String returns the form that ParseMilestones parses.
func (m Milestones) String() string {
	texts := make([]string, len(m))
	for i, epoch := range m {
		texts[i] = strconv.FormatFloat(epoch, 'g', -1, 64)
	}
	return strings.Join(texts, ",")
}

func (m Milestones) validate() error {
	last := 0.0
	for _, epoch := range m {
		if !(epoch > last && epoch <= MaxRate) {
			return fmt.Errorf("optim: milestones %v, want rising epochs above 0, %v at most", m,
				float64(MaxRate))
		}
		last = epoch
	}
	return nil
}
