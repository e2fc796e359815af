package main

import "github.com/mmcloughlin/avo/attr"

// pause writes the hint that a thread is spinning, which frees a core shared by two threads.
func pause(a *assembler) {
	a.Function("pause")
	a.Attributes(attr.NOSPLIT)
	a.Doc("pause tells the processor that the thread is spinning.")
	a.SignatureExpr("func()")
	for range 4 {
		a.PAUSE()
	}
	a.RET()
}
