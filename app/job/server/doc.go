// Package server holds the parameter servers of a run, wherever they run.
//
// A [Server] has a part of the weights and their optimizer. It is in the process of a worker, or [Apart]
// with a rank of its own, where worker 0 sends it the [Blueprint] of the network. Server 0 of an
// asynchronous run keeps the book of updates, which another run can repeat.
package server
