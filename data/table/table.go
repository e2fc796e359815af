package table

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"lockstep/internal/spelling"
)

// MaxCategories bounds the values of a column that is no number, MaxColumns the columns of a table.
const (
	MaxCategories = 256
	MaxColumns    = 1 << 10
)

// Table is what the columns of a table mean, in the order of a network's channels.
type Table struct {
	Columns []Column `json:"columns"`
	// Label is the name of the column that the network learned to tell; no column of the table.
	Label string `json:"label,omitempty"`
	// Weight is the name of that with the weights of training rows, likewise.
	Weight string `json:"weight,omitempty"`
}

// Column is one column.
type Column struct {
	Name string `json:"name"`
	// IsNumber says that values are numbers; else they are Categories, each with a channel.
	IsNumber   bool     `json:"number,omitempty"`
	Categories []string `json:"categories,omitempty"`
	// Mean and Std standardise numbers: (x - Mean) / Std.
	Mean float32 `json:"mean,omitempty"`
	Std  float32 `json:"std,omitempty"`
	// IsMarked says that one more channel is 1 where a number is missing.
	IsMarked bool `json:"marked,omitempty"`
}

// ValueError says what is wrong with a value of a row.
type ValueError struct{ Column, Reason string }

// Error names the column.
func (e *ValueError) Error() string { return fmt.Sprintf("column %.80q: %s", e.Column, e.Reason) }

// HeaderError says what is wrong with the columns of a file, or with the names in a row.
type HeaderError struct{ Reason string }

// Error returns the reason.
func (e *HeaderError) Error() string { return e.Reason }

// isMissing reports whether a field has no value: nothing, ?, NA, N/A, NaN or null.
func isMissing(text string) bool {
	return text == "" || text == "?" || slices.ContainsFunc([]string{"na", "n/a", "nan", "null"},
		func(name string) bool { return strings.EqualFold(text, name) })
}

// channels returns how many channels the column takes.
func (c *Column) channels() int {
	switch {
	case !c.IsNumber:
		return len(c.Categories)
	case c.IsMarked:
		return 2
	}
	return 1
}

// Channels returns how many numbers a row gives.
func (t *Table) Channels() (n int) {
	for i := range t.Columns {
		n += t.Columns[i].channels()
	}
	return n
}

// Scale returns by what each channel is normalised, (x - mean) / std: 0 and 1 of those that are 0 or 1.
func (t *Table) Scale() (mean, std []float32) {
	for _, c := range t.Columns {
		for k := range c.channels() {
			if c.IsNumber && k == 0 {
				mean, std = append(mean, c.Mean), append(std, c.Std)
			} else {
				mean, std = append(mean, 0), append(std, 1)
			}
		}
	}
	return mean, std
}

// Append appends the channels of a row, whose fields are in the order of Columns, before normalisation.
func (t *Table) Append(to []float32, row []string) ([]float32, error) {
	if len(row) != len(t.Columns) {
		return to, &HeaderError{fmt.Sprintf("%d values, want %d", len(row), len(t.Columns))}
	}
	for i := range t.Columns {
		var err error
		if to, err = t.Columns[i].append(to, row[i]); err != nil {
			return to, err
		}
	}
	return to, nil
}

// CheckRow returns the error that Append would return.
func (t *Table) CheckRow(row []string) error {
	if len(row) != len(t.Columns) {
		return &HeaderError{fmt.Sprintf("%d values, want %d", len(row), len(t.Columns))}
	}
	for i := range t.Columns {
		if c := &t.Columns[i]; c.IsNumber {
			if _, err := c.number(row[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *Column) append(to []float32, text string) ([]float32, error) {
	one := func(is bool) float32 {
		if is {
			return 1
		}
		return 0
	}
	if !c.IsNumber {
		for _, known := range c.Categories {
			to = append(to, one(known == text))
		}
		return to, nil
	}
	x, err := c.number(text)
	if err != nil {
		return to, err
	}
	to = append(to, x)
	if c.IsMarked {
		to = append(to, one(isMissing(text)))
	}
	return to, nil
}

// number returns the value of a column of numbers, which is the mean where there is none.
func (c *Column) number(text string) (float32, error) {
	if isMissing(text) {
		return c.Mean, nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.Abs(x) > math.MaxFloat32 {
		return 0, &ValueError{c.Name, fmt.Sprintf("%.40q, want a finite number", text)}
	}
	return float32(x), nil
}

// isKnown reports whether a value is missing, a number or a category that training rows had.
func (c *Column) isKnown(text string) bool {
	return c.IsNumber || isMissing(text) || slices.Contains(c.Categories, text)
}

// Places returns where the columns are in a file with this header, and the names in it that the table does
// not use, without those of label and weight. It returns a *HeaderError for a column that is not there or
// there twice.
func (t *Table) Places(header []string) (at []int, unused []string, err error) {
	places := map[string]int{}
	for i, name := range header {
		name = strings.TrimSpace(name)
		if before, isTwice := places[name]; isTwice && name != "" {
			return nil, nil, &HeaderError{fmt.Sprintf("columns %d and %d are both called %.80q", before+1,
				i+1, name)}
		}
		places[name] = i
	}
	var lacking []string
	for _, c := range t.Columns {
		if i, isThere := places[c.Name]; isThere {
			at = append(at, i)
		} else {
			lacking = append(lacking, c.Name)
		}
		delete(places, c.Name)
	}
	if lacking != nil {
		return nil, nil, &HeaderError{"no column " + spelling.Few(lacking) + ", which the training file has"}
	}
	for _, name := range []string{t.Label, t.Weight} {
		if name != "" { // a column of the file may have no name
			delete(places, name)
		}
	}
	unused = slices.SortedFunc(maps.Keys(places), func(a, b string) int { return places[a] - places[b] })
	return at, unused, nil
}

// Pick returns the fields at places, without the space around them.
func Pick(fields []string, at []int) []string {
	row := make([]string, len(at))
	for i, place := range at {
		row[i] = strings.TrimSpace(fields[place])
	}
	return row
}

// Row returns the fields of a row that is given by names, with values as JSON is decoded with UseNumber:
// strings, numbers, booleans, and nil for what is missing. It returns a *HeaderError for a name that is not
// there or that the table has not, but for those of label and weight, and a *ValueError for other values.
func (t *Table) Row(values map[string]any) ([]string, error) {
	row, used := make([]string, len(t.Columns)), 0
	for i, c := range t.Columns {
		value, isThere := values[c.Name]
		if !isThere {
			return nil, &HeaderError{fmt.Sprintf("no %.80q; give null where there is no value", c.Name)}
		}
		used++
		switch v := value.(type) {
		case nil:
		case string:
			row[i] = strings.TrimSpace(v)
		case []any, map[string]any:
			return nil, &ValueError{c.Name, "a list or an object, want a number, a text or null"}
		default:
			row[i] = fmt.Sprint(v)
		}
	}
	others := []string{t.Label, t.Weight}
	for _, name := range others {
		if _, isThere := values[name]; isThere && name != "" {
			used++
		}
	}
	if used < len(values) {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			isColumn := func(c Column) bool { return c.Name == name }
			if !slices.Contains(others, name) && !slices.ContainsFunc(t.Columns, isColumn) {
				return nil, &HeaderError{fmt.Sprintf("%.80q is no column, want %s", name,
					spelling.Few(t.Names()))}
			}
		}
	}
	return row, nil
}

// Names lists the columns.
func (t *Table) Names() (names []string) {
	for _, c := range t.Columns {
		names = append(names, c.Name)
	}
	return names
}

// Unknown lists the columns of a row that have categories which training rows had not.
func (t *Table) Unknown(row []string) (names []string) {
	for i := range t.Columns {
		if i < len(row) && !t.Columns[i].isKnown(row[i]) {
			names = append(names, t.Columns[i].Name)
		}
	}
	return names
}

// Check returns what is wrong with a table that a file of weights has; a *HeaderError.
func (t *Table) Check() error {
	refuse := func(format string, args ...any) error { return &HeaderError{fmt.Sprintf(format, args...)} }
	if n := len(t.Columns); n < 1 || n > MaxColumns {
		return refuse("%d columns, want 1 to %d", n, MaxColumns)
	}
	names := map[string]bool{}
	for _, c := range t.Columns {
		isFinite := math.Abs(float64(c.Mean)) <= math.MaxFloat32 && c.Std <= math.MaxFloat32
		switch {
		case names[c.Name]:
			return refuse("two columns %.80q", c.Name)
		case c.IsNumber && (len(c.Categories) > 0 || !isFinite || !(c.Std > 0)):
			return refuse("column %.80q: mean %v, deviation %v, %d categories", c.Name, c.Mean, c.Std,
				len(c.Categories))
		case len(c.Categories) > MaxCategories || c.IsMarked && !c.IsNumber:
			return refuse("column %.80q: %d categories", c.Name, len(c.Categories))
		}
		names[c.Name] = true
	}
	if t.Channels() == 0 {
		return refuse("no column with a value")
	}
	return nil
}
