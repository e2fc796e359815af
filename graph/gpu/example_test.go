package gpu_test

import (
	"fmt"

	"lockstep/graph/gpu"
)

// An executor takes the place of graph.NewHost where a GPU can be used.
func Example() {
	e, err := gpu.Open(gpu.Config{Math: gpu.BF16})
	if err != nil {
		fmt.Println(err) // says what is missing
		return
	}
	defer e.Close()
	fmt.Println(e.Info().Name)
}
