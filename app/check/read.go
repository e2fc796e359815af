package check

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"lockstep/app/record"
	"lockstep/internal/regular"
)

// Bounds of what is read.
const (
	maxBytes   = 256 << 20
	maxFigures = 1 << 20
)

// Document is what a file holds.
type Document struct {
	Results *record.Results // of Lockstep's own; nil: somebody's document
	Figures []*Figure

	groups  []*group
	lines   []*recordOf // outside of tables
	text    string      // all of it, in lower case
	titles  []string    // of Markdown, above one another
	title   string      // of a line without marks
	current *group      // that lines go into
	price   *Figure     // the only one; nil: none, or several

	repeated bool // see [Document.isRepeated]
}

// group is a table, or a section of text: records that are about one thing.
type group struct {
	section string
	table   *table // nil: text
	records []*recordOf
}

// recordOf is what the document says about one configuration: a row, a column, a section, a line.
type recordOf struct {
	label   string
	figures []*Figure
	in      *group
	rank    string // of a job, if the label is of one

	compared []*Figure // of columns that compare it with the record before it
}

// InputError says why a file cannot be checked.
type InputError struct{ Got, Next string }

// Error says what was read, what is read, and what to do.
func (e *InputError) Error() string {
	return fmt.Sprintf("check: %s; want a text with figures: Markdown, CSV, JSON, a log; or a "+
		"results.json of lockstep bench; %s", e.Got, e.Next)
}

// Read reads a document. The name's ending says what it is, or else its content.
func Read(r io.Reader, name string) (*Document, error) {
	text, err := regular.ReadAll(r, maxBytes)
	if err != nil {
		return nil, &InputError{err.Error(), "give a file that can be read, or check it in parts"}
	}
	d := &Document{}
	if isResults(text) {
		d.Results, err = record.Decode(bytes.NewReader(text))
		switch {
		case err != nil:
			return nil, &InputError{err.Error(), "give a results.json that is whole"}
		case len(d.Results.Rows) == 0:
			return nil, &InputError{"results without rows", "give the results.json of a benchmark"}
		}
		return d, nil
	}
	if !utf8.Valid(text) {
		return nil, &InputError{"bytes that are no UTF-8 text", "save it as UTF-8"}
	}
	whole := mended.Replace(string(text))
	d.text = strings.ToLower(whole)
	kind := strings.ToLower(filepath.Ext(name))
	isTable := kind == ".csv" || kind == ".tsv" || kind == "" || kind == ".-"
	if !d.readJSON(whole) && !(isTable && d.readCSV(whole)) {
		d.readText(whole)
	}
	if len(d.Figures) == 0 {
		return nil, &InputError{"a document without a figure", "give the file that has the results"}
	}
	return d, nil
}

// isResults reports whether a text begins as a results.json does.
func isResults(text []byte) bool {
	head := bytes.Fields(bytes.TrimPrefix(text[:min(len(text), 64)], []byte("\ufeff")))
	return bytes.HasPrefix(bytes.Join(head, nil), []byte(`{"schema":`))
}

// mended takes back what a wrong decoding did to the signs that stand between figures.
var mended = strings.NewReplacer("\ufeff", "", "\r\n", "\n", "\r", "\n", "Ã—", "×", "â†’", "→",
	"â€“", "–", "âˆ’", "−", "Â±", "±", "â‰ˆ", "≈", "Âµ", "µ")

// add appends the figures of a text at a place.
func (d *Document) add(figures []*Figure, at int, section string) {
	isGuess := isGuessed(section)
	for _, f := range figures {
		f.isGuess = f.isGuess || isGuess
		f.Place.Line, f.Place.Text, f.Section = at, f.Text, section
		if len(d.Figures) >= maxFigures {
			return
		}
		d.Figures = append(d.Figures, f)
	}
}
