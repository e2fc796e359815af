// Package choice predicts the step time of each strategy from what was measured of the machines.
//
// [Rank] orders all ways to train by a prediction whose terms can be read: computing, waiting for the
// slowest worker, the part of the exchange that computation does not hide, and the update. [Finalists] are
// those that a prediction cannot tell from the first, to be timed. [Choose] takes the fastest exact way:
// one whose result has the bits of a single worker. Ways with another result are listed, never chosen, so
// the choice cannot change a bit of the result.
//
// All functions are pure: no clock, no file, no randomness. They do not fail.
//
// # Model
//
// With P workers and a gradient of n bytes, a link that takes b seconds for a byte in each direction, and L
// seconds for a step of an exchange, the exchange takes
//
//	gather-scatter      2 L + 2 (P-1) n b
//	all-reduce          2 L for each parameter, + 2 n (P-1)/P b
//	ddp                 2 L for each bucket, + 2 n (P-1)/P b, beside the last shard's backward pass
//	ps                  L for each bucket and way, + the bytes in or out of the busiest process: pushes
//	                    beside the backward pass, pulls beside the next forward pass
//	local-sgd, diloco   that of ddp, once in H steps, not hidden
//
// What runs beside computation is exposed as far as it takes longer. On machines without a core to spare it
// also takes processor time from computing: about a nanosecond for each byte that is moved.
package choice
