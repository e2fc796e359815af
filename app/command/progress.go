package command

import (
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"lockstep/app/job/launcher"
	"lockstep/app/record"
	"lockstep/cluster"

	"golang.org/x/term"
)

// plainEvery is the time between two lines of progress if stderr is not a terminal.
const plainEvery = 5 * time.Second

// progress shows the progress of a run: on a terminal as one line that is rewritten, else as a line every
// few seconds. Its methods may be called from any goroutine.
type progress struct {
	w          io.Writer
	isQuiet    bool // show nothing but warnings
	isTerminal bool
	columns    func() int // of the terminal now

	mu    sync.Mutex
	shown time.Time
	isOn  bool // the cursor is at the end of a line that will be rewritten
	isRow bool // the head of the table of evaluations has been printed
}

func newProgress(a *app, isQuiet bool) *progress {
	return &progress{w: a.stderr, isQuiet: isQuiet, isTerminal: a.isTerminal(a.stderr), shown: time.Now(),
		columns: func() int { return a.columns(a.stderr) }}
}

// columns returns the width of the terminal w, or 80 if w is not a terminal.
func (a *app) columns(w io.Writer) int {
	if width, err := strconv.Atoi(a.environment[cluster.EnvTerminal]); err == nil && width > 0 {
		return width
	}
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return 80
}

// fit shortens a line to one less than the columns of a terminal, because some terminals wrap in the last
// column and a wrapped line cannot be rewritten. The line is ASCII except for the names of bench's rows.
func fit(line string, columns int) string {
	if runes := []rune(line); len(runes) >= columns {
		return string(runes[:max(0, columns-1)])
	}
	return line
}

// show shows the progress of a run. Warnings are shown even if it is quiet.
func (p *progress) show(s launcher.Progress) {
	switch {
	case s.IsWarning:
		p.mu.Lock()
		defer p.mu.Unlock()
		p.print(s.Note)
	case s.Note != "":
		p.say(s.Note)
	case s.Evaluation != nil:
		p.row(*s.Evaluation)
	default:
		p.rewrite(progressLine(s), false, false)
	}
}

// rewrite shows a line in place of the one before, on a terminal; else a line of its own if it is due,
// because it must be shown or because none has been for a while and onlyDue is false.
func (p *progress) rewrite(line string, onlyDue, isDue bool) {
	if p.isQuiet {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.isTerminal:
		// Return to the first column and erase the rest of a longer line before this one.
		fmt.Fprintf(p.w, "\r%s\x1b[K", fit(line, p.columns()))
		p.isOn = true
	case isDue, !onlyDue && time.Since(p.shown) >= plainEvery:
		fmt.Fprintln(p.w, line)
		p.shown = time.Now()
	}
}

// say writes a line that is not rewritten.
func (p *progress) say(line string) {
	if !p.isQuiet {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.print(line)
	}
}

// print writes such a line. The caller holds the lock.
func (p *progress) print(line string) {
	if p.isOn {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.isOn = false
	}
	fmt.Fprintln(p.w, line)
}

// row adds a row to the table of evaluations.
func (p *progress) row(e record.Evaluation) {
	if p.isQuiet {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.isRow {
		name, _, _ := e.Figure()
		p.print(fmt.Sprintf(evaluationHead, name))
		p.isRow = true
	}
	p.print(evaluationRow(e))
}

// evaluationHead is the head of the table of evaluations, which fits a terminal of 80 columns.
const evaluationHead = " epoch  rank  part              loss  %10s  learning rate  wall time"

// evaluationRow formats an evaluation. The row of rank 0 is for all ranks if they exchange gradients.
func evaluationRow(e record.Evaluation) string {
	rate := "-"
	if e.Steps > 0 {
		rate = fmt.Sprintf("%.4g", e.Rate)
	}
	_, _, text := e.Figure()
	epochs := math.Round(e.Epochs*1e4) / 1e4
	return fmt.Sprintf("%6.4g  %4d  %-10s  %10.4f  %10s  %13s  %7.1f s", epochs, e.Rank, e.Of(), e.Loss,
		text, rate, e.WallSeconds)
}

// end moves to a new line for the output that follows.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isOn {
		fmt.Fprintln(p.w)
		p.isOn = false
	}
}

// scoredText says how much of an evaluation is done and how long the rest takes; "" outside of one.
func scoredText(s launcher.Progress) string {
	if s.Scored == 0 {
		return ""
	}
	return fmt.Sprintf(" %.0f %%, %s left", 100*s.Scored, s.Remaining.Round(time.Second))
}

// progressLine formats the progress of a run.
func progressLine(s launcher.Progress) string {
	if s.Steps == 0 && s.Length == 0 {
		return s.Phase + scoredText(s)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "epoch %d  step %d", s.Epoch+1, s.Step)
	if s.Steps > 0 {
		fmt.Fprintf(&b, "/%d", s.Steps)
	}
	if s.Samples > 0 {
		fmt.Fprintf(&b, "  loss %.4f  %.0f samples/s  ", s.Loss,
			float64(s.Samples)/s.Trained.Seconds())
	}
	switch {
	case s.Scored > 0:
		b.WriteString(s.Phase + scoredText(s))
	case s.Step == s.Steps, s.Length > 0 && s.Remaining == 0:
		b.WriteString(s.Phase)
	case s.Remaining > 0:
		fmt.Fprintf(&b, "%s left", s.Remaining.Round(time.Second))
	}
	return b.String()
}
