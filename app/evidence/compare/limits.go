package compare

// Limits of what is said of rows.
const (
	skewLimit     = 0.10  // relative difference of the times of ranks that wait for each other
	phaseLimit    = 0.02  // relative gap between the sum of the phases and their whole
	noiseLimit    = 0.10  // relative difference that runs of one row may well have
	maxEfficiency = 1.005 // above what rounding shows as 100 %

	// SameAccuracy is the difference of accuracies, in fractions of the samples, that "the same" allows.
	SameAccuracy = 0.005
)
