package emulate_test

import (
	"fmt"
	"os"

	"lockstep/graph/gpu/emulate"
)

// A program that looks for the driver in this folder runs kernels on the processor.
func Example() {
	dir, err := emulate.Folder()
	if err != nil {
		fmt.Println(err) // such as that the compiler is missing
		return
	}
	os.Setenv("LOCKSTEP_CUDA_PATH", dir)
}
