//go:build arm64 && !purego

package compute

// detect lists the assembly implementations that this processor can run: NEON, which every arm64 has.
func detect() []ISA { return []ISA{NEON} }

// dotProducts reports whether there are dot products of bf16 that the kernels use: none.
func dotProducts() bool { return false }

// spinRounds is how often a waiting thread checks, pausing in between, before it sleeps. It is not measured:
// some 0.5 ms if an ISB takes 10 ns.
const spinRounds = 12_000

// pause keeps the processor from running ahead with the loads of a spinning thread, by ISB: for most arm64
// processors YIELD is no instruction at all.
func pause()
