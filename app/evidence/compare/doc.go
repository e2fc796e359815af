// Package compare turns raw samples of runs into rows that are told apart or not.
//
// [Compare] takes the [record.Results] of a results.json, with every raw sample of every run of a benchmark.
// It sorts the rows into groups of equal work, summarises each row ([Line]), relates it to the baseline of
// its group and returns what a reader must know before believing a number ([finding.Finding]), as data.
// [Group.Verdict] says what the rounds decide. [Training] holds a single run, [Kernels] timings of single
// kernels and the limits of the machine.
//
// Four rules shape the numbers:
//
//   - The first step of a run is excluded from step times: it pays for page faults and caches.
//   - The run, not the step, is the unit of repetition. Steps of one run share its luck, so
//     spreads and intervals are taken over runs, and ratios are formed inside one round of the
//     interleaved schedule, where both sides met the same machine.
//   - Two rows are called different only if their rounds tell them apart ([Pair]), with a correction for the
//     number of pairs; what cannot be told apart is named together. Runs that others took cores from take
//     no part in it.
//   - A quantity that was not measured is NaN, never an estimate.
//
// Everything here is a pure function of its arguments: no clock, no file, no randomness but that of a seed.
package compare
