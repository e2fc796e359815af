// Package tensorboard writes scalars as event files that TensorBoard reads.
//
// An event file is a sequence of records: length, its checksum, a protocol buffer of type Event, and
// that one's checksum (tensorflow/core/lib/io/record_writer.cc, util/event.proto). Only what scalars
// need is written, by hand. A [Writer] appends; what was written before a crash stays readable.
package tensorboard
