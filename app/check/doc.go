// Package check judges somebody's document by its figures.
//
// [Read] takes every number of a document as a [Figure]: value, precision, unit, kind and context. Tables
// of Markdown, CSV, JSON and spaces, lists, logs and sentences are read alike; words tell what a number is
// (words.go) and are not parsed as English. Figures about one configuration form a record, those of one
// table or section a group. [Check] tests relations among the figures that belong together (rules.go),
// with their rounding, and returns objections with the arithmetic, and what it could not read. A
// results.json or a training run of Lockstep's own is judged by package compare.
//
// Everything but Read's reader is a pure function; time and memory grow linearly with the document. Errors
// are of the document: *[InputError].
package check
