package table

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Measure finds what columns mean, in three passes over rows: See of all rows of the training file, Count of
// those that are trained on, then Spread of the same. Sums are taken in the order of rows, in float64. Memory
// does not grow with rows.
type Measure struct {
	columns []measured
	label   string
}

// measured is a column that is being measured.
type measured struct {
	name     string
	isNumber bool
	fault    string // the first value that is no number, and where
	beyond   string // the first number that is no finite float32, and where
	seen     map[string]bool
	missing  int // rows without a value

	n, sum, squares float64
}

// NewMeasure returns one of columns with these names, beside that of the label.
func NewMeasure(names []string, label string) *Measure {
	m := &Measure{label: strings.Clone(label)}
	for _, name := range names {
		m.columns = append(m.columns, measured{name: strings.Clone(name), isNumber: true,
			seen: map[string]bool{}})
	}
	return m
}

// See takes a row of the first pass, which says what is a number. place says where it is, for errors.
func (m *Measure) See(row []string, place func() string) {
	for i := range m.columns {
		text, c := row[i], &m.columns[i]
		if isMissing(text) {
			continue
		}
		x, err := strconv.ParseFloat(text, 64)
		switch {
		case math.Abs(x) > math.MaxFloat32: // with an error if it is beyond float64, too
			if c.beyond == "" {
				c.beyond = fmt.Sprintf("%.40s in %s", text, place())
			}
		case err != nil && c.isNumber:
			c.isNumber, c.fault = false, fmt.Sprintf("%.40q in %s", text, place())
		}
	}
}

// Count takes a row of the second pass, which finds means and categories. It returns a *ValueError for a
// column of numbers not all of which are finite, or of too many categories.
func (m *Measure) Count(row []string) error {
	for i := range m.columns {
		text, c := row[i], &m.columns[i]
		switch {
		case isMissing(text):
			c.missing++
		case c.isNumber && c.beyond != "":
			return &ValueError{c.name, c.beyond + ", want a finite number"}
		case c.isNumber:
			x, _ := strconv.ParseFloat(text, 64)
			c.n, c.sum = c.n+1, c.sum+x
		case !c.seen[text]:
			if len(c.seen) == MaxCategories {
				return &ValueError{c.name, fmt.Sprintf("more than %d values that are not all numbers, the "+
					"first %s; want a number or at most %[1]d categories", MaxCategories, c.fault)}
			}
			c.seen[strings.Clone(text)] = true
		}
	}
	return nil
}

// Spread takes a row of the third pass, which finds deviations.
func (m *Measure) Spread(row []string) {
	for i := range m.columns {
		c := &m.columns[i]
		if !c.isNumber || isMissing(row[i]) {
			continue
		}
		x, _ := strconv.ParseFloat(row[i], 64)
		d := x - c.mean()
		c.squares += float64(d * d)
	}
}

func (c *measured) mean() float64 { return c.sum / max(c.n, 1) }

// Table returns what was found.
func (m *Measure) Table() *Table {
	t := &Table{Label: m.label}
	for _, c := range m.columns {
		to := Column{Name: c.name, IsNumber: c.isNumber}
		if c.isNumber {
			to.Mean, to.Std, to.IsMarked = float32(c.mean()), float32(math.Sqrt(c.squares/max(c.n, 1))),
				c.missing > 0
			if to.Std == 0 {
				to.Std = 1
			}
		}
		for text := range c.seen {
			to.Categories = append(to.Categories, text)
		}
		slices.Sort(to.Categories)
		t.Columns = append(t.Columns, to)
	}
	return t
}

// Missing returns how many of the counted rows have no value in each column.
func (m *Measure) Missing() (counts []int) {
	for _, c := range m.columns {
		counts = append(counts, c.missing)
	}
	return counts
}
