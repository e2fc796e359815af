// Package stat computes with samples: numbers in, numbers out.
//
// The run, not the step, is the unit of repetition, and ratios are formed inside one round of an interleaved
// schedule, where both sides met the same machine ([PairedRatio]). Rounds of a machine that drifts are not
// independent: [Correlations] estimates by how much, and widens what follows. A test of several pairs is
// corrected for their number ([Holm]). A quantity that was not measured is NaN.
//
// Everything here is a pure function of its arguments: no clock, no file, no randomness.
package stat
