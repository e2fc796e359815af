// Package bundle packs the folder of a benchmark or of a training run as one file.
//
// [Write] makes a gzip'd tar whose first entry, bundle.json, is a [Manifest]: what the folder is, which
// program made it, and each file with its size and SHA-256. Equal folders give equal bytes, whenever and by
// whomever they are bundled: entries are in the order of their names, without times, owners and modes.
// Weights, checkpoints and exported batches stay out, and the manifest names them.
//
// [Extract] takes bundles from strangers. It writes nothing but regular files below an empty folder, and only
// what the manifest lists: no links, no paths that lead out, no names that a file system may not take,
// nothing beyond [MaxBytes] and [MaxFiles]. Anything else is a *[FormatError], and the folder is then
// incomplete and should be removed.
package bundle
