package report

import (
	_ "embed"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"text/template"

	"lockstep/app/evidence/finding"
	"lockstep/internal/spelling"
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
	for _, q := range p.Asked {
		fmt.Fprintf(&b, "%s %s\n", q.Ask, q.Text)
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
	if beside := p.Answer.Beside; beside != nil {
		fmt.Fprintf(&b, "%s: %s\n", beside.Verdict, beside.Text)
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

//go:embed template/page.md
var pageMarkdown string

// writeMarkdown writes a page as text, one table cell per figure. The plots are left to the page; their
// values are here.
func writeMarkdown(w io.Writer, p page) error {
	t, err := template.New("page").Funcs(template.FuncMap{"text": text, "code": code,
		"once": sayOnce()}).Parse(pageMarkdown)
	if err != nil {
		return fmt.Errorf("report: markdown template: %w", err)
	}
	var b strings.Builder
	if err := t.Execute(&b, p); err != nil {
		return fmt.Errorf("report: markdown: %w", err)
	}
	if _, err := io.WriteString(w, spelling.PlainLines(strings.TrimSpace(b.String())+"\n")); err != nil {
		return fmt.Errorf("report: markdown: %w", err)
	}
	return nil
}

// sayOnce returns a function that leaves out the sentences of a caption that stood in an earlier one.
func sayOnce() func(string) string {
	said := map[string]bool{}
	return func(caption string) (rest string) {
		for sentence := range strings.SplitAfterSeq(caption+" ", ". ") {
			if !said[sentence] {
				rest += sentence
			}
			said[sentence] = true
		}
		return strings.TrimSpace(rest)
	}
}

// code returns lines as they are, within a fence that they do not contain.
func code(language, lines string) string {
	fence := "```"
	for strings.Contains(lines, fence) {
		fence += "`"
	}
	return fence + language + "\n" + strings.TrimRight(lines, "\n") + "\n" + fence
}

// text escapes s so that Markdown and the HTML that may stand in it show it as it is, on one
// line, in one cell and without links.
func text(s string) string {
	return strings.NewReplacer("\n", " ", "\r", " ", `\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`,
		"_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "&", "&amp;",
		"#", `\#`, "://", `:\/\/`, "www.", `www\.`, "@", `\@`).Replace(s)
}
