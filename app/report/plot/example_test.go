package plot_test

import (
	"fmt"
	"strings"

	"lockstep/app/report/plot"
)

// A chart is drawn for a wide and for a narrow window.
func ExampleLines() {
	chart := plot.Lines{X: "step", Y: "loss",
		Series: []plot.Series{{Label: "training", At: []float64{1, 2}, Values: []float64{2.5,
			1.25}}}}
	fmt.Println(strings.Count(string(plot.Markup(plot.Head{ID: "loss", Title: "Loss"}, chart)), "<svg"),
		"pictures")
	// Output: 2 pictures
}
