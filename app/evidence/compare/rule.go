package compare

import (
	"fmt"
	"lockstep/app/evidence/stat"
	"math"

	"lockstep/app/record"
)

// The limits and conditions of rules that judge Lockstep's own results and other people's tables alike. Each
// stands here alone, so both are judged by the same number.

// Limits of the rules.
const (
	SkewLimit     = 0.10  // relative difference of the times of ranks that wait for each other
	PhaseLimit    = 0.02  // relative gap between the sum of the phases and their whole
	NoiseLimit    = 0.10  // relative difference that runs of one row may well have
	MaxEfficiency = 1.005 // above what rounding shows as 100 %

	// SameAccuracy is the difference of accuracies, in fractions of the samples, that "the same" allows.
	SameAccuracy = 0.005

	// LeastDifference is the relative difference of times below which two rows are too close to call: rounds
	// of one benchmark share what the next hour changes. docs/design/0030-the-least-difference.md has the
	// figures.
	LeastDifference = 0.02
)

// RanksDiffer reports whether the least and the most time of ranks that wait for each other are farther apart
// than slack, in the same unit, and SkewLimit allow.
func RanksDiffer(least, most, slack float64) bool { return most-least > SkewLimit*least+slack }

// IsBeyond reports whether a ratio of times with this interval is farther from 1 than LeastDifference and
// slack, what the rounding of its figures leaves open.
func IsBeyond(i stat.Interval, slack float64) bool {
	least := 1 + LeastDifference + slack
	return i.Lo > least || i.Hi < 1/least
}

// Least writes LeastDifference.
func Least() string { return fmt.Sprintf("%g %%", 100*LeastDifference) }

// TooClose is what is said of rows that the rounds tell apart, though by less than IsBeyond asks for.
func TooClose() string {
	return fmt.Sprintf("too close to call: perhaps less than %s apart, which another hour may turn", Least())
}

// IsGuessing reports whether a loss is that of guessing among so many classes, equally frequent.
func IsGuessing(loss float64, classes int) bool { return (*record.Guess)(nil).Or(classes).IsNear(loss) }

// PhaseGap returns the share of the whole that the sum of its phases misses, negative if they are more, and
// whether it is beyond PhaseLimit.
func PhaseGap(sum, whole float64) (gap float64, isGap bool) {
	gap = 1 - sum/whole
	return gap, stat.IsFinite(gap) && math.Abs(gap) > PhaseLimit
}

// GapText says what phases miss of a whole, or by how much they are more.
func GapText(gap float64, whole string) string {
	if gap < 0 {
		return fmt.Sprintf("are %s more than %s", percent(-gap), whole)
	}
	return fmt.Sprintf("miss %s of %s", percent(gap), whole)
}

// Usable returns how many of a host's cores so many threads can use, and whether they are more than it has.
// A host that does not tell how many it has, 0, is taken to have enough.
func Usable(threads, host int) (cores int, isContended bool) {
	if host < 1 || threads <= host {
		return threads, false
	}
	return host, true
}

// IsSuperlinear reports whether an efficiency says that a core does more than one of the baseline.
func IsSuperlinear(efficiency float64) bool { return efficiency >= MaxEfficiency }
