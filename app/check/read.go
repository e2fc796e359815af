package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"lockstep/app/record"
)

// Bounds of what is read.
const (
	maxBytes        = 64 << 20
	maxResultsBytes = 512 << 20 // of a results.json, which holds every raw sample
	maxFigures      = 1 << 20
)

// Document is what a file holds.
type Document struct {
	Results *record.Results // of Lockstep's own; nil: somebody's document
	Figures []*Figure

	groups  []*group
	lines   []*recordOf // outside of tables
	text    string      // all of it, in lower case
	titles  []string    // of Markdown
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
	rank    *Figure // of a job, if the label is of one

	compared []*Figure // of columns that compare it with the record before it
}

// InputError says why a file cannot be checked.
type InputError struct{ Got, Want, Next string }

// Error says what was read, what is read, and what to do.
func (e *InputError) Error() string {
	return fmt.Sprintf("check: %s; want %s; %s", e.Got, e.Want, e.Next)
}

// shapes says what is read.
const shapes = "a text with figures: Markdown, CSV, JSON, a log; or a results.json of lockstep bench"

// Read reads a document. The name's ending says what it is, or else its content.
func Read(r io.Reader, name string) (*Document, error) {
	text, isOwn, err := readBounded(r)
	if err != nil {
		return nil, err
	}
	d := &Document{}
	if isOwn {
		d.Results, err = record.Decode(bytes.NewReader(text))
		switch {
		case err != nil:
			return nil, &InputError{err.Error(), shapes, "give a results.json that is whole"}
		case len(d.Results.Rows) == 0:
			return nil, &InputError{"results without rows", shapes, "give the results.json of a benchmark"}
		}
		return d, nil
	}
	if !utf8.Valid(text) {
		return nil, &InputError{"bytes that are no UTF-8 text", shapes, "save it as UTF-8"}
	}
	whole := mended.Replace(string(text))
	d.text = strings.ToLower(whole)
	d.readAs(name, whole)
	if len(d.Figures) == 0 {
		return nil, &InputError{"a document without a figure", shapes, "give the file that has the results"}
	}
	return d, nil
}

// readAs reads a text by the ending of its name, or as what it looks like.
func (d *Document) readAs(name, text string) {
	kind := strings.ToLower(filepath.Ext(name))
	head := strings.TrimSpace(text)
	isJSON := strings.HasPrefix(head, "{") || strings.HasPrefix(head, "[")
	switch {
	case (kind == ".json" || isJSON) && d.readJSON(text):
	case (kind == ".csv" || kind == ".tsv" || kind == "" || kind == ".-") && d.readCSV(text):
	case kind == ".txt" || kind == ".log":
		d.readText(text, 1)
	default:
		d.readMarkdown(text)
	}
}

// mended takes back what a wrong decoding did to the signs that stand between figures.
var mended = strings.NewReplacer("\ufeff", "", "\r\n", "\n", "\r", "\n", "Ã—", "×", "â†’", "→", "â€“",
	"–", "âˆ’", "−",
	"Â±", "±", "â‰ˆ", "≈", "Âµ", "µ")

// readBounded reads all of r. isOwn is whether it is a results.json, which may be larger.
func readBounded(r io.Reader) (text []byte, isOwn bool, err error) {
	text, err = io.ReadAll(io.LimitReader(r, maxResultsBytes+1))
	if err != nil {
		return nil, false, &InputError{err.Error(), shapes, "give a file that can be read"}
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	limit := maxBytes
	if isOwn = isResults(text); isOwn {
		limit = maxResultsBytes
	}
	if len(text) > limit {
		return nil, false, &InputError{fmt.Sprintf("more than %d MiB", limit>>20),
			fmt.Sprintf("at most %d MiB", limit>>20), "check it in parts"}
	}
	return text, isOwn, nil
}

// isResults reports whether a document is a results.json: by its members.
func isResults(text []byte) bool {
	var members struct {
		Schema json.RawMessage `json:"schema"`
		Rows   []struct {
			Setting json.RawMessage `json:"setting"`
			Runs    json.RawMessage `json:"runs"`
		} `json:"rows"`
	}
	if head := bytes.TrimSpace(text); len(head) == 0 || head[0] != '{' {
		return false
	}
	if json.Unmarshal(text, &members) != nil {
		return bytes.HasPrefix(bytes.Join(bytes.Fields(text[:min(len(text), 64)]), nil),
			[]byte(`{"schema":`))
	}
	isRows := len(members.Rows) > 0 && members.Rows[0].Setting != nil && members.Rows[0].Runs != nil
	return members.Schema != nil || isRows
}

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
