// Package random draws counter-based random numbers: a pure function of (stream, index).
//
// A [Stream] holds no state, so a number depends on what it is for (seed, epoch, sample, tensor
// element), never on which worker draws it, in which order, or how many were drawn before. That
// is what makes a run independent of the number of workers. Streams are values, safe for
// concurrent use. The generator is splitmix64 over a Weyl-spaced stream start (Steele, Lea and
// Flood 2014); it is for training, not for secrets.
package random
