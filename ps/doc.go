// Package ps keeps weights on parameter servers, to which workers send gradients.
//
// A Layout divides the weights among servers. A Server adds up the gradients of all workers, runs the
// optimizer on its part and sends the new weights; a Client is a worker's side. Their sums have the
// order of package shard and their updates are those of one process, so the weights have the bits of
// a run without servers, whatever the number of workers and servers.
//
// A Ledger decides the order of an asynchronous run: which worker computes which batch from which
// version of the weights, and which gradient is the next update.
package ps
