package check

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sort"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// table is a grid of cells with its figures, [row][column]; row 0 is the heading.
type table struct {
	cells   [][]cell
	figures [][][]*Figure
	isAside bool // metrics are rows and configurations columns
	isLog   bool // rows are moments of one run
	isParts bool // rows are parts of a whole
}

// cell is a text with its place.
type cell struct {
	text         string
	line, column int
}

// blocks finds headings, tables and code in Markdown. Everything else is lines, so no inline is parsed and
// the time is linear.
func blocks() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(util.Prioritized(parser.NewATXHeadingParser(), 600),
			util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
			util.Prioritized(parser.NewParagraphParser(), 1000)),
		parser.WithParagraphTransformers(util.Prioritized(extension.NewTableParagraphTransformer(), 200)))
}

// readMarkdown reads a Markdown document.
func (d *Document) readMarkdown(source string) {
	bytes := []byte(source)
	starts := []int{0}
	for i, c := range bytes {
		if c == '\n' {
			starts = append(starts, i+1)
		}
	}
	lineAt := func(offset int) int { return sort.SearchInts(starts, offset+1) }
	root := blocks().Parse(text.NewReader(bytes))
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		if t, isTable := n.(*extast.Table); isTable {
			d.addTable(gridOf(t, bytes, func(offset int) (line, column int) {
				line = lineAt(offset)
				return line, offset - starts[line-1] + 1
			}))
			continue
		}
		l := n.Lines()
		if l.Len() == 0 {
			continue
		}
		at := lineAt(l.At(0).Start)
		content := source[l.At(0).Start:l.At(l.Len()-1).Stop]
		switch b := n.(type) {
		case *ast.Heading:
			d.heading(b.Level, content)
			d.addLine(plain(content), scan(plain(content)), at)
		case *ast.FencedCodeBlock:
			if language := string(b.Language(bytes)); language == "" || slices.Contains(logs, language) {
				d.readText(content, at)
			}
		default:
			d.readText(content, at)
		}
	}
}

// logs are the languages of code blocks that hold output rather than a program.
var logs = []string{"text", "txt", "log", "console", "output", "bash", "shell", "sh", "csv", "plaintext"}

// gridOf returns the cells of a Markdown table.
func gridOf(t *extast.Table, source []byte, place func(offset int) (line, column int)) (cells [][]cell) {
	for row := t.FirstChild(); row != nil; row = row.NextSibling() {
		var line []cell
		at := 0
		for c := row.FirstChild(); c != nil; c = c.NextSibling() {
			one := cell{}
			if l := c.Lines(); l.Len() > 0 {
				one.text = string(l.Value(source))
				at, one.column = place(l.At(0).Start)
			}
			one.line = at
			line = append(line, one)
		}
		cells = append(cells, line)
	}
	return cells
}

// readCSV reads a CSV or TSV with at least two columns whose rows are as long as its heading.
func (d *Document) readCSV(source string) bool {
	r := csv.NewReader(strings.NewReader(source))
	first, _, _ := strings.Cut(strings.TrimSpace(source), "\n")
	for _, comma := range ";\t" {
		if strings.Count(first, string(comma)) > strings.Count(first, string(r.Comma)) {
			r.Comma = comma
		}
	}
	r.Comment, r.LazyQuotes, r.TrimLeadingSpace = '#', true, true
	var cells [][]cell
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return false
		}
		line := make([]cell, len(row))
		for j, text := range row {
			at, column := r.FieldPos(j)
			line[j] = cell{text, at, column}
		}
		cells = append(cells, line)
	}
	if len(cells) < 2 || len(cells[0]) < 2 {
		return false
	}
	at := 0
	for l := range strings.Lines(source) {
		if at++; strings.HasPrefix(l, "#") {
			d.readText(strings.TrimLeft(l, "# "), at)
		}
	}
	d.addTable(cells)
	return true
}

// readJSON reads lists of objects, objects of lists and objects of objects as tables, and other members as
// "name: value".
func (d *Document) readJSON(source string) bool {
	var value any
	r := json.NewDecoder(strings.NewReader(source))
	r.UseNumber()
	if r.Decode(&value) != nil {
		return false
	}
	d.member("", value, 0)
	return true
}

// maxDepth of the members of a JSON document that are read.
const maxDepth = 20

func (d *Document) member(name string, value any, depth int) {
	if depth > maxDepth {
		return
	}
	var rows []map[string]any
	var labels []string
	switch v := value.(type) {
	case []any:
		for _, one := range v {
			if row, ok := one.(map[string]any); ok {
				rows, labels = append(rows, row), append(labels, "")
			}
		}
		if len(rows) == 0 {
			encoded, _ := json.Marshal(v)
			d.readText(name+": "+string(encoded), 1)
			return
		}
	case map[string]any:
		for _, key := range sortedKeys(v) {
			if row, ok := v[key].(map[string]any); ok {
				rows, labels = append(rows, row), append(labels, key)
				continue
			}
			d.member(key, v[key], depth+1)
		}
	default:
		encoded, _ := json.Marshal(v)
		d.readText(name+": "+strings.Trim(string(encoded), `"`), 1)
		return
	}
	d.objects(rows, labels, depth)
}

// objects reads objects with the same members as the rows of a table.
func (d *Document) objects(rows []map[string]any, labels []string, depth int) {
	columns := map[string]any{}
	for i, row := range rows {
		for key, v := range row {
			switch v.(type) {
			case map[string]any, []any:
				d.member(strings.TrimSpace(labels[i]+" "+key), v, depth+1)
			default:
				columns[key] = nil
			}
		}
	}
	head := sortedKeys(columns)
	if len(head) == 0 {
		return
	}
	cells := [][]cell{{{line: 1}}}
	for _, key := range head {
		cells[0] = append(cells[0], cell{key, 1, 1})
	}
	for i, row := range rows {
		line := []cell{{labels[i], i + 1, 1}}
		for _, key := range head {
			encoded, _ := json.Marshal(row[key])
			line = append(line, cell{strings.Trim(string(encoded), `"`), i + 1, 1})
		}
		cells = append(cells, line)
	}
	d.addTable(cells)
}

func sortedKeys(m map[string]any) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// addTable reads the figures of a grid and makes records of its rows or columns.
func (d *Document) addTable(cells [][]cell) {
	if len(cells) == 0 {
		return
	}
	t := &table{cells: cells, figures: make([][][]*Figure, len(cells))}
	t.isAside = t.hasMetricsAsRows()
	t.isLog = !t.isAside && isLog(at(cells[0], 0))
	t.isParts = t.hasParts()
	section := d.section()
	for i, row := range cells {
		t.figures[i] = make([][]*Figure, len(row))
		for j, c := range row {
			t.figures[i][j] = t.read(i, j)
			for _, f := range t.figures[i][j] {
				f.Place.Column += max(0, c.column-1)
			}
			d.add(t.figures[i][j], c.line, section)
		}
	}
	g := &group{section: section, table: t}
	d.groups = append(d.groups, g)
	if t.isAside {
		t.columns(g)
	} else {
		t.rows(g)
	}
}

// hasParts reports whether most rows are phases of a step.
func (t *table) hasParts() bool {
	n := 0
	for _, row := range t.cells[1:] {
		if k, s := meaning(wordsOf(at(row, 0))); s == Part && (k == Unknown || k == Steps) {
			n++
		}
	}
	return n > 1 && 2*n >= len(t.cells)-1
}

// read returns the figures of a cell.
func (t *table) read(i, j int) []*Figure {
	text := plain(t.cells[i][j].text)
	figures := scan(text)
	for k, f := range figures {
		f.Row, f.Column = plain(at(t.cells[i], 0)), plain(at(t.cells[0], j))
		f.isGuess = isGuessed(f.Row) || isGuessed(f.Column) || isGuessed(text)
		if i == 0 || j == 0 && t.isAside {
			f.nameOf(text)
			continue
		}
		var last *Figure
		if k > 0 {
			last = figures[k-1]
		}
		f.inCell(text, t.isAside, last)
	}
	return figures
}

func at(row []cell, j int) string {
	if j < len(row) {
		return row[j].text
	}
	return ""
}

// plain returns a cell without the marks of Markdown.
func plain(cell string) string { return emphasis.Replace(cell) }

var emphasis = strings.NewReplacer("**", "", "`", "", "__", "", "\\|", "|")

// inCell settles a figure by the words of its cell, then by the heading that names metrics, then by the
// other.
func (f *Figure) inCell(text string, isAside bool, last *Figure) {
	metric, other := f.Column, f.Row
	if isAside {
		metric, other = other, withoutBrackets(f.Column)
	}
	if f.isEnd {
		f.Kind, f.Scope = last.Kind, last.Scope
		return
	}
	if f.Kind == Unknown && (last == nil || last.Unit == "" || f.isSigned) {
		f.bracketUnit(metric)
	}
	if isAside && isCompared(f.Column) && f.Kind == Share {
		other, metric = metric, f.Column
	}
	f.ordinal(text[:f.Place.Column-1])
	f.settle(around(text, f), withoutBrackets(metric), metric, other)
	f.isFaster = mentions(text+" "+f.Column, "faster")
	k, _ := meaning(wordsOf(withoutBrackets(metric)))
	switch {
	case k == Batch && (f.Kind == Count || f.Kind == Workers):
		f.Kind = Batch
	case f.over != nil && f.Kind != Steps:
		f.Kind = Count
	}
}

// bracketUnit takes the unit of a heading such as "Time (s)", "step ms" or "time_s".
func (f *Figure) bracketUnit(heading string) {
	head := strings.NewReplacer("(", " ", ")", " ", "[", " ", "]", " ", "_", " ", ",", " ").Replace(heading)
	for _, w := range strings.Fields(head) {
		w = strings.ToLower(w)
		base, per, isPer := strings.Cut(w, "/")
		u, isKnown := allUnits[singular(base)]
		isUnit := isKnown && (u.kind == Time && w != "d" || u.kind == Size || w == "%" || w == "x" ||
			w == "×" || w == "$")
		if isPer && isKnown && allUnits[singular(per)].kind == Time {
			f.setUnit(base, u)
			f.per(" "+"/"+per, 1)
			return
		}
		if isUnit && !isPer {
			if k, _ := meaning(wordsOf(heading)); u.kind == Time && k != Time && k != Unknown &&
				!isSetting(k) {
				continue
			}
			f.setUnit(w, u)
			return
		}
	}
}

// nameOf makes f part of a label: a number of workers, a batch, or a name.
func (f *Figure) nameOf(label string) {
	f.settle(around(label, f))
	if f.Kind == Unknown || f.Kind == Ratio || f.Kind == Share && f.Unit == "" {
		f.Kind = Name
	}
}

// withoutBrackets returns a heading without what stands in brackets.
func withoutBrackets(heading string) string {
	before, rest, isThere := strings.Cut(heading, "(")
	if _, after, isClosed := strings.Cut(rest, ")"); isThere && isClosed {
		return before + " " + after
	}
	return before
}

// around returns the words beside a figure in its cell or clause: behind it up to a stop or another number,
// then before it.
func around(text string, f *Figure) string {
	start := f.Place.Column - 1
	end := start + len(f.Text)
	tail := text[end:min(len(text), end+60)]
	if i := strings.IndexAny(tail, ",;.:|([0123456789→~"); i >= 0 {
		tail = tail[:i]
	}
	words := wordsOf(tail)
	if len(words) > 0 && slices.Contains(asides, words[0]) {
		return ""
	}
	return strings.ToValidUTF8(tail, "")
}

// asides are the words after which a number is not spoken of any more.
var asides = []string{"with", "in", "for", "on", "after", "at", "from", "and", "vs", "over", "using",
	"when", "while", "but"}

// hasMetricsAsRows decides the orientation: which of the two headings names quantities more often.
func (t *table) hasMetricsAsRows() bool {
	share := func(labels []string) float64 {
		n, all := 0, 0
		for _, l := range labels {
			k, s := meaning(wordsOf(withoutBrackets(plain(l))))
			if all++; k != Unknown && k != Name || s != "" {
				n++
			}
		}
		return float64(n) / float64(max(1, all))
	}
	var labels, heads []string
	for _, row := range t.cells[1:] {
		labels = append(labels, at(row, 0))
	}
	for _, c := range t.cells[0] {
		heads = append(heads, c.text)
	}
	return len(heads) > 1 && len(labels) > 0 && share(labels) > share(heads[1:])
}

// isCompared reports whether a column compares the columns before it.
func isCompared(heading string) bool {
	return mentions(heading, "improvement", "difference", "change", "speedup", "delta", "gain", "ratio",
		"note", "saving",
		"reduction", "comparison", "overhead")
}

// rows makes a record of each row.
func (t *table) rows(g *group) {
	for i, row := range t.figures {
		if i == 0 {
			continue
		}
		r := &recordOf{label: plain(t.labelOf(i)), group: g}
		for _, cell := range row {
			r.figures = append(r.figures, cell...)
		}
		r.rank = rankOf(r)
		g.records = append(g.records, r)
	}
}

// labelOf returns the cells of a row that hold no measurement.
func (t *table) labelOf(i int) string {
	var out []string
	for j, c := range t.cells[i] {
		isMeasured := slices.ContainsFunc(t.figures[i][j], func(f *Figure) bool { return !isSetting(f.Kind) })
		if j == 0 || !isMeasured && c.text != "" {
			out = append(out, c.text)
		}
	}
	return strings.Join(out, " ")
}

// isSetting reports whether a kind is chosen rather than measured.
func isSetting(k Kind) bool {
	return slices.Contains([]Kind{Workers, Cores, Batch, LearningRate, Epochs, Setting, Name, Steps}, k)
}

// columns makes a record of each column of a table whose rows are metrics.
func (t *table) columns(g *group) {
	for j := range t.cells[0] {
		heading := at(t.cells[0], j)
		if j == 0 {
			continue
		}
		var r *recordOf
		if n := len(g.records); isCompared(heading) && n > 0 {
			r = g.records[n-1] // says how the last configuration compares
		} else {
			r = &recordOf{label: plain(heading), group: g}
			g.records = append(g.records, r)
		}
		for i := range t.figures {
			if j < len(t.figures[i]) {
				r.figures = append(r.figures, t.figures[i][j]...)
			}
		}
	}
}
