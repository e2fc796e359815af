package trace_test

import (
	"fmt"

	"lockstep/trace"
)

func Example() {
	recorder := trace.NewRecorder(0, 100)
	lane := recorder.Lane("train")
	clock := trace.StartClock()
	// ... the forward pass of step 7 ...
	begin, end := clock.Lap(trace.Forward)
	lane.Span("forward", 7, begin, end)

	spent := clock.Phases()
	fmt.Println(spent.Total() == end.Sub(begin), spent[trace.Forward] == spent.Total())
	fmt.Println(len(recorder.Recording().Lanes[0].Spans), "span")
	// Output:
	// true true
	// 1 span
}
