package product_test

import (
	"fmt"

	"lockstep/compute"
	"lockstep/internal/kernel/product"
)

// A 3x3 filter of ones sums each pixel's neighbourhood.
func Example() {
	cpu, err := compute.Open(compute.Config{ISA: compute.Best(), Threads: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cpu.Close()
	conv := product.On(cpu).NewConv(product.ConvShape{N: 1, H: 3, W: 3, C: 1, K: 1, R: 3, S: 3, Stride: 1,
		Pad: 1})
	image := []float32{1, 2, 3, 4, 5, 6, 7, 8, 9}
	ones := []float32{1, 1, 1, 1, 1, 1, 1, 1, 1}
	sums := make([]float32, 9)
	conv.Forward(sums, image, ones, nil, false, nil, make([]float32, conv.ScratchFloats()))
	fmt.Println(sums)
	// Output: [12 21 16 27 45 33 24 39 28]
}
