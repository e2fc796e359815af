// Package lockstep trains neural networks data-parallel on CPU machines, with the same bits whatever
// the number of workers (for equal --shards).
//
// [Main] is the whole command line for a program's own networks and data sets: train, bench, resume,
// reports. [Train] is one run inside a program, with its results as values. [Load] opens a trained network,
// which answers any number of callers at once.
//
// A network is a function that adds layers to a graph; packages nn and graph have them. A data set is a
// [lockstep/data.Set]. Neither has to know about workers.
package lockstep
