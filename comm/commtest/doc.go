// Package commtest checks that a mesh of links behaves as package comm requires.
//
// A transport's tests call [Run] with a function that connects any number of ranks. Ranks are
// goroutines, so no launcher is needed.
package commtest
