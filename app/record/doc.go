// Package record describes what runs leave in files.
//
// [Step] is a line of steps.jsonl, [Evaluation] one of evaluations.jsonl, [Summary] is summary.json,
// [RunHost] is host.json, [Results] is results.json. Packages that measure a figure fill in its field, and
// packages that show it read the field; no other package describes these files. The comment of a field is
// its description in docs/record.md, which a test compares with these types.
//
// Files carry [Schema], their version. [Decode] reads version 2 too; a field that an older file
// lacks is zero. [Decode] checks results by [Results.Validate]; the other types are plain values.
package record
