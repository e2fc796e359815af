package trace_test

import (
	"bytes"
	"fmt"
	"io"

	"lockstep/trace"
)

func Example() {
	var file bytes.Buffer
	recorder := trace.NewRecorder(0, func() (io.WriteCloser, error) { return closing{&file}, nil })
	track := recorder.Track(trace.TrainTrack)
	clock := trace.StartClock()
	// ... the forward pass of step 7 ...
	begin, end := clock.Lap(trace.Forward)
	track.Span("forward", 7, begin, end)
	if err := recorder.Close(); err != nil {
		fmt.Println(err)
	}

	spent := clock.Phases()
	fmt.Println(spent.Total() == end.Sub(begin), spent[trace.Forward] == spent.Total())
	_, err := trace.Scan(&file, func(_ int, s *trace.Span) { fmt.Println(s.Name, s.Number) })
	fmt.Println(err)
	// Output:
	// true true
	// forward 7
	// <nil>
}
