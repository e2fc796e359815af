// Package nn composes graph ops into the layers networks are built from.
//
// A [Layer] is a value with its settings, such as Conv{Out: 64, Size: 3, Pad: 1}. Apply adds its
// parameters to the graph under PyTorch's state_dict names below the given prefix, with PyTorch's
// default initialisation, and returns its output. How many channels come in is read off the input.
// A layer has no memory: applied twice, it adds two sets of parameters.
//
// Errors are the graph's: kept there and returned by graph.Compile.
package nn
