// Package model defines network architectures as functions.
//
// A [Network] is a name, an input shape, a number of classes, a function that builds logits from a
// batch of maps. Parameters have the names PyTorch gives them. Adding one takes a file with its
// function and a line in the list of [Named].
package model
