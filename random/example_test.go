package random_test

import (
	"fmt"

	"lockstep/random"
)

// A number depends on what it is for, not on what was drawn before or by whom.
func ExampleDerive() {
	const seed, epoch = 1, 3
	order := make([]int32, 5)
	random.Derive(seed, epoch).Perm(order)
	flips := random.Derive(seed, epoch, 17) // of sample 17
	fmt.Println(order, flips.Intn(0, 2), flips.Unit(1))
	// Output: [4 0 1 2 3] 1 0.27049142122268677
}
