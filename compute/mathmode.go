package compute

import (
	"errors"
	"fmt"
)

// Math says how products of float32 are computed. Each gives its own bits.
type Math uint8

const (
	// Fast multiplies in float32 and saves multiplications by algorithms that round more (usesWinograd).
	Fast Math = iota
	// Exact multiplies in float32, every product as written.
	Exact
	// BF16x6 is Fast, but what is computed directly is computed on the matrix unit, each product as six
	// of parts in bf16: as accurate as float32 (type splitGather).
	BF16x6
	// BF16x3 is BF16x6 with three products of parts: each product keeps 17 bits of 24.
	BF16x3
)

// mathNames lists the names of all in order.
func mathNames() [4]string { return [4]string{"fast", "exact", "bf16x6", "bf16x3"} }

// String returns the name that ParseMath accepts.
func (m Math) String() string {
	if names := mathNames(); int(m) < len(names) {
		return names[m]
	}
	return fmt.Sprintf("Math(%d)", uint8(m))
}

// ParseMath returns the Math called name. Whether this machine has it is answered by Open.
func ParseMath(name string) (Math, error) {
	for i, n := range mathNames() {
		if n == name {
			return Math(i), nil
		}
	}
	return Fast, fmt.Errorf("%q: want fast, exact, bf16x6 or bf16x3", name)
}

// Parts returns how many parts in bf16 stand for a float32, or 0.
func (m Math) Parts() int {
	switch m {
	case BF16x6:
		return 3
	case BF16x3:
		return 2
	}
	return 0
}

// ErrNoMatrixUnit says that math bf16x6 or bf16x3 is not for this machine, build or ISA.
var ErrNoMatrixUnit = errors.New("no matrix unit")

// On returns an error, ErrNoMatrixUnit with what it takes, if this machine or build cannot compute so on
// isa.
func (m Math) On(isa ISA) error {
	if names := mathNames(); int(m) >= len(names) {
		return fmt.Errorf("%v is not one of %v", m, names)
	}
	if m.Parts() == 0 || isa == Plain || isa == AVX512 && matrixUnit() {
		return nil
	}
	return fmt.Errorf("%v on %v: %w: this takes Linux, a processor with AMX-BF16 and isa avx512, "+
		"or isa plain, which is slow; math fast runs everywhere", m, isa, ErrNoMatrixUnit)
}
