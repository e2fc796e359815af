// Package checkpoint keeps the weights of networks in safetensors files.
//
// [Open] reads a file, or a folder of files with an index, into a [Reader]: names, shapes, types,
// metadata, with the data left in the file. [Load] puts a Reader's tensors into a network's
// variables by name; [Save] writes variables so that PyTorch reads them unchanged, with
// torchvision's or Hugging Face's names; [Write] writes any tensors, byte for byte as the
// reference library does. [Reader.Check] and [Compare] serve people.
//
// A [Store] holds the checkpoints of a run, which are folders of such files: [Store.Commit] writes
// one, [Store.Newest] finds the newest valid one, and [OpenCheckpoint] checks one against its
// [Manifest], which has the size and the hash of every file.
//
// Guarantees: no file, whatever it holds, makes this package panic, run code, or use more memory
// than a fixed multiple of its header, which is bounded. A file is written whole or not at all:
// temporary file, fsync, rename, fsync of the folder. So is a checkpoint, and older ones are removed
// only after it has been read again. Equal tensors give equal bytes. Load changes nothing unless
// every tensor fits. A Reader may be used by several goroutines.
//
// Errors: *FormatError (the file is damaged, or of another kind), *ReadError (it cannot be read),
// *MatchError (its tensors are not the network's), *WriteError, *NoneError (a run has no valid
// checkpoint). Pickle, PyTorch's own format, can run code when it is read and is refused with the
// line of Python that converts it.
package checkpoint
