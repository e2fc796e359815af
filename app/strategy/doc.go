// Package strategy says what each way of training together is: what a run, a bench or a report has to know
// of a value of --strategy.
//
// A [Strategy] is a value, found by [Named] or listed by [All]. Whoever has one asks it what it needs, such
// as [Strategy.Exchange] or [Strategy.Takes], and does not compare its name. To add one, write it down in the
// file of its kind, and what it exchanges in package gradsync or ps.
//
// Each strategy brings a model of its step time. With P workers and a gradient of n bytes, a link that takes
// b seconds for a byte in each direction, and L seconds for a step of an exchange, the exchange takes
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
//
// All functions are pure. They do not fail: a name that is unknown has the zero Strategy.
package strategy
