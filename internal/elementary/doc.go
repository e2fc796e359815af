// Package elementary computes functions of float64 with the same bits on every processor.
//
// Go's own take different ways by architecture: Exp and Log are assembly on some, and on others the compiler
// fuses products with sums. Here every product is rounded by a conversion, which no compiler may fuse. Exp,
// Log and Erf follow FreeBSD's msun (e_exp.c, e_log.c, s_erf.c).
package elementary
