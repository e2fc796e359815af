// Package tail sends on what is added to the files of a folder.
//
// Follow looks at the files every so often, from a goroutine of its own, and passes each new part of one to
// a function. Close passes on the rest. Files are read from their beginning, or only from where they ended
// when Follow began. A file that cannot be read is tried again; a file that shrinks is not followed further.
package tail
