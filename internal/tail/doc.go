// Package tail reads the end of what is being written.
//
// Follow looks at the files of a folder every so often, from a goroutine of its own, and passes each new part
// of one to a function. Close passes on the rest. Files are read from their beginning, or only from where
// they ended when Follow began. A file that cannot be read is tried again; a file that shrinks is not
// followed further. An End keeps the last of what a process says.
package tail
