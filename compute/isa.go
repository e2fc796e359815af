package compute

import "fmt"

// ISA names one implementation of the kernels. All give the same bits.
type ISA uint8

const (
	// Plain is portable Go, the reference that the other implementations are tested against.
	Plain ISA = iota
	// AVX2 uses 8-lane vectors with fused multiply-add.
	AVX2
	// AVX512 uses 16-lane vectors with fused multiply-add and masks.
	AVX512
	// NEON uses pairs of arm64's 4-lane vectors as vectors of 8 lanes, with fused multiply-add.
	NEON
)

// String returns the name that ParseISA accepts.
func (i ISA) String() string {
	switch i {
	case Plain:
		return "plain"
	case AVX2:
		return "avx2"
	case AVX512:
		return "avx512"
	case NEON:
		return "neon"
	}
	return fmt.Sprintf("ISA(%d)", uint8(i))
}

// ParseISA returns the ISA called name: "plain", "avx2", "avx512" or "neon". Whether this machine has it is
// another question, answered by Supported and Open.
func ParseISA(name string) (ISA, error) {
	for _, i := range []ISA{Plain, AVX2, AVX512, NEON} {
		if i.String() == name {
			return i, nil
		}
	}
	return Plain, fmt.Errorf("compute: isa %q: want plain, avx2, avx512 or neon", name)
}

// Supported lists the implementations that this build has and this processor can run, slowest first.
// Plain is always among them.
func Supported() []ISA { return append([]ISA{Plain}, detect()...) }

// Best returns the fastest implementation this machine supports.
func Best() ISA {
	s := Supported()
	return s[len(s)-1]
}
