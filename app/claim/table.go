package claim

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// table is one table of a document.
type table struct {
	number  int    // from 1
	caption string // heading and sentence above it
	heading string // of the part of the document that it is in, in the words of [normal]
	under   string // the last heading above it, of any depth
	about   string // what its caption names behind a point, likewise: "lenet" of "Step time · lenet"
	columns []column
	rows    [][]cell
	facts   facts
	guesses map[string]bool // marks of footnotes by which a row is a projection
	entries []*entry

	guessedAt []float64 // numbers of workers that the text says nobody measured

	aliases map[string][]alias // names of the entries by their first word; set only if there are sentences

	isOnce bool // the text says that each row was measured once, which decides nothing
	// hasNoRatios says that the text gives no speed-ups, because of what others did to the baseline's times.
	hasNoRatios bool
	measured    []*entry // those that are not projected
	base        *entry   // the baseline of these; nil: none

	isHostCores bool // its column of cores is read as that of the machine's: see settleCores
}

// facts is what a document says about all its rows.
type facts struct {
	cores    float64 // of the machine; NaN: not said
	classes  int     // of the data set; 0: not said
	repeats  float64 // runs behind every row; NaN: not said
	samples  float64 // of an epoch; NaN: not said
	compares bool    // a sentence compares rows or explains them
	hasMore  bool    // a total holds more than its epochs: evaluations, or starting
}

// entry is one configuration: a row, or the rows that repeat it or tell of its ranks.
type entry struct {
	table *table
	name  string
	rows  []int

	isProjected bool // it is said not to be measured
}

// newTable sorts out columns and rows. The first line is the heading, unless the table lies on its side:
// then the first cells of the lines are.
func newTable(caption string, lines [][]string, known []pattern) (*table, error) {
	lines = upright(lines, known)
	if len(lines) == 0 || len(lines[0]) == 0 {
		return &table{caption: caption}, nil
	}
	if len(lines)-1 > maxRows || len(lines[0]) > maxColumns {
		return nil, inputf("a table of %d rows and %d columns", "at most %d and %d",
			"check it in parts", len(lines)-1, len(lines[0]), maxRows, maxColumns)
	}
	lines = append(lines[:1:1], withoutPoints(lines[1:])...)
	t := &table{caption: caption}
	for _, header := range lines[0] {
		t.columns = append(t.columns, readHeading(header, known))
	}
	for _, line := range lines[1:] {
		row := make([]cell, len(t.columns))
		for i := range row {
			if i < len(line) {
				row[i] = parseCell(line[i])
			} else {
				row[i] = parseCell("")
			}
		}
		t.rows = append(t.rows, row)
	}
	t.settle()
	t.settleNames()
	t.group()
	return t, nil
}

// upright returns the lines of a table whose columns have headings. In a table on its side most of the first
// cells are headings, and few of the first line are.
func upright(lines [][]string, known []pattern) [][]string {
	if len(lines) < 3 || len(lines[0]) < 2 {
		return lines
	}
	across, down := 0, 0
	for _, h := range lines[0][1:] {
		if k := readHeading(h, known).kind; k != unknown && k != label {
			across++
		}
	}
	for _, line := range lines[1:] {
		if len(line) > 0 {
			if k := readHeading(line[0], known).kind; k != unknown && k != label {
				down++
			}
		}
	}
	if down < 3 || down <= 2*across {
		return lines
	}
	out := make([][]string, len(lines[0]))
	for i := range out {
		for _, line := range lines {
			text := ""
			if i < len(line) {
				text = line[i]
			}
			out[i] = append(out[i], text)
		}
	}
	return out
}

// group gathers the rows of each configuration into an entry.
func (t *table) group() {
	byKey := map[string]*entry{}
	hasTime := slices.ContainsFunc(t.columns, func(c column) bool { return c.kind == position })
	for r := range t.rows {
		var key []string
		for i, c := range t.columns {
			if c.identifies() && !(c.kind == rate && hasTime) {
				key = append(key, strings.ToLower(t.rows[r][i].text))
			}
		}
		if !t.tells() {
			key = append(key, fmt.Sprint(r)) // nothing tells these rows apart; each is by itself
		}
		k := strings.Join(key, "\x00")
		if byKey[k] == nil {
			byKey[k] = &entry{table: t}
			t.entries = append(t.entries, byKey[k])
		}
		byKey[k].rows = append(byKey[k].rows, r)
	}
	t.name()
}

// name gives every entry a name: the cells that say what it is, as far as they tell it from the others, or
// its row's number.
func (t *table) name() {
	seen := map[string]int{}
	for i, c := range t.columns {
		if !c.identifies() {
			continue
		}
		clear(seen)
		for _, e := range t.entries {
			seen[e.name]++
		}
		for _, e := range t.entries {
			text := t.rows[e.rows[0]][i].text
			isPlain := c.kind == label || c.kind == strategy
			if text != "" && (e.name == "" || seen[e.name] > 1 && (t.varies(c.kind) || isPlain)) {
				e.name = strings.TrimSpace(e.name + " " + named(c, text))
			}
		}
	}
	clear(seen)
	for _, e := range t.entries {
		seen[e.name]++
	}
	for _, e := range t.entries {
		if row := fmt.Sprintf("row %d", e.rows[0]+1); e.name == "" {
			e.name = row
		} else if seen[e.name] > 1 {
			e.name += " (" + row + ")"
		}
	}
}

// named writes a cell that tells rows apart: a number with what it counts.
func named(c column, text string) string {
	if c.kind.isName() {
		return text
	}
	word := c.name
	if c.kind == batchPer {
		word = "batch each"
	}
	return word + " " + text
}

// tells reports whether a column says why rows may be alike in all others: repeat, seed, rank or position.
func (t *table) tells() bool {
	return slices.ContainsFunc(t.columns, func(c column) bool { return c.kind.tellsApart() })
}

// has reports whether the table has a column of a kind.
func (t *table) has(k kind) bool { return t.column(k) >= 0 }

// column returns the number of the first column of a kind; -1: none.
func (t *table) column(k kind) int {
	return slices.IndexFunc(t.columns, func(c column) bool { return c.kind == k })
}

// cell returns the entry's first cell of a kind that holds a number; its value is NaN if there is none.
func (e *entry) cell(k kind) cell {
	if i := e.table.column(k); i >= 0 {
		return e.at(i)
	}
	return parseCell("")
}

// at returns the entry's last row's number in a column if rows are times of a run, else its first.
func (e *entry) at(i int) cell {
	rows := e.rows
	if e.table.has(position) {
		rows = slices.Clone(rows)
		slices.Reverse(rows)
	}
	for _, r := range rows {
		if c := e.table.rows[r][i]; !math.IsNaN(c.value) {
			return c
		}
	}
	return parseCell("")
}

// value returns the number of a kind; the median of the repeated runs where there are some.
func (e *entry) value(k kind) float64 {
	if v := e.values(k); len(v) > 1 {
		return median(v)
	}
	return e.cell(k).value
}

// text returns the entry's text in the first column of a kind.
func (e *entry) text(k kind) string {
	if i := e.table.column(k); i >= 0 {
		return e.table.rows[e.rows[0]][i].text
	}
	return ""
}

// values returns one number of each repeated run: rows that differ in repeat or seed. Ranks of one run are
// one value, the largest; of times of a run the last counts.
func (e *entry) values(k kind) []float64 {
	_, out := e.runs(k)
	return out
}

// runs is values with the repeat and seed of each.
func (e *entry) runs(k kind) (ids []string, out []float64) {
	i := e.table.column(k)
	if i < 0 {
		return nil, nil
	}
	isTime := e.table.has(position)
	for _, r := range e.rows {
		v := e.table.rows[r][i].value
		if math.IsNaN(v) {
			continue
		}
		id := ""
		for j, c := range e.table.columns {
			if c.kind == repeat || c.kind == seed {
				id += e.table.rows[r][j].text + "\x00"
			}
		}
		if at := slices.Index(ids, id); at >= 0 {
			if isTime || v > out[at] {
				out[at] = v
			}
			continue
		}
		ids, out = append(ids, id), append(out, v)
	}
	if list, all := e.listed(i); len(all) > 1 {
		return list, all
	}
	return ids, out
}
