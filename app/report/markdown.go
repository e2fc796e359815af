package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"lockstep/app/evidence/compare"
	"lockstep/app/evidence/stat"
	"lockstep/app/record"
)

// Markdown writes the answer, the tables and the statements of the report as text, one table cell per figure.
// The plots are left to the page; their values are here.
func Markdown(w io.Writer, r *record.Results) error {
	return writeMarkdown(w, newPage(r, compare.Compare(r)))
}

// writeMarkdown writes a page as text.
func writeMarkdown(w io.Writer, p page) error {
	m := &markdown{}
	m.line("# %s", text(p.Title))
	m.line("%s", text(p.Lede))
	for _, a := range p.Alerts {
		m.line("**Warning**: %s", text(a))
	}
	m.line("## In short")
	m.answer(p.Answer)
	m.refused(p.Notes)
	m.cautions(p.Cautions)
	for _, a := range p.Others {
		verdict := a.Verdict
		if why := a.Because(); why != "" {
			verdict += ": " + strings.TrimSuffix(why, ".")
		}
		m.item("**%s** (%s): %s", text(a.Title), text(verdict), text(a.Text))
		if a.Beside != nil {
			m.item("**%s** (%s): %s", text(a.Title), a.Beside.Verdict, text(a.Beside.Text))
		}
	}
	if p.FactsTitle != inFigures { // those of a training run are in a table
		for _, f := range p.Facts {
			m.item("%s, %s: %s", text(p.FactsTitle), text(f.Name), text(f.Value))
		}
	}
	m.b.WriteString("\n")
	m.figure(p.Picture)
	for i := range p.Sections {
		m.section(&p.Sections[i])
	}
	m.notes(p.Notes)
	m.raw(p.Raw)
	m.settings(p)
	if err := m.writeTo(w); err != nil {
		return fmt.Errorf("report: markdown: %w", err)
	}
	return nil
}

// markdown collects the text.
type markdown struct{ b strings.Builder }

func (m *markdown) notes(lists []noteList) {
	if len(lists) > 0 {
		m.line("## Notes")
	}
	for _, list := range lists {
		m.line("### %s", list.Count)
		for _, n := range list.Notes {
			m.item("**%s**: %s", n.Topic, text(n.Text))
		}
		m.b.WriteString("\n")
	}
}

// refused names what a reader must know before the answer is believed: what lockstep check refuses.
func (m *markdown) refused(lists []noteList) {
	for _, list := range lists {
		for _, n := range list.Notes {
			if n.Kind == compare.Refused {
				m.item("**refused, %s**: %s", n.Topic, text(brief(n.Note)))
			}
		}
	}
}

// cautions names the cautions at the top of the page. What is refused stands there already, see
// [markdown.refused].
func (m *markdown) cautions(list []caution) {
	for _, c := range list {
		if c.Kind != compare.Refused.String() {
			name := c.Kind
			if c.Topic != c.Kind { // which says no more
				name += ", " + c.Topic
			}
			m.item("**%s**: %s", name, text(c.Text))
		}
	}
}

func (m *markdown) raw(lines []rawLine) {
	if len(lines) > 0 {
		m.line("## Raw data")
		m.line("Every run of every row. results.json has every step, the page the first ones of each run.")
	}
	for _, one := range lines {
		m.line("### %s", text(one.Title))
		m.table(one.Table)
	}
}

// writeTo writes the text, with one line end behind it.
func (m *markdown) writeTo(w io.Writer) error {
	_, err := io.WriteString(w, compare.PlainLines(strings.TrimRight(m.b.String(), "\n")+"\n"))
	return err
}

func (m *markdown) line(format string, args ...any) {
	fmt.Fprintf(&m.b, format+"\n\n", args...)
}

func (m *markdown) item(format string, args ...any) {
	fmt.Fprintf(&m.b, "- "+format+"\n", args...)
}

func (m *markdown) answer(a answer) {
	if a.Text == "" {
		return
	}
	m.line("**%s**", text(a.Text))
	if why := strings.TrimSpace(strings.TrimSpace(a.Verdict+": "+a.Why) + " "); a.Verdict != "" {
		m.line("%s", text(strings.TrimSuffix(why, ":")))
	} else if a.Why != "" {
		m.line("%s", text(a.Why))
	}
	if a.Beside != nil {
		m.line("%s: %s", a.Beside.Verdict, text(a.Beside.Text))
	}
}

func (m *markdown) figure(f *figure) {
	if f != nil {
		m.block(block{Title: f.Title, Caption: f.Caption, Table: f.Table})
	}
}

func (m *markdown) block(b block) {
	if b.Title != "" {
		m.line("### %s", text(b.Title))
	}
	if b.Caption != "" {
		m.line("%s", text(b.Caption))
	}
	m.table(b.Table)
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
	tables := s.Tables
	if len(s.lines) > 0 { // text has one table, with one figure per cell
		tables = []block{{Table: textTable(s)}}
	}
	for _, b := range tables {
		m.block(b)
	}
	m.figure(s.Picture)
	for i := range s.Figures {
		m.figure(&s.Figures[i])
	}
	for _, b := range s.Blocks {
		m.block(b)
	}
}

func (m *markdown) table(t table) {
	m.b.WriteString("|")
	for _, h := range t.Head {
		m.b.WriteString(" " + text(h.String()) + " |")
	}
	m.b.WriteString("\n|" + strings.Repeat(" --- |", len(t.Head)) + "\n")
	for _, r := range t.Rows {
		m.b.WriteString("|")
		for _, c := range r.Cells {
			m.b.WriteString(" " + text(c.Text) + " |")
			m.b.WriteString(strings.Repeat(" |", max(c.Span-1, 0)))
		}
		m.b.WriteString("\n")
	}
	m.b.WriteString("\n")
}

func (m *markdown) settings(p page) {
	if p.Command == "" && p.Parts == nil {
		return
	}
	m.line("## Settings")
	if p.Command != "" {
		m.line("Repeat it%s:", p.Where)
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

// textTable is the main table with one figure per column.
func textTable(s *section) table {
	cols := textColumns()
	var t table
	for _, c := range cols {
		t.Head = append(t.Head, c.heading)
	}
	for _, v := range s.lines {
		var r row
		for i, c := range cols {
			if i >= textLabels && v.OK == 0 {
				r.Cells = append(r.Cells, cell{Text: v.missing(), Span: len(cols) - i})
				break
			}
			r.Cells = append(r.Cells, c.value(v))
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// textLabels is the number of columns that say what a row is; figures follow.
const textLabels = 11

// textColumn is a column of the text format, with a text in each cell.
func textColumn(name, unit string, value func(v *lineView) string) column {
	return column{heading{name, unit}, func(v *lineView) cell { return cell{Text: value(v)} }}
}

// number shows a whole number.
func number(f func(*lineView) int) func(*lineView) string {
	return func(v *lineView) string { return fmt.Sprint(f(v)) }
}

// textColumns are the columns of the text format: first what the row is, then its figures.
func textColumns() []column { return slices.Concat(labelColumns(), timeColumns(), endColumns()) }

// labelColumns say what a row is.
func labelColumns() []column {
	col := textColumn
	return []column{
		col("row", "", func(v *lineView) string { return v.key }),
		col("model", "", func(v *lineView) string { return v.Setting.Model }),
		col("strategy", "", func(v *lineView) string { return v.Setting.Strategy }),
		col("settings", "", func(v *lineView) string {
			return orDash(strings.ReplaceAll(v.Setting.Options, "+", " "))
		}),
		col("algorithm", "", func(v *lineView) string { return v.exchanged(v.Setting.Algorithm) }),
		col("link", "", func(v *lineView) string { return v.exchanged(v.Line.Link()) }),
		col("wire", "", func(v *lineView) string { return v.exchanged(cmp.Or(v.Setting.Wire, "fp32")) }),
		col("workers", "", number(func(v *lineView) int { return v.Setting.Workers })),
		col("threads", "each", number(func(v *lineView) int { return v.Setting.Threads })),
		col("cores", "", number(func(v *lineView) int { return v.Cores })),
		col("batch", "", number(func(v *lineView) int { return v.Setting.Batch })),
		col("shards", "", number(func(v *lineView) int { return v.Setting.Shards })),
	}
}

// withRange writes a ratio with its interval.
func withRange(r stat.Ratio, f func(float64) string) string {
	s := ratioText(r, f)
	if more := between(r.Interval.Lo, r.Interval.Hi, f); r.Known() && more != "" {
		s += " (" + more + ")"
	}
	return s
}

// timeColumns are the times of a row, and what they come to.
func timeColumns() []column {
	col := textColumn
	return []column{
		col("runs", "", number(func(v *lineView) int { return v.Measured })),
		col("steps", "", number(func(v *lineView) int { return v.Runs()[0].Steps })),
		col("total", "s", func(v *lineView) string { return seconds(v.Total.Median) }),
		col("epoch", "s", func(v *lineView) string { return seconds(v.Epoch.Median) }),
		col("step", "ms", func(v *lineView) string { return millis(v.Step.Median) }),
		col("p10–p90", "ms", func(v *lineView) string {
			return orDash(between(v.Step.P10, v.Step.P90, millis))
		}),
		col("spread of runs", "", func(v *lineView) string { return percent(v.RunMedian.Spread()) }),
		col("samples/s", "", func(v *lineView) string { return digits(v.PerSecond, 3) }),
		col("speed-up", "of the step", func(v *lineView) string {
			if v.isBaseline() {
				return "1"
			}
			return withRange(v.Speedup, twoDecimals)
		}),
		col("efficiency", "per core", func(v *lineView) string {
			if v.isBaseline() {
				return ratioText(v.Efficiency, percent)
			}
			return withRange(v.Efficiency, percent)
		}),
		col("step ÷ none", "", func(v *lineView) string { return withRange(v.OverFloor, twoDecimals) }),
	}
}

// endColumns are what the runs of a row ended with.
func endColumns() []column {
	col := textColumn
	return []column{
		col("loss", "first", func(v *lineView) string { return fixed(v.LossFirst, 4) }),
		col("loss", "last", func(v *lineView) string { return fixed(v.LossLast, 4) }),
		col("accuracy", "train", func(v *lineView) string { return percent(v.TrainAccuracy) }),
		col("accuracy", "test", func(v *lineView) string {
			if v.Seeds > 1 {
				return estimateText(v.Accuracy.Samples)
			}
			return percent(v.TestAccuracy)
		}),
		col("accuracy", equalTime, func(v *lineView) string { return estimateText(v.Accuracy.Time) }),
		col(staleness, "mean", func(v *lineView) string { return v.stalenessCell().oneLine() }),
		col("sent", "by all", func(v *lineView) string { return byteCount(v.BytesSent) }),
		col("in and out", "busiest process", func(v *lineView) string {
			text := byteCount(v.BusiestBytes)
			if known(v.ServerBytes) {
				text += " (busiest server " + byteCount(v.ServerBytes) + ")"
			}
			return text
		}),
		col("parameters", "SHA-256", func(v *lineView) string { return v.parameters().oneLine() }),
	}
}

// oneLine joins the lines of a cell.
func (c cell) oneLine() string { return strings.TrimSpace(c.Text + " " + c.Small) }

// estimateText writes a mean with its interval over seeds.
func estimateText(e compare.Estimate) string {
	c := estimateCell(e)
	if c.Small == "" {
		return c.Text
	}
	return c.Text + " (" + c.Small + ")"
}

// exchanged returns a setting of the exchange; one worker has none.
func (v *lineView) exchanged(setting string) string {
	if v.Setting.Workers == 1 {
		return dash
	}
	return orDash(setting)
}

func orDash(s string) string {
	if s == "" {
		return dash
	}
	return s
}
