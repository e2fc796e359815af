// Package transfer sends files, such as those of a data set or the results of a run, to another host.
//
// A [Cargo] is a list of files with their hashes. [Cargo.Deliver] sends what the other side lacks; there
// [Receive] takes it. Both speak over a stream, such as standard input and output of a program that ssh has
// started.
//
// A file arrives under its name complete and with the right SHA-256, or not at all. What the host has
// already is not sent; a file of the same name with other contents is an error and stays as it is. Contents
// travel compressed by Zstandard.
//
// The receiver trusts the sender with what it writes and where below its folder, not outside of it: names are
// relative and stay in the folder even if it holds links. Both sides bound the lines that they read, the
// receiver every file by its announced size. Neither waits for a peer that falls silent for more than half a
// minute.
//
// Errors. A *[HostError] is what the host has against the files, such as another version of one or no room,
// or says that the connection broke. A receiver whose connection broke returns [io.ErrUnexpectedEOF].
package transfer
