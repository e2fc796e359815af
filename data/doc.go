// Package data supplies images, numbers or texts in the order that training needs.
//
// [Load] reads or generates a data set: a training and a test [Set] of images, of vectors of numbers, of
// texts or of pairs of texts, tokenised by data/wordpiece, with labels or with numbers to predict. Images and
// numbers lie in memory or in a [Source], such as a file, from which they are read when they are needed:
// which of the two changes no bit of a run. A [Sampler] orders the samples of each
// epoch and assigns to every virtual shard its part of every batch; texts of similar length share a batch. A
// [Loader] prepares a worker's shards ahead of time: it gathers texts without padding, or crops, scales,
// colours, flips, cuts out, normalises and mixes images, float32 [N, H, W, C]. [Set.Take] returns samples
// without augmentation, for evaluation.
//
// Guarantees. The augmentation of a sample is a function of (seed, epoch, sample index), and its position a
// function of (seed, epoch, step, shard): neither depends on the number of workers or threads, or on time.
// Every sample is used exactly once per epoch, without padding or a dropped tail, unless samples are drawn by
// class ([Sampler.ByClass]); [Shard.Coverage] checks it.
// A steady step allocates nothing. Sets are read-only after loading and safe for concurrent use; a Loader
// belongs to one goroutine.
//
// Errors. *[MissingError] says which files to put where, *[FormatError] names the file and the byte or line.
// An interrupted download leaves a .part file, from which the next one continues. Files are never trusted:
// sizes are checked before memory is allocated, archives are read in place and never unpacked, labels are
// range-checked.
package data
