// Package explain says why the step of one side, a row or a run, takes longer than that of another.
//
// A [Side] holds runs. [Decompose] follows the worker that arrives last at each step's exchange and cuts
// the mean step into what that worker spent: these costs add up to the step. The difference of two sides is
// a list of [Term], each with an interval; what no term holds is the residual, which is shown and not spread.
//
// Everything here is a pure function of its arguments: no clock, no file, no randomness. A reader sees names
// of sides and texts of variants, which callers give, and names of costs; app/report words the rest. Errors:
// an *[IncomparableError] for sides that cannot be told apart by steps, whose text is one for a user.
package explain
