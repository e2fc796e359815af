// Package trace records where one rank's time goes.
//
// A [Clock] attributes every nanosecond between its start and its stop to exactly one [Phase], so
// phases add up to the wall time. A [Recorder] keeps spans, grouped into lanes of one goroutine
// each; its memory is taken at the start and bounded, and spans beyond the bound are counted, not
// kept. [Write] merges the recordings of all ranks into one Chrome trace, which Perfetto opens.
//
// Recording neither allocates nor locks. A nil [Recorder] and the nil [Lane] it hands out record
// nothing, so callers need no condition.
package trace
