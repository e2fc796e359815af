// Package kerneltest checks kernels on guarded memory.
//
// Slices from Floats end at a page that nobody may touch and begin after sentinels, so a kernel that reads or
// writes outside is found. Everywhere runs a check on every instruction set of the machine.
package kerneltest
