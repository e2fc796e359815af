// Package change compares a benchmark with an earlier one of the same rows, on the same kind of machine.
//
// [Between] matches rows by their [record.Setting] and says of each by how much its step became longer. The
// rounds of two benchmarks are not pairs: a machine is faster in one hour than in another. So a row is judged
// twice, by its step itself, whose interval allows for what hours change of a step, and by its step beside
// those of the other rows, which hours change less. Verdicts are data; app/report words them.
//
// Everything here is a pure function of its arguments. The error is a *[MachineError] of results from
// another kind of machine, where times say nothing.
package change
