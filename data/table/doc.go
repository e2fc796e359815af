// Package table says what the columns of a table mean to a network.
//
// A [Table] is found once, by a [Measure] of the training rows, and kept with the weights; a row then gives
// the same channels in training, in an evaluation and in use, to the bit. A column in which all values are
// numbers is one channel; any other is a category, with a channel for each of its values, which is 1 where a
// row has it. A missing number is the mean of the training rows and, if they miss some, one more channel is 1
// where it is missing; a missing or unknown category has no 1.
//
// Errors are *ValueError for what is in a row and *HeaderError for the columns of a file. Nothing panics.
package table
