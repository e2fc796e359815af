// Package chooser decides by short runs which strategy a configuration with --strategy auto takes, before its
// run begins.
//
// [Run] is [launcher.Run] with that decision. All ways to train are ranked by a prediction of package
// forecast, whose terms can be read; those that it cannot tell from the first are timed. Only ways that end
// with the bits of one worker are chosen, so the choice changes no bit of the result. Short runs leave
// nothing behind. [Probe] makes the first of them for others, and [Predict] and [JobOf] predict for them.
package chooser
