package gpu

import "errors"

// ErrNotBuilt is what Open returns in a binary that was not built for GPUs.
var ErrNotBuilt = errors.New("this binary cannot use GPUs: it was built without -tags cuda, " +
	"or not for Linux on amd64")

// PeakRows is the size of the square matrices whose product shows the most that products reach on a GPU.
const PeakRows = 8192

// Info describes a GPU and what is used to compute on it. What is not known is "" or 0.
type Info struct {
	// Name is what the driver calls it.
	Name string
	// Bus is its place on the host's bus.
	Bus string
	// MemoryBytes is the size of its memory.
	MemoryBytes int64
	// Capability is its compute capability, 90 for 9.0, and Processors the number of its multiprocessors.
	Capability, Processors int
	// Driver is the newest version of CUDA that the driver supports, 13000 for 13.0.
	Driver int
	// Libraries are those that were loaded besides the driver, with their versions.
	Libraries []string
}
