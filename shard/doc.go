// Package shard divides the global batch into virtual shards, which fix the order of every sum over
// them.
//
// A run has V shards whatever the number of workers. Their contributions are added along one binary
// tree over the shard numbers. The tree depends on V alone, so the sum has the same bits however
// the shards are assigned to workers. The tree over [lo, hi) splits after the largest power of two
// below its length (the tree of RFC 6962): its nodes are the aligned blocks [k*2^j, (k+1)*2^j),
// where the last one ends at V.
//
// [Cut] gives each worker a contiguous run of shards. A run is the union of at most 2 log2 V
// maximal subtrees, its [Plan.Pieces]. [Reduce] lists the additions that merge pieces along the
// tree. Everything here is a pure function of small integers.
package shard
