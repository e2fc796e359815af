// Package trace records where the time of a run's ranks goes.
//
// A [Clock] attributes every nanosecond between its start and its stop to exactly one [Phase], so phases
// add up to the wall time. A [Recorder] writes spans to a file while they are recorded, grouped into tracks
// of one goroutine each: some 10 bytes for a span, at most [MaxBytes]; what does not fit is counted and
// dropped. [Scan] reads such a file, [Write] makes one Chrome trace of those of all ranks, and a [Timeline]
// says of every step when each rank began and ended, for whom it waited ([CriticalPath]), and which rank
// came last ([Timeline.Arrivals]). Clocks of ranks are aligned by their [Skew], whose error is stated.
//
// Recording does not allocate, and locks only when a buffer is written. A nil [Recorder] and its nil
// [Track] record nothing, so callers need no condition. A file that was cut is read as far as it goes, a
// damaged one is a [FormatError].
package trace
