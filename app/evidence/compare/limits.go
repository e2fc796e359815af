package compare

import "lockstep/app/evidence/stat"

// Limits of what is said of rows.
const (
	skewLimit     = 0.10  // relative difference of the times of ranks that wait for each other
	phaseLimit    = 0.02  // relative gap between the sum of the phases and their whole
	noiseLimit    = 0.10  // relative difference that runs of one row may well have
	maxEfficiency = 1.005 // above what rounding shows as 100 %

	// SameAccuracy is the difference of accuracies, in fractions of the samples, that "the same" allows.
	SameAccuracy = 0.005

	// LeastDifference is the relative difference of times below which two rows are too close to call: rounds
	// of one benchmark share what the next hour changes. docs/design/0030-the-least-difference.md has the
	// figures.
	LeastDifference = 0.02

	// EnoughRounds is the number of rounds from which on those with one winner can decide between two rows.
	EnoughRounds = 6
)

// isBeyond reports whether a ratio of times with this interval is farther from 1 than LeastDifference.
func isBeyond(i stat.Interval) bool { return i.Lo > 1+LeastDifference || i.Hi < 1/(1+LeastDifference) }
