// Package npy reads arrays of NumPy's .npy files by rows, without holding them in memory.
//
// [Open] checks the header and the file's size; [File.ReadRows] reads any rows, in C order, at any time and
// from any goroutine, and fails if the file has changed since. Versions 1 to 3 of the format are read, of
// arrays of numbers in C order and little-endian order; Fortran order, other byte orders and objects are
// refused.
//
// Errors name what was found and what was expected, not the path, which the caller knows. A header is read up
// to 64 KiB, and no memory is allocated by what a header says.
//
// Source: NumPy Enhancement Proposal 1, "A Simple File Format for NumPy Arrays", and numpy/lib/format.py.
package npy
