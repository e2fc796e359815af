// Package choice predicts the step time of each strategy from what was measured of the machines.
//
// [Rank] orders all ways to train by a prediction, made by package simulate, whose terms can be read:
// computing, waiting for the slowest worker, the part of the exchange that computation does not hide, and the
// update. [Finalists] are those that a prediction cannot tell from the first, to be timed. [Choose] takes the
// fastest exact way: one whose result has the bits of a single worker. Ways with another result are listed,
// never chosen, so the choice cannot change a bit of the result.
//
// All functions are pure: no clock, no file, no randomness. They do not fail.
package choice
