package check

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"lockstep/internal/spelling"
)

// maxShown is how many unread numbers a terminal shows.
const maxShown = 20

// Write prints a report for people. Whatever the document holds appears without control characters.
func Write(w io.Writer, r *Report) error {
	var text strings.Builder
	line := func(format string, args ...any) {
		text.WriteString(spelling.Plain(fmt.Sprintf(format, args...)) + "\n")
	}
	refused := 0
	for _, o := range r.Objections {
		word := "warning"
		if o.Severity == Refuse {
			word = "refused"
			refused++
		}
		line("%s: %s%s: %s", word, o.Rule, o.where(), o.Text)
		if o.Arithmetic != "" {
			line("    %s", o.Arithmetic)
		}
		if o.Remedy != "" {
			line("    would answer it: %s", o.Remedy)
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
		line("not read: %s", strings.Join(unread, ", "))
	}
	of := r.Compared
	if of == "" {
		of = fmt.Sprintf("%d of %s read", r.Figures.Read, spelling.Count(r.Figures.All, "figure"))
	}
	line("%s: %d refused, %s", of, refused, spelling.Count(len(r.Objections)-refused, "warning"))
	_, err := io.WriteString(w, text.String())
	return err
}

// where says in which lines the figures of an objection are.
func (o *Objection) where() string {
	var lines []string
	for _, p := range o.Places {
		lines = append(lines, fmt.Sprint(p.Line))
	}
	if len(lines) == 0 {
		return ""
	}
	return ", line " + strings.Join(slices.Compact(lines), " and ")
}
