package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"lockstep/internal/job"
)

// A line that is to be rewritten never reaches the last column, however narrow the terminal is.
func TestProgressFitsTheTerminal(t *testing.T) {
	moment := job.Progress{Phase: "forward", Step: 1234, Steps: 56789, Epoch: 3, Loss: 0.5,
		Samples: 78976, Elapsed: 10 * time.Second, Remaining: 2 * time.Hour}
	for width := range 120 {
		var out bytes.Buffer
		p := &progress{w: &out, isTerminal: true, columns: func() int { return width }}
		p.show(moment)
		line := strings.TrimSuffix(strings.TrimPrefix(out.String(), "\r"), "\x1b[K")
		if len(line) > max(0, width-1) {
			t.Errorf("%d columns: %q has %d", width, line, len(line))
		}
		if hasBar := strings.Contains(line, "["); hasBar != (width > 85) && width > 90 {
			t.Errorf("%d columns: %q: bar %v", width, line, hasBar)
		}
	}
}
