// Package chooser decides by short runs which strategy a configuration with --strategy auto takes, before its
// run begins.
//
// [Run] is [launcher.Run] with that decision. Only strategies that end with the bits of one worker are
// candidates, so the choice changes no bit of the result. Short runs leave nothing behind. [Probe] makes the
// first of them for others.
package chooser
