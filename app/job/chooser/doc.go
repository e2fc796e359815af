// Package chooser decides by short runs what a configuration leaves to auto, before its run begins.
//
// [Run] is [launcher.Run] with such decisions. Of the strategies only those are candidates that end with the
// bits of one worker, so the choice changes no bit of the result. The math does change bits: the usual one
// stays unless another that multiplies as exactly is clearly faster. Short runs leave nothing behind. [Probe]
// makes the first of them for others.
package chooser
