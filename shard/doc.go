// Package shard cuts the global batch into virtual shards, which fixes the order of every sum
// over them.
//
// A run has V shards whatever the number of workers. Their contributions are added along one
// binary tree over the shard numbers, and the tree depends on V alone, so the sum has the same
// bits however the shards are spread over workers. The tree over [lo, hi) splits after the
// largest power of two below its length (the tree of RFC 6962): its nodes are the aligned blocks
// [k*2^j, (k+1)*2^j), the last one cut off at V.
//
// [Cut] gives each worker a contiguous run of shards; a run is the union of a few maximal
// subtrees, its [Plan.Pieces], at most 2 log2 V. [Reduce] lists the additions that merge pieces
// without ever leaving the tree. Everything here is a pure function of small integers.
package shard
