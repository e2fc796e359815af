package trace_test

import (
	"fmt"

	"lockstep/trace"
)

func Example() {
	recorder := trace.NewRecorder(0, 100)
	track := recorder.Track("train")
	clock := trace.StartClock()
	// ... the forward pass of step 7 ...
	begin, end := clock.Lap(trace.Forward)
	track.Span("forward", 7, begin, end)

	spent := clock.Phases()
	fmt.Println(spent.Total() == end.Sub(begin), spent[trace.Forward] == spent.Total())
	fmt.Println(len(recorder.Recording().Tracks[0].Spans), "span")
	// Output:
	// true true
	// 1 span
}
