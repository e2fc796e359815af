package check

import (
	"fmt"
	"io"
	"strings"

	"lockstep/internal/spelling"
)

// maxShown is how many unread numbers a terminal shows.
const maxShown = 20

// Write prints a report for people. Whatever the document holds appears without control characters.
func Write(w io.Writer, r *Report) error {
	p := printer{w: w}
	refused := 0
	for _, o := range r.Objections {
		if o.Severity == Refuse {
			refused++
		}
		p.line("%s", o.line())
		if o.Arithmetic != "" {
			p.line("    %s", o.Arithmetic)
		}
		if o.Remedy != "" {
			p.line("    would answer it: %s", o.Remedy)
		}
	}
	var unread []string
	for _, u := range r.Unread[:min(len(r.Unread), maxShown)] {
		unread = append(unread, fmt.Sprintf("%s (line %d)", u.Text, u.Line))
	}
	if n := len(r.Unread) - maxShown; n > 0 {
		unread = append(unread, fmt.Sprintf("%d more; --json lists all", n))
	}
	if len(unread) > 0 {
		p.line("not read: %s", strings.Join(unread, ", "))
	}
	found := fmt.Sprintf("%d refused, %s", refused, spelling.Count(len(r.Objections)-refused, "warning"))
	if r.Compared != "" {
		p.line("%s: %s", r.Compared, found)
	} else {
		p.line("%d of %s read: %s", r.Figures.Read, spelling.Count(r.Figures.All, "figure"), found)
	}
	return p.err
}

// line writes what an objection says and where.
func (o *Objection) line() string {
	var lines []string
	for _, p := range o.Places {
		if at := fmt.Sprint(p.Line); len(lines) == 0 || lines[len(lines)-1] != at {
			lines = append(lines, at)
		}
	}
	where := ""
	if len(lines) > 0 {
		where = ", line " + strings.Join(lines, " and ")
	}
	words := map[Severity]string{Refuse: "refused", Warn: "warning"}
	return fmt.Sprintf("%s: %s%s: %s", words[o.Severity], o.Rule, where, o.Text)
}

// printer writes lines until one fails.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.w, spelling.Plain(fmt.Sprintf(format, args...)))
	}
}
