// Package ps keeps weights on parameter servers, to which workers send gradients.
//
// A Layout divides the weights among servers. A Server adds up the gradients of all workers, runs the
// optimizer on its part and sends the new weights; a Client is a worker's side. Their sums have the
// order of package shard and their updates are those of one process, so the weights have the bits of
// a run without servers, whatever the number of workers and servers.
//
// An [AsyncServer] and an [AsyncClient] train asynchronously: a worker computes whole batches and
// does not wait for others. The [Ledger] of server 0 decides the order: which worker computes which
// batch from which version of the weights, and which gradient is the next update. Staleness is
// bounded, every batch is used once, and the run goes on without lost workers.
package ps
