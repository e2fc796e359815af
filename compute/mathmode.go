package compute

import (
	"errors"
	"fmt"
)

// Math says how products of float32 are computed. Each gives its own bits, the same on every processor.
type Math uint8

const (
	// Fast multiplies in float32. It computes some convolutions by Winograd's algorithm and some linear
	// layers by Strassen's, which round more.
	Fast Math = iota
	// Exact multiplies in float32 and uses no such algorithm.
	Exact
	// BF16x6 is Fast without Strassen's algorithm, its direct products on the matrix unit: each float32
	// is split into three bf16 parts, and each product computed as six products of parts. It is as accurate
	// as float32.
	BF16x6
	// BF16x3 is BF16x6 with two parts and three products: each product keeps 17 of 24 bits.
	BF16x3
	// BF16 is BF16x6 with one part: the operands of large products, those of attention among them, are
	// rounded to bf16, 8 of 24 bits, and multiplied once. It runs everywhere, and is fast on the matrix unit
	// and with VDPBF16PS on processors of AMD.
	BF16
)

// mathNames lists the names of all in order.
func mathNames() [5]string { return [5]string{"fast", "exact", "bf16x6", "bf16x3", "bf16"} }

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
	return Fast, fmt.Errorf("%q: want fast, exact, bf16x6, bf16x3 or bf16", name)
}

// Parts returns the number of bf16 parts that a float32 is split into, 0 if m does not split.
func (m Math) Parts() int {
	switch m {
	case BF16x6:
		return 3
	case BF16x3:
		return 2
	case BF16:
		return 1
	}
	return 0
}

// ErrNoMatrixUnit means that this machine, build or ISA cannot compute math bf16x6 or bf16x3.
var ErrNoMatrixUnit = errors.New("no matrix unit")

// On returns an error if this machine or build cannot compute m on isa. If the matrix unit is missing, the
// error wraps ErrNoMatrixUnit and says what is needed.
func (m Math) On(isa ISA) error {
	if names := mathNames(); int(m) >= len(names) {
		return fmt.Errorf("%v is not one of %v", m, names)
	}
	if m.Parts() < 2 || isa == Plain || HasMatrixUnit(isa) {
		return nil
	}
	return fmt.Errorf("%v on %v: %w: this takes Linux, a processor with AMX-BF16 and isa avx512, "+
		"or isa plain, which is slow; math fast runs everywhere", m, isa, ErrNoMatrixUnit)
}

// HasMatrixUnit reports whether isa computes products of bf16 on a matrix unit on this machine. Bits do not
// depend on it.
func HasMatrixUnit(isa ISA) bool { return isa == AVX512 && matrixUnit() }

// HasDotProducts reports whether isa has instructions for sums of products of pairs of bf16 on this machine
// that are faster than those of float32. Bits do not depend on it.
func HasDotProducts(isa ISA) bool { return isa == AVX512 && dotProducts() }
