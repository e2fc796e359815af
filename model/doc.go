// Package model defines network architectures as functions.
//
// A [Network] is a name, an input shape, a number of classes, and a function that builds logits
// from a batch of maps or of texts. Parameters have the names PyTorch gives them, those of BERT the
// names of Hugging Face. To add a network, write a file with its function and add a line to the
// list of [Named].
package model
