package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/reg"
)

// vendor writes what tells makers of processors apart.
func vendor(a *assembler) {
	a.Function("vendor")
	a.Attributes(attr.NOSPLIT)
	a.Doc("vendor returns the first four letters of the name of the processor's maker, the first in the lowest byte.")
	a.SignatureExpr("func() uint32")
	a.XORL(reg.EAX, reg.EAX)
	a.CPUID()
	a.Store(reg.EBX, a.ReturnIndex(0))
	a.RET()
}
