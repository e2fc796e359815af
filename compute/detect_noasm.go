//go:build (!amd64 && !arm64) || purego

package compute

// detect lists the assembly implementations of this build: none.
func detect() []ISA { return nil }

// dotProducts reports whether there are dot products of bf16: none.
func dotProducts() bool { return false }

// spinRounds is how often a waiting thread checks before it sleeps: about 0.5 ms.
const spinRounds = 400_000

// pause does nothing: portable Go has no hint to give a spinning thread's processor.
func pause() {}
