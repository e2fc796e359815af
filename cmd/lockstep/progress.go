package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"lockstep/internal/job"
)

// plainEvery is the time between two lines of progress where there is no terminal.
const plainEvery = 5 * time.Second

// progress shows where a run stands: one line that is rewritten on a terminal, else a line every
// few seconds. Its methods may be called from any goroutine.
type progress struct {
	w          io.Writer // nil: show nothing
	isTerminal bool

	mu    sync.Mutex
	shown time.Time
	isOn  bool // the cursor stands behind a line that is to be rewritten
}

func newProgress(a *app, isQuiet bool) *progress {
	if isQuiet {
		return &progress{}
	}
	return &progress{w: a.stderr, isTerminal: a.isTerminal(a.stderr), shown: time.Now()}
}

func (p *progress) show(s job.Progress) {
	if p.w == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.isTerminal:
		// Return to the first column and erase what the longer line before has left.
		fmt.Fprintf(p.w, "\r%s\x1b[K", progressLine(s, true))
		p.isOn = true
	case time.Since(p.shown) >= plainEvery:
		fmt.Fprintln(p.w, progressLine(s, false))
		p.shown = time.Now()
	}
}

// end leaves the line, so that what follows begins on its own.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isOn {
		fmt.Fprintln(p.w)
		p.isOn = false
	}
}

// progressLine words one moment of a run.
func progressLine(s job.Progress, withBar bool) string {
	if s.Steps == 0 {
		return s.Phase
	}
	var b strings.Builder
	if withBar {
		const width = 20
		done := width * s.Step / s.Steps
		fmt.Fprintf(&b, "[%s%s] ", strings.Repeat("=", done), strings.Repeat(" ", width-done))
	}
	fmt.Fprintf(&b, "epoch %d  step %d/%d", s.Epoch+1, s.Step, s.Steps)
	if s.Step > 0 {
		fmt.Fprintf(&b, "  loss %.4f  %.0f samples/s  ", s.Loss,
			float64(s.Samples)/s.Elapsed.Seconds())
	}
	switch {
	case s.Step == s.Steps:
		b.WriteString(s.Phase)
	case s.Remaining > 0:
		fmt.Fprintf(&b, "%s left", s.Remaining.Round(time.Second))
	}
	return b.String()
}
