// Package random draws counter-based random numbers: a pure function of (stream, index).
//
// A [Stream] has no state, so a number depends on its purpose (seed, epoch, sample, tensor
// element), never on which worker draws it, in which order, or how many were drawn before. That
// makes a run independent of the number of workers. Streams are values, safe for concurrent use.
// The generator is splitmix64 over a Weyl-spaced stream start (Steele, Lea and Flood 2014); it is
// not for cryptography.
package random
