package claim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// member is one member of a JSON object; objects keep the order of their members, as tables need it.
type member struct {
	name  string
	value any
}

// maxDepth is how deep JSON may nest.
const maxDepth = 16

// readJSON reads a list of rows, or an object with rows or tables, claims and facts.
func (d *Document) readJSON(text []byte) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	value, err := readValue(dec, 0)
	if err == nil && dec.More() {
		err = fmt.Errorf("more than one JSON document")
	}
	if err != nil {
		return inputf("%v", shapes, "correct the JSON", err)
	}
	object, isObject := value.([]member)
	if !isObject {
		return d.addJSON("", nil, value)
	}
	return d.readObject(object)
}

// readObject reads caption, columns, rows, tables, claims, classes, cores and machine.
func (d *Document) readObject(object []member) error {
	var caption string
	var columns, rows any
	for _, m := range object {
		var err error
		switch strings.ToLower(m.name) {
		case "caption", "title", "name":
			caption = textOf(m.value)
		case "columns", "header":
			columns = m.value
		case "rows", "results", "data", "table":
			rows = m.value
		case "tables":
			err = forEach(m.value, d.readTable)
		case "claims", "sentences", "statements":
			err = forEach(m.value, func(one any) error { return d.say(textOf(one), 0, false) })
		default:
			d.readFact(m)
		}
		if err != nil {
			return err
		}
	}
	if rows == nil {
		return nil
	}
	return d.addJSON(caption, columns, rows)
}

// forEach calls read with each value of a list; another value has none.
func forEach(value any, read func(any) error) error {
	list, _ := value.([]any)
	for _, one := range list {
		if err := read(one); err != nil {
			return err
		}
	}
	return nil
}

// readFact reads a member that says something about all rows.
func (d *Document) readFact(m member) {
	switch strings.ToLower(m.name) {
	case "classes":
		if v, _, ok := parseNumber(textOf(m.value)); ok && v >= 2 && v <= 1e6 {
			d.facts.classes = int(v)
		}
	case "cores":
		d.facts.cores = coresOf(textOf(m.value))
	case "machine", "host":
		inner, _ := m.value.([]member)
		for _, m := range inner {
			if strings.EqualFold(m.name, "cores") {
				d.facts.cores = coresOf(textOf(m.value))
			}
		}
	default:
		d.unread = append(d.unread, fmt.Sprintf("member %.80q", m.name))
	}
}

func (d *Document) readTable(one any) error {
	object, isObject := one.([]member)
	if !isObject {
		return d.addJSON("", nil, one)
	}
	return d.readObject(object)
}

// coresOf reads a number of cores; NaN: it is none.
func coresOf(text string) float64 {
	v, _, ok := parseNumber(text)
	if !ok || v < 1 || v > 1e6 {
		return math.NaN()
	}
	return v
}

// addJSON appends the table of a list of objects, or of lists below a list of columns.
func (d *Document) addJSON(caption string, columns, rows any) error {
	list, isList := rows.([]any)
	if !isList {
		return inputf("rows that are no list", shapes, "write \"rows\": [{...}, {...}]")
	}
	h, err := headerOf(columns, list)
	if err != nil {
		return err
	}
	lines := [][]string{h.names}
	for i, row := range list {
		line, err := h.line(i, row)
		if err != nil {
			return err
		}
		lines = append(lines, line)
		d.unread = append(d.unread, nested(i, h, row)...)
	}
	return d.add(caption, lines)
}

// nested lists the cells of row i that are lists or objects, whose figures nothing reads.
func nested(i int, h header, row any) []string {
	var out []string
	say := func(name string, value any) {
		switch value.(type) {
		case []any, []member:
			out = append(out, fmt.Sprintf("row %d: %.80q, which is no single value", i+1, name))
		}
	}
	switch row := row.(type) {
	case []member:
		for _, m := range row {
			say(m.name, m.value)
		}
	case []any:
		for j, v := range row {
			say(h.names[j], v)
		}
	}
	return out
}

// header is the names of a table's columns, with their places.
type header struct {
	names []string
	place map[string]int
}

// headerOf returns the columns that are listed, then the members of the rows in order of appearance.
func headerOf(columns any, rows []any) (header, error) {
	h := header{place: map[string]int{}}
	names, _ := columns.([]any)
	for _, name := range names {
		h.add(textOf(name))
	}
	for _, row := range rows {
		object, _ := row.([]member)
		for _, m := range object {
			h.add(m.name)
		}
		if len(h.names) > maxColumns || len(rows) > maxRows {
			return h, inputf("a table of %d rows and %d columns", "at most %d and %d", "check it in parts",
				len(rows), len(h.names), maxRows, maxColumns)
		}
	}
	return h, nil
}

// add appends a column that is not there yet.
func (h *header) add(name string) {
	if _, known := h.place[name]; !known {
		h.place[name] = len(h.names)
		h.names = append(h.names, name)
	}
}

// line returns the cells of row i.
func (h *header) line(i int, row any) ([]string, error) {
	line := make([]string, len(h.names))
	switch row := row.(type) {
	case []member:
		for _, m := range row {
			line[h.place[m.name]] = textOf(m.value)
		}
	case []any:
		if len(row) > len(line) {
			return nil, inputf("row %d has %d cells, there are %d columns", "as many", "name all columns",
				i+1, len(row), len(line))
		}
		for j, v := range row {
			line[j] = textOf(v)
		}
	default:
		return nil, inputf("row %d is neither an object nor a list", shapes,
			"write rows as {\"column\": value}", i+1)
	}
	return line, nil
}

// textOf writes a JSON value as the cell of a table.
func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return fmt.Sprint(v)
	}
	return ""
}

// readValue reads one JSON value: []member, []any, string, json.Number, bool or nil.
func readValue(dec *json.Decoder, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("JSON that nests deeper than %d", maxDepth)
	}
	token, err := nextToken(dec)
	if err != nil {
		return nil, err
	}
	delim, isDelim := token.(json.Delim)
	if !isDelim {
		return token, nil
	}
	if delim == '[' {
		return readList(dec, depth+1)
	}
	return readMembers(dec, depth+1)
}

// readList reads the values of a list up to its end, each as deep as depth says.
func readList(dec *json.Decoder, depth int) (any, error) {
	list := []any{}
	for dec.More() {
		v, err := readValue(dec, depth)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := nextToken(dec)
	return list, err
}

// readMembers reads the members of an object up to its end, their values as deep as depth says.
func readMembers(dec *json.Decoder, depth int) (any, error) {
	object, seen := []member{}, map[json.Token]bool{}
	for dec.More() {
		name, err := nextToken(dec)
		if err != nil {
			return nil, err
		}
		if seen[name] {
			return nil, fmt.Errorf("JSON with two members %.80q in one object", name)
		}
		seen[name] = true
		v, err := readValue(dec, depth)
		if err != nil {
			return nil, err
		}
		object = append(object, member{fmt.Sprint(name), v})
	}
	_, err := nextToken(dec)
	return object, err
}

// nextToken returns the next token of a document that has not ended.
func nextToken(dec *json.Decoder) (json.Token, error) {
	token, err := dec.Token()
	if errors.Is(err, io.EOF) {
		err = errors.New("JSON that ends early")
	}
	return token, err
}
