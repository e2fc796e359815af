// Package lockstep trains neural networks data-parallel on CPU machines, with the same bits whatever
// the number of workers.
package lockstep
