package launch_test

import (
	"fmt"

	"lockstep/app/launch"
	"lockstep/app/record"
)

// A run that has no checkpoint starts again from the beginning, in its own directory.
func ExampleFrom() {
	fmt.Println(launch.From(record.Standing{}, []string{"train", "--epochs=3"}, "runs/mine"))
	fmt.Println(launch.From(record.Standing{Checkpoint: "step-100"}, []string{"train", "-q"}, "runs/mine"))
	// Output:
	// [train --epochs=3 --out=runs/mine]
	// [train --resume=runs/mine -q]
}
