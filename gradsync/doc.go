// Package gradsync turns each worker's partial gradients into the global ones.
//
// A [Strategy] decides when the parts of the gradient travel; package comm decides how. Three
// strategies exchange, and they differ in two settings of one mechanism only, so a comparison
// between them compares just that:
//
//	name            exchanged in           when                          how
//	gather-scatter  one parameter          after backward, one by one    gathered and summed at rank 0,
//	                                                                     the sum scattered to all
//	all-reduce      one parameter          after backward, one by one    the group's algorithm
//	ddp             buckets of parameters  during backward, as soon as   the group's algorithm
//	                                       a bucket's gradients are final
//
// # Guarantees
//
// When a gradient has been waited for, every worker's Pieces[0] holds the same bits: the sum over
// shards along the tree of package shard. They depend neither on the strategy nor on the
// number of workers, nor, but for
// "ring", on the algorithm. Buckets are started in the order of Config.Order whatever the order
// of Ready, so all ranks issue the same collectives in the same order. The last bucket, which
// nothing could hide, is exchanged by the waiting goroutine itself. A step allocates nothing.
// The gradient is a sum; dividing it is the optimizer's business.
//
// # Wires
//
// A [Wire] is the form in which gradients travel, one of [Wires]: a compressor of each bucket, if any,
// then a codec of the vectors that are summed. "top-k" and "powersgd-R" leave out a part of each step's
// gradients and add it to the next step's; [State] has these residuals. They cost passes over the
// gradients on the training goroutine. With "auto" the first step's gradients decide, by a measurement,
// which wire pays; [Judge] says the same of every lossy wire before a run. With a lossy wire the sums have
// the same bits on all workers, but not those of other numbers of workers.
//
// # Keeping less, waiting less
//
// [Sharded] is reduce-scatter, local update, all-gather: each worker gets the sum of its share of every
// bucket. The all-gather goes on during the next forward pass.
//
// [Late] hides the end of the exchange behind the next forward pass too. Its gradients come bucket by
// bucket, the first that the forward pass needs first.
//
// A [Strategy], a [Sharded] and a [Late] have different methods to wait with, so that an update cannot be
// given the wrong one.
//
// # Errors
//
// New reports a configuration that does not fit together. Wait and Sum return the group's
// *comm.PeerError, which names the bucket; the strategy is unusable afterwards.
package gradsync
