// Package gradsync turns each worker's partial gradients into the global ones.
//
// A [Strategy] decides when the parts of the gradient are exchanged; package comm decides how. The
// three strategies differ in two settings of one mechanism only, so a comparison between them
// compares exactly those:
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
// After the method that waits, every worker's Pieces[0] holds the same bits: the sum over shards
// along the tree of package shard. The bits depend neither on the strategy nor on the number of
// workers, nor, except with "ring", on the algorithm. Buckets start in the order of Config.Order,
// whatever the order of the calls of Ready, so all ranks issue the same collectives in the same
// order. The last bucket has no computation to overlap with, so the waiting goroutine exchanges it
// itself. A step allocates nothing. The gradient is a sum; the optimizer divides it.
//
// # Wires
//
// A [Wire], one of [Wires], says how gradients are transferred: a compressor of each bucket, if
// any, and a codec for the vectors that are summed. "top-k" and "powersgd-R" leave out a part of
// each step's gradients and add it to the next step's; [State] has these residuals. They take
// passes over the gradients on the training goroutine. With "auto" the choice is made in the first
// step, by measuring the link and every wire on that step's gradients. [Judge] measures every lossy
// wire before a run. With a lossy wire all workers get the same bits, but the bits depend on the
// number of workers.
//
// # Sharded and late updates
//
// [Sharded] is reduce-scatter, local update, all-gather: each worker gets the sum of its share of
// every bucket. The all-gather overlaps with the next forward pass.
//
// [Late] overlaps the end of the exchange with the next forward pass too. Gradients arrive bucket
// by bucket, beginning with those that the forward pass needs first.
//
// [Strategy], [Sharded] and [Late] have different methods to wait with, so that the compiler
// refuses an update that is given the wrong one.
//
// # Averages
//
// [Outer] adds up vectors of all workers in the background, for workers that update their own weights
// and exchange only how these have changed since the last average.
//
// # Errors
//
// New returns an error if the configuration is inconsistent. Wait and Sum return the group's
// *comm.PeerError, which names the bucket; the strategy is unusable afterwards.
package gradsync
