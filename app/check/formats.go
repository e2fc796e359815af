package check

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
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
			d.heading(b.Level, strings.TrimSpace(plain(content)))
			d.addLine(plain(content), at)
		case *ast.FencedCodeBlock:
			if len(b.Language(bytes)) == 0 || isIn("outputs", string(b.Language(bytes))) {
				d.readText(content, at)
			}
		default:
			d.readText(content, at)
		}
	}
}

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
	row, err := r.Read()
	for ; err == nil; row, err = r.Read() {
		line := make([]cell, len(row))
		for j, text := range row {
			at, column := r.FieldPos(j)
			line[j] = cell{text, at, column}
		}
		cells = append(cells, line)
	}
	if !errors.Is(err, io.EOF) || len(cells) < 2 || len(cells[0]) < 2 {
		return false
	}
	d.addTable(cells)
	return true
}

// readJSON reads lists of objects and objects of objects as tables, and other members as "name: value".
func (d *Document) readJSON(source string) bool {
	var value any
	r := json.NewDecoder(strings.NewReader(source))
	r.UseNumber()
	if r.Decode(&value) != nil {
		return false
	}
	d.member("", value)
	return true
}

func (d *Document) member(name string, value any) {
	cells := [][]cell{{{line: 1}}}
	column := map[string]int{}
	row := func(label string, object map[string]any) {
		line := make([]cell, len(cells[0]))
		line[0] = cell{label, len(cells), 1}
		for _, key := range slices.Sorted(maps.Keys(object)) {
			switch v := object[key].(type) {
			case map[string]any, []any:
				d.member(strings.TrimSpace(label+" "+key), v)
				continue
			}
			if column[key] == 0 {
				column[key] = len(cells[0])
				cells[0], line = append(cells[0], cell{key, 1, 1}), append(line, cell{})
			}
			line[column[key]] = cell{fmt.Sprint(object[key]), len(cells), 1}
		}
		cells = append(cells, line)
	}
	keep := func(label string, v any) {
		if object, isObject := v.(map[string]any); isObject {
			row(label, object)
			return
		}
		d.member(label, v)
	}
	switch v := value.(type) {
	case []any:
		for _, one := range v {
			keep(name, one)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			keep(key, v[key])
		}
	default:
		d.readText(name+": "+fmt.Sprint(v), 1)
	}
	if len(cells) > 1 {
		d.addTable(cells)
	}
}
