package train

import "fmt"

// OuterConfig says when workers that update their own weights average them, and what the outer
// optimizer makes of the average. The zero value of Parts means 1.
//
// Rounds count the steps of an epoch, from 1. Part p of P ends a round after the steps
// ceil((p+1)*Every/P) + k*Every, k = 0, 1, ..., so that parts take turns; a single part after every
// Every-th step. All parts end a round after the last step of an epoch and of the run.
type OuterConfig struct {
	// Every is the number of steps of a round, at least 1.
	Every int
	// Parts is the number of parts of the weights, 1 to Every.
	Parts int
	// Overlap, 0 to Every-1, is the number of steps after a round during which its average may be on
	// its way.
	Overlap int
	// LR and Momentum are those of the outer optimizer, Nesterov's SGD on the difference between the
	// weights of the round before and the average. 1 and 0 make the average the new weights.
	LR, Momentum float64
}

// Validate returns an error for the first setting that is out of range.
func (c OuterConfig) Validate() error {
	switch parts := max(c.Parts, 1); {
	case c.Every < 1:
		return fmt.Errorf("train: average after every %d steps, want at least 1", c.Every)
	case c.Parts < 0 || parts > c.Every:
		return fmt.Errorf("train: %d parts in rounds of %d steps, want 1 to %d", c.Parts, c.Every, c.Every)
	case c.Overlap < 0 || c.Overlap >= c.Every:
		return fmt.Errorf("train: overlap of %d steps in rounds of %d, want 0 to %d", c.Overlap, c.Every,
			c.Every-1)
	}
	return nil
}

// Ranges cuts a vector of elems elements into the parts, whose lengths differ by at most 1.
func (c OuterConfig) Ranges(elems int) [][2]int {
	parts := max(c.Parts, 1)
	ranges := make([][2]int, parts)
	for i := range ranges {
		ranges[i] = [2]int{elems * i / parts, elems * (i + 1) / parts}
	}
	return ranges
}

// phase returns the step of a round after which a part is averaged, 1 to Every.
func (c OuterConfig) phase(part int) int {
	parts := max(c.Parts, 1)
	return ((part+1)*c.Every + parts - 1) / parts
}

// endsRound reports whether a part is averaged after step n of an epoch, counted from 1, though the
// epoch goes on.
func (c OuterConfig) endsRound(part, n int) bool { return n%c.Every == c.phase(part)%c.Every }

// sinceRound returns how many steps lie between the last step up to n, counted from 1, after which a
// part was averaged, and n; n if there was none in this epoch.
func (c OuterConfig) sinceRound(part, n int) int {
	if first := c.phase(part); n >= first {
		return (n - first) % c.Every
	}
	return n
}

// IsMeeting reports whether a run can be saved after so many steps: the last part of the weights has
// just ended its round, or the epoch has.
func (c OuterConfig) IsMeeting(done, stepsPerEpoch int) bool {
	n := (done-1)%stepsPerEpoch + 1
	return n%c.Every == 0 || n == stepsPerEpoch
}

// Averages returns how often each part is averaged in a run of so many steps.
func (c OuterConfig) Averages(steps, stepsPerEpoch int) []int {
	counts := make([]int, max(c.Parts, 1))
	for part := range counts {
		for done := 1; done <= steps; done++ {
			n := (done-1)%stepsPerEpoch + 1
			if c.endsRound(part, n) || n == stepsPerEpoch || done == steps {
				counts[part]++
			}
		}
	}
	return counts
}
