package compute_test

import (
	"fmt"
	"log"

	"lockstep/compute"
)

// double multiplies a vector by two, a part at a time.
type double []float32

func (d double) Do(thread, part, parts int) {
	lo, hi := compute.Span(len(d), part, parts)
	for i := lo; i < hi; i++ {
		d[i] *= 2
	}
}

func ExampleCPU_Run() {
	cpu, err := compute.Open(compute.Config{ISA: compute.Best(), Threads: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer cpu.Close()
	v := double{1, 2, 3, 4, 5}
	cpu.Run(v)
	fmt.Println(v)
	// Output: [2 4 6 8 10]
}
