// Package checkpoint keeps the weights of networks in safetensors files.
//
// [Open] reads a file, or a folder of files with an index, into a [Reader]: names, shapes, types
// and metadata. The data stays in the file. [Load] copies a Reader's tensors to a network's
// variables by name; [Save] writes variables so that PyTorch reads them unchanged, with the names
// of torchvision or Hugging Face; [Write] writes any tensors, byte for byte as the reference
// library does. [Compare] is for inspection.
//
// A [Store] holds the checkpoints of a run, which are folders of such files: [Store.Commit] writes
// one, [Store.Newest] finds the newest valid one, and [OpenCheckpoint] checks one against its
// [Manifest], which has the size and the hash of every file.
//
// Guarantees: no file, whatever its contents, makes this package panic, run code, or use more
// memory than a fixed multiple of its header, which is bounded. A file is written entirely or not
// at all: temporary file, fsync, rename, fsync of the folder. So is a checkpoint, and older ones
// are removed only after it was read back. Equal tensors give equal bytes. Load changes nothing
// unless every tensor fits. A Reader is safe for concurrent use.
//
// Errors: *FormatError (the file is damaged, or of another kind), *ReadError (it cannot be read),
// *MatchError (its tensors are not the network's), *WriteError, *NoneError (a run has no valid
// checkpoint). Pickle, PyTorch's own format, can run code when it is read and is refused with the
// line of Python that converts it.
package checkpoint
