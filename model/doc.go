// Package model defines network architectures as functions.
//
// A [Network] is a name, an input shape, a number of classes, a function that builds logits from a
// batch of maps. Architectures are those of DESIGN.md section 9, with parameters named as PyTorch
// names them. Adding one takes a file with its function and a line in the list of [Named].
package model
