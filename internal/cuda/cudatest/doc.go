// Package cudatest opens a GPU for tests of NVIDIA's libraries, which are skipped where there is none.
package cudatest
