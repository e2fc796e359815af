// Package claim judges what other people wrote about training runs.
//
// [Read] turns a CSV, Markdown or JSON file into a [Document]: tables whose columns are known by their names,
// and the sentences around them. [Check] applies every rule to the tables and a grammar to the sentences, and
// returns a [Report]: objections with their arithmetic and what would answer them, and a verdict on each
// sentence. A sentence outside the grammar is listed as not checked, never guessed at. A results.json of
// Lockstep's own is judged by the rules of its reports.
//
// What the package knows stands in three lists: rules of tables (objection.go), headings of columns
// (column.go) and forms of sentences (grammar.go). Of headings and forms the first that fits counts, and each
// has an example that a test holds it to.
//
// docs/check.md describes columns, rules and grammar. Limits that also bind Lockstep's own reports are those
// of package analysis. Everything but Read's reader is a pure function: equal input gives equal bytes.
//
// Errors: [Read] fails with an [*InputError], which says what it got and what it takes.
package claim
