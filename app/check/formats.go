package check

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

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
	rows, err := r.ReadAll()
	if err != nil || len(rows) < 2 || len(rows[0]) < 2 {
		return false
	}
	d.addRows(rows)
	return true
}

// readJSON reads a list of objects, or an object of objects, as a table with a row for each.
func (d *Document) readJSON(source string) bool {
	var list []map[string]any
	var named map[string]map[string]any
	switch {
	case json.Unmarshal([]byte(source), &list) == nil:
	case json.Unmarshal([]byte(source), &named) == nil:
		for _, label := range slices.Sorted(maps.Keys(named)) {
			row := map[string]any{"": label} // the first column
			maps.Copy(row, named[label])
			list = append(list, row)
		}
	default:
		return false
	}
	heads := map[string]any{}
	for _, object := range list {
		maps.Copy(heads, object)
	}
	rows := [][]string{slices.Sorted(maps.Keys(heads))}
	for _, object := range list {
		var row []string
		for _, name := range rows[0] {
			if object[name] == nil {
				object[name] = ""
			}
			row = append(row, fmt.Sprint(object[name]))
		}
		rows = append(rows, row)
	}
	d.addRows(rows)
	return true
}

// addRows adds a table of rows, which are taken for lines.
func (d *Document) addRows(rows [][]string) {
	cells := make([][]cell, len(rows))
	for i, row := range rows {
		for _, text := range row {
			cells[i] = append(cells[i], cell{text, i + 1, 1})
		}
	}
	d.addTable(cells)
}
