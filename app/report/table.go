package report

import (
	"html/template"
	"math"
	"slices"
	"strings"

	"lockstep/internal/spelling"
)

// table is a table as every format shows it.
type table struct {
	Name string // read out by screen readers
	Head []heading
	Rows []row
}

type heading struct {
	Text, Unit string
	IsProse    bool // words, which stand on the left; numbers stand on the right
}

func (h heading) String() string {
	if h.Unit == "" {
		return h.Text
	}
	return h.Text + ", " + h.Unit
}

type row struct {
	Class string
	Cells []cell
}

// cell is one value with a smaller second line.
type cell struct {
	Text, Small string
	Code        string        // the full value of a shortened one
	Link        string        // id of the samples behind it; "": none
	Span        int           // columns it covers, if more than one
	Swatch      template.HTML // sample of the line's style
}

// String joins the lines of a cell, for formats that have one.
func (c cell) String() string {
	if c.Small == "" {
		return c.Text
	}
	return c.Text + " (" + c.Small + ")"
}

// Rest counts the columns that it covers besides its own.
func (c cell) Rest() int { return max(c.Span-1, 0) }

// IsLong reports whether the text may take several lines; numbers stay on one.
func (c cell) IsLong() bool {
	const most = 14 // characters
	return len([]rune(c.Text)) > most
}

// column says how the cells of a column follow from what the rows of a table are about.
type column[T any] struct {
	heading
	value    func(T) cell
	bytes    func(T) float64 // instead of value: bytes, which get the unit of the largest
	isInline bool            // it stands in a terminal too
}

// col is a column of texts.
func col[T any](name, unit string, value func(T) string) column[T] {
	return cells(name, unit, func(v T) cell { return cell{Text: value(v)} })
}

// cells is a column of cells.
func cells[T any](name, unit string, value func(T) cell) column[T] {
	return column[T]{heading: heading{Text: name, Unit: unit}, value: value}
}

// bytesOf is a column of bytes, all in one unit.
func bytesOf[T any](name string, value func(T) float64) column[T] {
	return column[T]{heading: heading{Text: name}, bytes: value}
}

// inline adds a column to those of a terminal.
func (c column[T]) inline() column[T] {
	c.isInline = true
	return c
}

// tableOf has a row for each item, without the columns that no item has a value for.
func tableOf[T any](name string, items []T, columns ...column[T]) table {
	t := table{Name: name, Rows: make([]row, len(items))}
	for at, c := range columns {
		list := c.cells(items)
		isEmpty := !slices.ContainsFunc(list, func(one cell) bool {
			return one.Text != dash && one.Text != ""
		})
		if at > 0 && isEmpty {
			continue
		}
		t.Head = append(t.Head, c.heading)
		for i := range items {
			t.Rows[i].Cells = append(t.Rows[i].Cells, list[i])
		}
	}
	return t.aligned()
}

// cells returns the cells of a column. One of bytes says its unit in its heading.
func (c *column[T]) cells(items []T) []cell {
	list := make([]cell, len(items))
	if c.bytes == nil {
		for i, item := range items {
			list[i] = c.value(item)
		}
		return list
	}
	most := 0.0
	for _, item := range items {
		if v := c.bytes(item); known(v) {
			most = math.Max(most, v)
		}
	}
	size, unit := spelling.DecimalUnit(most)
	c.Unit = unit
	for i, item := range items {
		list[i].Text = digits(c.bytes(item)/size, 3)
	}
	return list
}

// aligned returns the table with the columns marked whose cells begin with no figure.
func (t table) aligned() table {
	for at := range t.Head {
		words := 0
		for _, r := range t.Rows {
			if at >= len(r.Cells) || r.Cells[at].Text == dash || r.Cells[at].Code != "" {
				continue
			}
			if strings.ContainsAny(r.Cells[at].Text[:min(1, len(r.Cells[at].Text))], "0123456789(<-") {
				words--
			} else {
				words++
			}
		}
		t.Head[at].IsProse = words >= 0
	}
	return t
}

// IsTerse reports whether the first column, which stays in place on a phone, is narrow.
func (t table) IsTerse() bool {
	const most = 8 // characters
	return !slices.ContainsFunc(t.Rows, func(r row) bool { return len([]rune(r.Cells[0].Text)) > most })
}

// block is a table with a title. On the page it is open, or opened by the reader.
type block struct {
	ID             string // on a page; "": none
	Title, Caption string
	Table          table
	IsOpen         bool
}

// filled leaves out tables without rows.
func filled(all ...block) []block {
	return slices.DeleteFunc(all, func(b block) bool { return len(b.Table.Rows) == 0 })
}
