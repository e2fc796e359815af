// Package trace records where one rank's time goes.
//
// A [Clock] attributes every nanosecond between its start and its stop to exactly one [Phase], so
// phases add up to the wall time. A [Recorder] keeps spans, grouped into tracks of one goroutine
// each. Its memory is bounded; spans beyond the bound are counted and dropped. [Write] merges the
// recordings of all ranks into one Chrome trace, which Perfetto opens.
//
// Recording neither allocates nor locks. A nil [Recorder] and its nil [Track] record nothing, so
// callers need no condition.
package trace
