// Package data supplies images or texts in the order that training needs.
//
// [Load] reads or generates a data set: a training and a test [Set] of 8-bit images or of texts,
// tokenised by data/wordpiece, with labels; a program's own Set may have float targets instead. A
// [Sampler] orders the samples of each epoch and gives every virtual shard its part of every batch; texts
// of similar length share a batch. A [Loader] prepares a worker's shards ahead of time: it gathers texts
// without padding, or crops, flips, cuts holes into and normalises images to float32 [N, H, W, C].
// [Set.Take] hands out samples as they are, for evaluation.
//
// Guarantees. What a sample looks like is a function of (seed, epoch, sample index) alone, and
// where it goes is a function of (seed, epoch, step, shard): never of the number of workers, of
// threads, or of time. Every sample is used exactly once per epoch, without padding or a dropped
// tail; [Loader.Coverage] proves it. A steady step allocates nothing. Sets are read-only after
// loading and safe for concurrent use; a Loader belongs to one goroutine.
//
// Errors. *[MissingError] says which files to put where, *[FormatError] names the file and the
// byte or line; a download that breaks off leaves a .part file, with which the next one goes on.
// Files from outside are never trusted: sizes are checked before memory is taken, archives are
// read in place and never unpacked, labels are range-checked.
package data
