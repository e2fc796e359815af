// Package question answers the questions of a plan from the rows of its benchmark.
//
// [Answers] applies the rule of each [record.Question]; an [Answer] holds values and a [Verdict], no words.
package question
