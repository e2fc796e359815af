// Package usage says what the workers of a benchmark took.
//
// [Workers] tells time, processors, memory and traffic of each worker of a row, with the [Drops] of its
// processors and what took longer then. [Batches] finds rows that differ in their batch alone. All are pure
// functions of their arguments and do not fail: a figure that was not measured is NaN.
package usage
