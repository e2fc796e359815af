// Package nn composes graph ops into the layers of networks.
//
// A [Layer] is a value with its settings, such as Conv{Out: 64, Size: 3, Pad: 1}. Apply adds its
// parameters to the graph under PyTorch's state_dict names below the given prefix, with PyTorch's
// default initialisation, and returns its output. The number of input channels follows from the
// input. A layer has no state: applied twice, it adds two sets of parameters.
//
// Errors are collected by the graph and returned by graph.Compile.
package nn
