// Package infer computes what a trained network says of new inputs, for any number of callers at once.
//
// [New] compiles the network for inference, for batches of 1, 2, 4, ... samples: without gradients and their
// memory, with batch norm and the addition of residuals as parts of the convolutions in front, and with
// weights laid out once as the kernels read them. [Predictor.Predict] takes images or texts and returns
// logits; [Predictor.Rank] tells the most probable classes.
//
// Guarantees. Predict may be called by any number of goroutines; the inputs of those that wait are computed
// together, in the order of the calls. Logits are those of an evaluation of the same weights within 1e-5 of
// the largest one: batch norm is rounded otherwise, and a kernel may be chosen by the number of samples in a
// batch. The order of every sum is a function of shapes, so one batch has the same bits for any number of
// threads.
// After the first calls, Predict allocates nothing if its result has room. Memory is two to three times that
// of the weights, and what Config.Batch and the inputs of the callers that wait take.
//
// Errors. New returns those of the network and of the function that loads its weights. Predict returns an
// *[InputError] for an input that does not fit the network, before anything is computed; the context's error;
// [ErrClosed] after Close; and a *[NotFiniteError] if logits are not numbers.
package infer
