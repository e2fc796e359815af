package graph

// Executor computes programs: the CPU ([Host]), or a device that someone adds. Ops, passes and the
// memory plan know no more about it than this.
type Executor interface {
	// Allocate returns n zeroed float32 values of the executor's memory.
	Allocate(n int) (Memory, error)
	// Prepare chooses and plans the kernel of op for these types, once per application; the
	// repetition of an application runs the same kernel.
	Prepare(op Op, in, out []Type) (Kernel, error)
	// Copy fills dst with src, from or to the executor's memory, and returns when that is done.
	Copy(dst, src Buffer)
}

// Memory is a block that an executor handed out.
type Memory struct {
	// Floats is the block, 64-byte aligned.
	Floats []float32
	// Release gives the block back; nil if nothing needs to be done.
	Release func()
}

// Buffer is where one value lies while a program runs: F for float32, I for int32. That of a ragged
// value is as long as the rows there are in this run.
type Buffer struct {
	F []float32
	I []int32
}

// Kernel is an op made ready for given types.
type Kernel struct {
	// Scratch is how many float32 values Run needs besides its inputs and results.
	Scratch int
	// Run computes once. It allocates nothing and keeps nothing between calls.
	Run func(a *Args)
}

// Args are the buffers of one op application. Buffers may be moved between runs, so a kernel reads
// them at each Run.
type Args struct {
	In, Out []*Buffer
	Scratch *Buffer
	// Draws says what random numbers are for in this run.
	Draws *Draws
}
