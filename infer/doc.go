// Package infer computes what a trained network says of new inputs, for any number of callers at once.
//
// [New] compiles the network for inference, for batches of 1, 2, 4, ... samples: without gradients and their
// memory, with batch norm as a part of the convolutions in front. [Predictor.Predict] takes images or texts
// and returns logits; [Predictor.Rank] tells the most probable classes.
//
// Guarantees. Predict may be called by any number of goroutines; the inputs of those that wait are computed
// together, in the order of the calls. Logits are those of an evaluation of the same weights within 1e-5 of
// the largest one: batch norm is rounded otherwise, and a kernel may be chosen by the number of samples in a
// batch. The order of every sum is a function of shapes, so one batch has the same bits for any number of
// threads.
// After the first calls, Predict allocates nothing if its result has room. Memory is bounded by Config.Batch
// and by the inputs of the callers that wait.
//
// Errors. New returns those of the network and of the function that loads its weights. Predict returns an
// *[InputError] for an input that does not fit the network, before anything is computed; the context's error;
// [ErrClosed] after Close; and a *[NotFiniteError] if logits are not numbers.
package infer
