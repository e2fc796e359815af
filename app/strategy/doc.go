// Package strategy says what each way of training together is: what a run, a bench or a report has to know
// of a value of --strategy.
//
// A [Strategy] is a value, found by [Named] or listed by [All]. Whoever has one asks it what it needs, such
// as [Strategy.Exchange] or [Strategy.Takes], and does not compare its name. To add one, write it down in the
// file of its kind, and what it exchanges in package gradsync or ps.
//
// A strategy lists its ways, the forms of it among which --strategy auto chooses.
//
// All functions are pure. They do not fail: a name that is unknown has the zero Strategy.
package strategy
