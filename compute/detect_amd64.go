//go:build amd64 && !purego

package compute

import "golang.org/x/sys/cpu"

// detect lists the assembly implementations this processor can run, slowest first.
func detect() []ISA {
	var list []ISA
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA && cpu.X86.HasBMI2 {
		list = append(list, AVX2)
	}
	x := &cpu.X86
	if len(list) > 0 && x.HasAVX512F && x.HasAVX512VL && x.HasAVX512BW && x.HasAVX512DQ {
		list = append(list, AVX512)
	}
	return list
}

// intel is what vendor returns for GenuineIntel.
const intel = 'G' | 'e'<<8 | 'n'<<16 | 'u'<<24

// dotProducts reports whether there is VDPBF16PS, and it multiplies more in a second than float32's
// multiply-add: Intel's start it once in the time of four of those (docs/design/0006).
func dotProducts() bool { return cpu.X86.HasAVX512BF16 && vendor() != intel }

// spinRounds is how often a waiting thread checks, pausing in between, before it sleeps: about 0.5 ms, so
// that it outlasts the calls that one thread does alone. A sleep costs more than what it saves: two threads
// on two cores, medians of three interleaved runs, with 200 and with 4000 rounds: lenet, batch 16, 1.31 and
// 0.53 ms a step (one thread 0.69); vgg11, batch 64, 168 and 131 ms (one 240).
const spinRounds = 4000
