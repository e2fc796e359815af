package asm_test

import (
	"reflect"
	"testing"

	"lockstep/compute"
	"lockstep/internal/kernel/asm"
)

// TestNoPlainLoopServesAVectorISA holds the generated tables to completeness: a loop without a function
// would run its portable form, slowly and unnoticed.
func TestNoPlainLoopServesAVectorISA(t *testing.T) {
	list := []compute.ISA{compute.AVX2, compute.AVX512}
	switch compute.Best() {
	case compute.Plain:
		t.Skip("built without assembly, or no AVX2")
	case compute.NEON:
		list = []compute.ISA{compute.NEON}
	}
	plain := asm.OpsFor(compute.Plain, compute.BF16)
	for _, isa := range list {
		ops := asm.OpsFor(isa, compute.BF16)
		if isa == compute.NEON { // which multiplies parts in plain Go
			ops.Split, plain.Split = asm.SplitOps{}, asm.SplitOps{}
		}
		checkServed(t, isa.String(), reflect.ValueOf(ops), reflect.ValueOf(plain))
	}
}

// checkServed fails if a function in got is missing where plain has one, or is that one.
func checkServed(t *testing.T, name string, got, plain reflect.Value) {
	switch got.Kind() {
	case reflect.Struct:
		for i := range got.NumField() {
			checkServed(t, name+"."+got.Type().Field(i).Name, got.Field(i), plain.Field(i))
		}
	case reflect.Array:
		for i := range got.Len() {
			checkServed(t, name+"[]", got.Index(i), plain.Index(i))
		}
	case reflect.Func:
		if !plain.IsNil() && (got.IsNil() || got.Pointer() == plain.Pointer()) {
			t.Errorf("%s: no function of this ISA", name)
		}
	}
}
