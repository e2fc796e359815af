// Package explain says why the step of one side, a row or a run, takes longer than that of another.
//
// A [Side] holds runs. [Decompose] follows the worker that arrives last at each step's exchange and cuts
// the mean step into what that worker spent: these costs add up to the step. The difference of two sides is
// a list of [Term], each with an interval; what no term holds is the residual, which is shown and not spread.
//
// Everything here is a pure function of its arguments: no clock, no file, no randomness, and no words for a
// reader. Errors: an *[IncomparableError] for sides that cannot be told apart by steps.
package explain
