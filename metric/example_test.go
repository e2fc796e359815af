package metric_test

import (
	"fmt"

	"lockstep/metric"
)

// Four samples of a common class and one of a rare class that is never predicted: 80 % accuracy, and nothing
// learned.
func Example() {
	p := metric.Predictions{NumOutputs: 2, Outputs: []float32{2, 0, 2, 0, 2, 0, 2, 0, 1, 0},
		Labels: []int32{0, 0, 0, 0, 1}}
	c := p.Confusion()
	fmt.Printf("accuracy %.2f, balanced %.2f, macro F1 %.2f\n", c.Accuracy(), c.BalancedAccuracy(),
		c.Macro().F1)
	// Output: accuracy 0.80, balanced 0.50, macro F1 0.44
}
