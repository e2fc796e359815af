// Package onnx translates ONNX files.
//
// [Open] reads a file, [Decode] its bytes; the [Model] has nodes, tensors, inputs and outputs as the file
// has them. [Model.Build] adds them to a graph as trainable parameters, running statistics and ops: float
// tensors of several elements that the file keeps by name are parameters, with the file's values as initial
// ones, whatever the seed. [Model.With] is the model with other values of these, and [FromGraph] makes a
// model of a network that no file describes. [Model.WriteTo] and [Model.Encode] are the inverse of Decode.
//
// Maps are [N, C, H, W] in a file and [N, H, W, C] here; the parameters keep the file's names and shapes.
// The batch of a graph is that of its input, whatever batch the file was exported with, if the file has a
// named first axis (dynamic_axes or dynamic_shapes of torch.onnx.export), or no shape depends on a batch of
// 1. A softmax at the end is left out, since losses contain it. Files that read tokens get texts padded to
// the longest that the graph allows, with their mask.
//
// Guarantees: no file, whatever its contents, makes this package panic, run code, read a file outside of its
// folder, or use more memory than a fixed multiple of its length and of the tensors that a graph of it names.
// A Model is read-only after Decode, and Build may be called at the same time. Equal models give equal bytes.
//
// Errors: *[FormatError] (the file is damaged, or no ONNX), *[UnsupportedError] (which node, which op, and
// why), those of the file system. What Build finds is also the first error of the graph.
package onnx
