//go:build amd64 && !purego

package kernel

import "golang.org/x/sys/cpu"

// detect lists the assembly implementations this processor can run, slowest first.
func detect() []ISA {
	var list []ISA
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		list = append(list, AVX2)
	}
	x := &cpu.X86
	if len(list) > 0 && x.HasAVX512F && x.HasAVX512VL && x.HasAVX512BW && x.HasAVX512DQ {
		list = append(list, AVX512)
	}
	return list
}

// spinRounds is how often a waiting thread looks before it sleeps: about 30 us.
const spinRounds = 20000

func pause() {}

// gemmFor returns the tiles of isa.
func gemmFor(isa ISA) gemmOps { return plainGemm() }
