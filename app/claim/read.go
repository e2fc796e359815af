package claim

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"lockstep/app/record"
)

// Bounds of what is read.
const (
	maxBytes        = 16 << 20  // of somebody's tables
	maxResultsBytes = 512 << 20 // of a results.json, which holds every raw sample
	maxTables       = 2000
	maxRows         = 5000  // of a table: rows are compared pair by pair
	maxAllRows      = 50000 // a benchmark of 500 rows has a table of the runs of each
	maxColumns      = 200
	maxSentences    = 5000
)

// Document is what a file holds.
type Document struct {
	Results *record.Results // of Lockstep's own; nil: somebody's tables

	language  language
	section   string // heading of the part that is being read
	heading   string // the last heading of any depth
	tables    []*table
	sentences []sentence
	rows      int      // of all tables
	unread    []string // headings and cells that no rule reads
	facts     facts
	guesses   map[string]bool // see foot
}

// InputError says why a file cannot be checked.
type InputError struct{ Got, Want, Next string }

// Error says what was read, what is read, and what to do.
func (e *InputError) Error() string {
	return fmt.Sprintf("check: %s; want %s; %s", e.Got, e.Want, e.Next)
}

// inputf returns an InputError. args fill the formats got and want in turn.
func inputf(got, want, next string, args ...any) error {
	n := strings.Count(got, "%") - 2*strings.Count(got, "%%")
	return &InputError{fmt.Sprintf(got, args[:n]...), fmt.Sprintf(want, args[n:]...), next}
}

// shapes says what is read.
const shapes = "a CSV, Markdown or JSON table whose first line names its columns, or a results.json of " +
	"lockstep bench"

// Read reads a document. The name's ending says what it is, or else its content.
func Read(r io.Reader, name string) (*Document, error) {
	text, isOwn, err := readBounded(r)
	if err != nil {
		return nil, err
	}
	switch {
	case isOwn:
	case !utf8.Valid(text):
		return nil, inputf("bytes that are no UTF-8 text", shapes, "save it as UTF-8")
	case isPage.Match(text[:min(len(text), 4<<10)]):
		return nil, inputf("an HTML page", shapes,
			"give its table as CSV or Markdown; of a report of ours, results.json")
	}
	if !isOwn {
		text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
		text = bytes.ReplaceAll(text, []byte("\r"), []byte("\n")) // of old spreadsheets
	}
	d := &Document{facts: noFacts(), language: newLanguage(), guesses: map[string]bool{}}
	kind := format(name, text)
	switch {
	case isOwn:
		err = d.readOwn(text)
	case kind == "json":
		err = d.readJSON(text)
	case kind == "markdown":
		err = d.readMarkdown(string(text))
	default:
		err = d.readCSV(string(text))
	}
	if err != nil {
		return nil, err
	}
	if d.Results == nil && len(d.tables) == 0 && len(d.sentences) == 0 {
		return nil, inputf("neither a table nor a sentence", shapes, "see lockstep check --help")
	}
	d.settle()
	return d, nil
}

// readOwn reads a results.json of Lockstep's own.
func (d *Document) readOwn(text []byte) (err error) {
	d.Results, err = record.Decode(bytes.NewReader(text))
	switch {
	case err != nil:
		return inputf("%v", shapes, "give a results.json that is whole", err)
	case len(d.Results.Rows) == 0:
		return inputf("results without rows", shapes, "give the results.json of a benchmark")
	}
	return nil
}

// isPage is how an HTML page begins.
var isPage = regexp.MustCompile(`(?is)^\s*(<\?xml[^>]*>\s*|<!--.*?-->\s*)*<(!doctype html|html|head|body)\b`)

// own is how lockstep bench begins a results.json.
var own = regexp.MustCompile(`^\s*\{\s*"schema"\s*:`)

// isResults reports whether a document is a results.json: by its beginning, or by its members, which another
// program may have written in another order.
func isResults(text []byte) bool {
	if own.Match(text[:min(len(text), 64)]) {
		return true
	}
	var members struct {
		Schema json.RawMessage `json:"schema"`
		Rows   []struct {
			Setting json.RawMessage `json:"setting"`
			Runs    json.RawMessage `json:"runs"`
		} `json:"rows"`
	}
	if json.Unmarshal(text, &members) != nil || len(members.Rows) == 0 {
		return false
	}
	first := members.Rows[0]
	return members.Schema != nil || first.Setting != nil && first.Runs != nil
}

// readBounded reads all of r without a byte order mark. isOwn is whether it is a results.json, which may be
// larger.
func readBounded(r io.Reader) (text []byte, isOwn bool, err error) {
	limit := maxBytes
	b := bufio.NewReader(r)
	head, err := b.Peek(64)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, inputf("%v", shapes, "give a file that can be read", err)
	}
	if bytes.HasPrefix(bytes.TrimSpace(bytes.TrimPrefix(head, mark)), []byte("{")) {
		limit = maxResultsBytes
	}
	text, err = io.ReadAll(io.LimitReader(b, int64(limit)+1))
	if err != nil {
		return nil, false, inputf("%v", shapes, "give a file that can be read", err)
	}
	text = bytes.TrimPrefix(text, mark)
	if isOwn = limit == maxResultsBytes && isResults(text); !isOwn {
		limit = maxBytes
	}
	if len(text) > limit {
		return nil, false, inputf("more than %d MiB", "at most %d MiB of tables", "check it in parts",
			limit>>20, limit>>20)
	}
	return text, isOwn, nil
}

// mark is the byte order mark that some programs put before a text.
var mark = []byte("\ufeff")

// delimiter is the line below the headings of a Markdown table.
var delimiter = regexp.MustCompile(`^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)+\|?\s*$|^\s*\|\s*:?-+:?\s*\|\s*$`)

// format returns json, markdown or csv.
func format(name string, text []byte) string {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json":
		return "json"
	case ".md", ".markdown":
		return "markdown"
	case ".csv", ".tsv":
		return "csv"
	}
	if t := bytes.TrimSpace(text); len(t) > 0 && (t[0] == '{' || t[0] == '[') {
		return "json"
	}
	if isCSV(string(text)) {
		return "csv"
	}
	return "markdown"
}

// isCSV reports whether the first two lines that hold no remark have as many separators.
func isCSV(text string) bool {
	var first []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if delimiter.MatchString(line) {
			return false
		}
		if strings.Count(line, `"`)%2 == 1 {
			line = strings.ReplaceAll(line, `"`, "") // readCells refuses it
		}
		if line != "" && line[0] != '#' {
			first = append(first, line)
		}
		if len(first) == 2 {
			break
		}
	}
	for _, comma := range ",;\t" {
		r := csv.NewReader(strings.NewReader(strings.Join(first, "\n")))
		r.FieldsPerRecord, r.LazyQuotes, r.Comma = -1, true, comma
		lines, err := r.ReadAll()
		if n := len(lines); err == nil && n > 0 && len(lines[0]) > 1 && len(lines[0]) == len(lines[n-1]) {
			return true
		}
	}
	return false
}

// add appends a table.
func (d *Document) add(caption string, lines [][]string) error {
	if len(d.tables) == maxTables {
		return inputf("more than %d tables", "no more", "check it in parts", maxTables)
	}
	t, err := newTable(caption, lines, d.language.headings)
	if err != nil {
		return err
	}
	if len(t.rows) == 0 {
		d.unread = append(d.unread, "a table without rows")
		return nil
	}
	if d.rows += len(t.rows); d.rows > maxAllRows {
		return inputf("more than %d rows in all tables", "no more", "check it in parts", maxAllRows)
	}
	t.number, t.heading, t.under = len(d.tables)+1, normal(d.section), d.heading
	if _, about, isSaid := strings.Cut(caption, "· "); isSaid {
		t.about = normal(about)
	}
	d.tables = append(d.tables, t)
	for i, c := range t.columns {
		if c.kind == unknown {
			d.unread = append(d.unread, fmt.Sprintf("table %d: column %.80q", t.number, c.header))
			continue
		}
		d.unread = append(d.unread, t.unreadCells(i)...)
	}
	return nil
}

// unreadCells lists the texts in a column of figures.
func (t *table) unreadCells(i int) []string {
	c := t.columns[i]
	_, isBounded := c.kind.bounds()
	if c.kind < cores && !isBounded {
		return nil
	}
	var out []string
	for r, row := range t.rows {
		one := row[i]
		isTooLarge := isBounded && wholeText.MatchString(one.text) // see outOfRange
		what := ""
		switch {
		case !math.IsNaN(one.value):
		case one.unit != "":
			what = "has a unit that %.80q cannot have"
		case c.kind != phase && !given(one.lo) && !isBlank(one.text) && !isTooLarge:
			what = "is no number for %.80q"
		}
		if what != "" {
			out = append(out, fmt.Sprintf("table %d, row %d: %.80q "+what, t.number, r+1, one.text, c.header))
		}
	}
	return out
}

// isBlank reports whether a cell says that there is no value.
func isBlank(text string) bool {
	switch strings.ToLower(text) {
	case "", "-", "–", "—", "n/a", "na", "none", "null", "?", "...", "…":
		return true
	}
	return false
}

// sentence is one sentence of a document.
type sentence struct {
	text    string
	line    int    // of the file, in which it begins; 0: not known
	section string // heading of the part of the document that it is in
	heading string // the last one above it, of any depth
	title   string // of the part that it is about, if its paragraph begins so: see answered
	isTitle bool   // a heading, or the introduction of what follows
}

// place says where a sentence is, by its number and its line.
func (s sentence) place(number int) string {
	if s.line == 0 {
		return fmt.Sprintf("sentence %d", number)
	}
	return fmt.Sprintf("sentence %d, line %d", number, s.line)
}

// newLine stands in a paragraph before each of its lines but the first, so that its sentences know theirs.
const newLine = "\x00"

// say appends the sentences of a paragraph that begins in a line of the file; 0: not known.
func (d *Document) say(paragraph string, line int, isTitle bool) error {
	title := ""
	for _, marked := range sentencesOf(paragraph) {
		text := strings.TrimSpace(strings.ReplaceAll(marked, newLine, ""))
		begin := line
		if line > 0 {
			before := len(marked) - len(strings.TrimLeft(marked, newLine+" "))
			begin += strings.Count(marked[:before], newLine)
			line += strings.Count(marked, newLine)
		}
		if text == "" {
			continue
		}
		if m := answered.FindStringSubmatch(normal(withoutReason(text))); m != nil {
			title = m[1]
		}
		if len(d.sentences) == maxSentences {
			return inputf("more than %d sentences", "no more", "check it in parts", maxSentences)
		}
		d.sentences = append(d.sentences,
			sentence{text, begin, d.section, d.heading, title, isTitle || strings.HasSuffix(text, ":")})
	}
	return nil
}

// readCSV reads one table; lines that begin with # are sentences.
func (d *Document) readCSV(text string) error {
	var body, caption strings.Builder
	var places []int // of the lines of body in the file, from 1
	place := 0
	for line := range strings.Lines(text) {
		place++
		said, isSaid := strings.CutPrefix(strings.TrimSpace(line), "#")
		isHeading := body.Len() == 0 && strings.ContainsAny(line, ";\t") // of a column called #
		if isSaid && !isHeading {
			caption.WriteString(strings.TrimSpace(said) + " ")
			d.foot(strings.TrimSpace(said))
			if err := d.say(strings.TrimSpace(said), place, false); err != nil {
				return err
			}
			continue
		}
		if body.Len() == 0 && strings.TrimSpace(line) == "" {
			continue
		}
		body.WriteString(line)
		places = append(places, place)
	}
	lines, err := readCells(body.String(), places)
	if err != nil {
		return err
	}
	for i, line := range lines {
		if len(line) > len(lines[0]) {
			return inputf("line %d of the table has %d cells, the heading %d", "as many",
				"quote cells that hold a comma", i+1, len(line), len(lines[0]))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return d.add(caption.String(), lines)
}

// hasWholeQuotes reports whether cells of several lines are written as RFC 4180 has them, in rows that are
// all as long as the heading, and none has a line that could be a row.
func hasWholeQuotes(body string, separator rune) bool {
	r := csv.NewReader(strings.NewReader(body))
	r.Comma, r.TrimLeadingSpace = separator, true
	lines, err := r.ReadAll()
	if err != nil || len(lines) == 0 || strings.Contains(strings.Join(lines[0], ""), "\n") {
		return false
	}
	for _, cell := range slices.Concat(lines...) {
		for line := range strings.Lines(cell) {
			if strings.Contains(cell, "\n") && strings.ContainsRune(line, separator) &&
				strings.Count(line, string(separator)) >= len(lines[0])/2 {
				return false
			}
		}
	}
	return true
}

// readCells returns the cells of a table, whose lines are at these places of a file. A quote that is not
// closed on its line would hide the rows below it.
func readCells(body string, places []int) ([][]string, error) {
	r := csv.NewReader(strings.NewReader(body))
	r.FieldsPerRecord, r.LazyQuotes, r.TrimLeadingSpace = -1, true, true
	first, _, _ := strings.Cut(body, "\n")
	for _, comma := range ";\t" {
		if strings.Count(first, string(comma)) > strings.Count(first, ",") {
			r.Comma = comma
		}
	}
	isWhole := sync.OnceValue(func() bool { return hasWholeQuotes(body, r.Comma) })
	var lines [][]string
	for {
		line, err := r.Read()
		if errors.Is(err, io.EOF) {
			return lines, nil
		}
		if err != nil {
			return nil, inputf("%v", shapes, "correct that line", err)
		}
		for i, cell := range line {
			if !strings.Contains(cell, "\n") {
				continue
			}
			if !isWhole() {
				at, _ := r.FieldPos(i)
				return nil, inputf("line %d: a quote that its line does not close",
					"cells of one line", "close the quote", places[at-1])
			}
			line[i] = strings.ReplaceAll(cell, "\n", " ")
		}
		lines = append(lines, line)
	}
}
