package report

import (
	"fmt"
	"io"
	"lockstep/app/evidence/finding"
	"lockstep/internal/spelling"
	"strings"
	"text/tabwriter"
)

// writeTerminal writes the short form of a page for a terminal: each section with its table and findings,
// then the cautions of the first screen, and the answer as the last line.
func writeTerminal(w io.Writer, p page) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n", p.Title, p.Lede)
	for _, s := range p.Sections {
		fmt.Fprintf(&b, "\n%s\n", joined(": ", s.Title, s.Work))
		tables := s.Terminal
		if tables == nil {
			for _, one := range s.Tables {
				tables = append(tables, one.Table)
			}
		}
		for _, t := range tables {
			t.align(&b)
		}
		for _, f := range s.Findings {
			fmt.Fprintf(&b, "  %s\n", f)
		}
	}
	if p.Cautions != nil || p.Answer.Text != "" {
		b.WriteString("\n")
	}
	if p.FactsTitle == askedBy {
		for _, f := range p.Facts {
			fmt.Fprintf(&b, "%s %s\n", f.Name, f.Value)
		}
	}
	shown, all := len(p.Cautions), 0
	for _, c := range p.Cautions {
		fmt.Fprintf(&b, "%s: %s\n", c.Kind, c.Text)
	}
	for _, list := range p.Notes {
		if list.Kind != finding.Fact.String() {
			all += len(list.Notes)
		}
	}
	if all > shown {
		fmt.Fprintf(&b, "%d more in the notes of the report.\n", all-shown)
	}
	if p.Answer.Text != "" {
		fmt.Fprintf(&b, "%s\n", joined(": ", strings.TrimSpace(p.Answer.Sign+" "+p.Answer.Verdict),
			p.Answer.Text))
	}
	if _, err := io.WriteString(w, spelling.PlainLines(b.String())); err != nil {
		return fmt.Errorf("report: text: %w", err)
	}
	return nil
}

// align writes the first lines of the cells of a table below one another.
func (t table) align(w io.Writer) {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	var texts []string
	for _, h := range t.Head {
		texts = append(texts, strings.TrimSpace(h.Text+" "+h.Unit))
	}
	if strings.Join(texts, "") != "" {
		fmt.Fprintf(out, "  %s\n", strings.Join(texts, "\t"))
	}
	for _, r := range t.Rows {
		texts = nil
		for _, c := range r.Cells {
			texts = append(texts, c.Text)
		}
		fmt.Fprintf(out, "  %s\n", strings.Join(texts, "\t"))
	}
	_ = out.Flush() // into memory
}

// writeMarkdown writes a page as text, one table cell per figure. The plots are left to the page; their
// values are here.
func writeMarkdown(w io.Writer, p page) error {
	m := &markdown{}
	m.line("# %s", text(p.Title))
	m.line("%s", text(p.Lede))
	if p.Answer.Text != "" {
		m.line("## In short")
	}
	m.answer(p.Answer)
	for _, c := range p.Cautions {
		name := c.Kind
		if c.Topic != c.Kind { // which says no more
			name += ", " + c.Topic
		}
		m.item("**%s**: %s", name, text(c.Text))
	}
	if p.FactsTitle != inFigures { // those of a training run are in a table
		for _, f := range p.Facts {
			m.item("%s, %s: %s", text(p.FactsTitle), text(f.Name), text(f.Value))
		}
	}
	m.b.WriteString("\n")
	if p.Overview != nil {
		m.block(*p.Overview)
	}
	m.figure(p.Picture)
	for i := range p.Sections {
		m.section(&p.Sections[i])
	}
	m.end(p)
	if _, err := io.WriteString(w, spelling.PlainLines(strings.TrimRight(m.b.String(),
		"\n")+"\n")); err != nil {
		return fmt.Errorf("report: markdown: %w", err)
	}
	return nil
}

// markdown collects the text.
type markdown struct{ b strings.Builder }

func (m *markdown) line(format string, args ...any) { fmt.Fprintf(&m.b, format+"\n\n", args...) }
func (m *markdown) item(format string, args ...any) { fmt.Fprintf(&m.b, "- "+format+"\n", args...) }

// end writes what stands behind the sections: notes, raw data, settings.
func (m *markdown) end(p page) {
	if len(p.Notes) > 0 {
		m.line("## Notes")
	}
	for _, list := range p.Notes {
		m.line("### %s", list.Count)
		for _, n := range list.Notes {
			m.item("**%s**: %s", n.Topic, text(n.Text))
		}
		m.b.WriteString("\n")
	}
	if len(p.Raw) > 0 {
		m.line("## Raw data")
		m.line("%s", rawMeaning)
	}
	for _, one := range p.Raw {
		m.block(one)
	}
	if p.Command != "" || p.Parts != nil {
		m.line("## Settings")
	}
	if p.Command != "" {
		m.line("Repeat it:")
		m.code("sh", strings.ReplaceAll(p.Command, "\n", " "))
	}
	for _, one := range p.Parts {
		m.line("### %s", text(one.Title))
		for _, pair := range one.Pairs {
			m.item("%s: %s", text(pair.Name), text(pair.Value))
		}
		if one.Text != "" {
			m.code("", one.Text)
		}
		m.b.WriteString("\n")
	}
}

func (m *markdown) answer(a answer) {
	if a.Text == "" {
		return
	}
	m.line("**%s**", text(a.Text))
	if why := joined(": ", a.Verdict, a.Why); why != "" {
		m.line("%s", text(why))
	}
	if a.Beside != nil {
		m.line("%s: %s", a.Beside.Verdict, text(a.Beside.Text))
	}
}

func (m *markdown) section(s *section) {
	m.line("## %s", text(s.Title))
	if s.Work != "" {
		m.line("%s", text(s.Work))
	}
	if s.Answer != nil {
		m.answer(*s.Answer)
	}
	for _, f := range s.Findings {
		m.item("%s", text(f))
	}
	if len(s.Findings) > 0 {
		m.b.WriteString("\n")
	}
	for _, b := range s.Tables {
		m.block(b)
	}
	m.figure(s.Picture)
	for i := range s.Figures {
		m.figure(&s.Figures[i])
	}
}

func (m *markdown) figure(f *figure) {
	if f != nil {
		m.block(block{Title: f.Title, Caption: f.Caption, Table: f.Table()})
	}
}

func (m *markdown) block(b block) {
	if b.Title != "" {
		m.line("### %s", text(b.Title))
	}
	if b.Caption != "" {
		m.line("%s", text(b.Caption))
	}
	names, rules := []string{""}, []string{""}
	for _, h := range b.Table.Head {
		names = append(names, text(h.String()))
		if h.IsProse {
			rules = append(rules, "---")
		} else {
			rules = append(rules, "--:")
		}
	}
	m.cells(names)
	m.cells(rules)
	for _, r := range b.Table.Rows {
		texts := []string{""}
		for _, c := range r.Cells {
			texts = append(texts, text(c.String()))
			texts = append(texts, make([]string, max(c.Span-1, 0))...)
		}
		m.cells(texts)
	}
	m.b.WriteString("\n")
}

// cells writes a row of a table; the first text is empty, for the edge.
func (m *markdown) cells(texts []string) {
	m.b.WriteString(strings.TrimSpace(strings.Join(texts, " | ")) + " |\n")
}

// code writes lines as they are, within a fence that they do not contain.
func (m *markdown) code(language, lines string) {
	fence := "```"
	for strings.Contains(lines, fence) {
		fence += "`"
	}
	m.line("%s%s\n%s\n%s", fence, language, strings.TrimRight(lines, "\n"), fence)
}

// text escapes s so that Markdown and the HTML that may stand in it show it as it is, on one
// line, in one cell and without links.
func text(s string) string {
	return strings.NewReplacer("\n", " ", "\r", " ", `\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`,
		"_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "&", "&amp;",
		"#", `\#`, "://", `:\/\/`, "www.", `www\.`, "@", `\@`).Replace(s)
}
