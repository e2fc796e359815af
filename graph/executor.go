package graph

import "lockstep/internal/kernel/product"

// Executor computes programs: the CPU ([Host]), or a device of another package. Ops, passes and the
// memory plan know no more about it than this. Package graph/check holds a second one.
//
// An executor allocates one block of memory for each [Arena], and prepares a [Kernel] for each use of an
// op. Programs say where in the block each value lies.
//
// One that is not in place may also have these methods, which programs look for: KeepsBF16 (narrow.go),
// Record (keep.go), Trails and Rejoin (trailing.go), BeginDownload and Arrived (mirror.go), DownloadAll
// (program.go); package train looks for those of train.Resident, for Prefetch, and for Err, the error after
// which nothing more is computed.
type Executor interface {
	// InPlace reports whether kernels compute on host slices, Buffer.F and Buffer.I. If so, a program
	// passes the caller's inputs, parameters, state and gradients to them without a copy. If not, the arena
	// holds a copy of each, which the program updates with Upload and Download.
	InPlace() bool
	// Allocate returns n zeroed elements, of 4 bytes each, of the executor's memory.
	Allocate(n int) (Memory, error)
	// Prepare chooses and plans the kernel of an application. It is called once per application; an
	// application that is recomputed in the backward pass runs the same kernel again.
	Prepare(a Application) (Kernel, error)
	// Upload copies src, on the host, to dst, in the executor's memory. It may read src until a later
	// download has returned. Download copies src, in the executor's memory, to dst, on the host, when all
	// that was asked for before is done. Neither is called if InPlace is true.
	Upload(dst, src *Buffer)
	Download(dst, src *Buffer)
}

// Application is one use of an op in a program.
type Application struct {
	// Op is one of the exported types of this package whose names end in Op, by value. Its fields are the
	// op's settings; its comment says what is computed from which inputs.
	Op Op
	// Name is what costs and traces call the op, such as "conv+relu".
	Name string
	// Layer is the layer's name as far as parameter names tell, such as "features.0".
	Layer string
	// Backward means that the application belongs to the backward pass.
	Backward bool
	// In and Out are the types of inputs and results.
	In, Out []Type
	// Overwrites is the number of the input whose place the first result may take, or -1.
	Overwrites int
}

// Memory is a block that an executor handed out.
type Memory struct {
	// Floats is the block of an executor in place, 64-byte aligned; nil for any other.
	Floats []float32
	// Handle is the block of any other executor, such as a pointer: programs pass it on to kernels and
	// compare it, and never look into it.
	Handle any
	// Release frees the block; nil if nothing needs to be done.
	Release func()
}

// Buffer says where a value lies while a program runs. The buffer of a ragged value holds just the rows of
// the current run.
type Buffer struct {
	// F holds a float32 value and I an int32 value on the host.
	F []float32
	I []int32
	// Device is where the value lies in the memory of an executor that is not in place.
	Device Span
}

// Span is a range of a block of an executor's memory.
type Span struct {
	// Handle is that of the block's Memory.
	Handle any
	// Offset counts elements of 4 bytes, Len those of the value's type.
	Offset, Len int
}

// Kernel is an op made ready for given types.
type Kernel struct {
	// Scratch is how many elements Run needs besides its inputs and results.
	Scratch int
	// OfParts says that the products are of parts (compute.Math), not of float32.
	OfParts bool
	// Run computes once. It allocates nothing and keeps nothing between calls.
	Run func(a *Args)
	// keeping is the plan that may keep its weights, the second input, if these do not change.
	keeping *product.Conv
}

// Args are the buffers of one op application. Buffers may be moved between runs, so a kernel reads
// them at each Run.
type Args struct {
	In, Out []*Buffer
	Scratch *Buffer
	// Draws is the key of this run's random numbers.
	Draws *Draws
}
