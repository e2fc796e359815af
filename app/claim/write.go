package claim

import (
	"fmt"
	"io"

	"lockstep/app/analysis"
	"lockstep/internal/spelling"
)

// What a terminal shows of long lists.
const (
	maxUnchecked  = 20 // sentences that were not checked
	maxObjections = 100
)

// Write prints a report for people: objections, then the verdicts on sentences, then what was not read.
// Whatever the document holds appears on one line, without control characters.
func Write(w io.Writer, r *Report) error {
	p := printer{w: w}
	refused := p.objections(r.Objections)
	if r.Training != "" {
		p.line("training run: %s: %d refused", r.Training, refused)
		return p.err
	}
	holds, unchecked := p.statements(r.Statements)
	p.unread(r.Unread)
	none := ""
	if r.Tables > 0 && r.Figures == 0 {
		none = "; no figure of the tables could be read, so none was checked"
	}
	if r.NotUnderstood > 0 {
		p.line("%s with figures not understood: nobody has compared them with the tables; docs/check.md has "+
			"the sentences that are", spelling.Count(r.NotUnderstood, "sentence"))
	}
	p.line("%s, %s: %d refused, %s; sentences: %d hold, %d not checked%s", spelling.Count(r.Tables, "table"),
		spelling.Count(r.Rows, "row"), refused, spelling.Count(len(r.Objections)-refused, "note"), holds,
		unchecked, none)
	return p.err
}

// printer writes lines until one fails.
type printer struct {
	w   io.Writer
	err error
}

// objections prints objections and returns how many are refusals.
func (p *printer) objections(list []Objection) (refused int) {
	for i, o := range list {
		if o.Severity == Refused {
			refused++
		}
		if i >= maxObjections {
			continue
		}
		p.line("%s: %s, %s: %s", o.Severity, o.Rule, o.Where, o.Text)
		if o.Answer != "" {
			p.line("    would answer it: %s", o.Answer)
		}
	}
	if more := len(list) - maxObjections; more > 0 {
		p.line("%s more; --json lists all", spelling.Count(more, "objection"))
	}
	return refused
}

// statements prints the sentences that hold and those that were not checked; those that are refused are
// objections. It returns how many there are of each.
func (p *printer) statements(list []Statement) (holds, unchecked int) {
	for _, s := range list {
		switch s.Verdict {
		case Holds:
			holds++
			p.line("holds: %q: %s", s.Text, s.Why)
		case NotChecked:
			if unchecked++; unchecked <= maxUnchecked {
				p.line("not checked: %q: %s", s.Text, s.Why)
			}
		}
	}
	if more := unchecked - maxUnchecked; more > 0 {
		p.line("not checked: %s more; --json lists all", spelling.Count(more, "sentence"))
	}
	return holds, unchecked
}

// unread prints what no rule reads.
func (p *printer) unread(list []string) {
	for i, text := range list {
		if i == maxUnchecked {
			p.line("not read: %d more; --json lists all", len(list)-i)
			break
		}
		p.line("not read: %s", text)
	}
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.w, analysis.Plain(fmt.Sprintf(format, args...)))
	}
}
