package host_test

import (
	"fmt"

	"lockstep/app/host"
)

func ExampleDescribe() {
	machine := host.Describe()
	fmt.Println(machine.UsableCores >= 1, len(machine.ISA) >= 1)
	// Output: true true
}
