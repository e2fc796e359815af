package plot

import (
	"fmt"
	"math"
	"strings"
)

// Dots is a chart with a row of dots for each thing that was measured several times, under headings.
type Dots struct {
	X      string // name of the axis, with its unit
	Groups []DotGroup
}

// DotGroup is a heading with its rows.
type DotGroup struct {
	Title string
	// IsOne says that the rows cannot be told apart; they stand in one shaded block.
	IsOne bool
	Rows  []DotRow
}

// DotRow is a row of [Dots].
type DotRow struct {
	Name   string
	Style  Style
	Values []float64 // a dot for each
	Left   []float64 // values that do not count: hollow dots
	Middle float64   // a tick
	Lo, Hi float64   // the interval; NaN: none
	End    string    // written on the right
}

// Legend implements [Chart]: rows have their names beside them.
func (d Dots) Legend() []Named { return nil }

// Data implements [Tabular]: a row for each row of dots; values that do not count are in parentheses.
func (d Dots) Data() [][]any {
	all := [][]any{{"row", "median, " + d.X, "from", "to", "runs", "group"}}
	for _, g := range d.Groups {
		for _, r := range g.Rows {
			var runs []string
			for _, v := range r.Values {
				runs = append(runs, digits(v))
			}
			for _, v := range r.Left {
				runs = append(runs, "("+digits(v)+")")
			}
			all = append(all, []any{r.Name, r.Middle, r.Lo, r.Hi, strings.Join(runs, " "),
				g.Title})
		}
	}
	return all
}

// dotHeading is the height of a heading.
const dotHeading = 24

func (d Dots) rows() rows {
	r := rows{beside: 26, above: 42}
	for _, g := range d.Groups {
		for _, one := range g.Rows {
			r.names = append(r.names, one.Name)
		}
	}
	return r
}

func (d Dots) frame(f frame) frame {
	end := 16.0
	if f.isWide {
		end = 128
	}
	return d.rows().frame(f, dotHeading*float64(len(d.Groups)), end)
}

// axis covers all dots, and intervals as far as half of the least and twice the greatest: that of two runs
// may span powers of ten. It is logarithmic where on a linear one the least would be a twelfth of the width.
func (d Dots) axis(f frame) (x axis, name string) {
	const logFrom = 12
	var dots, ends [][]float64
	for _, g := range d.Groups {
		for _, r := range g.Rows {
			dots = append(dots, r.Values, r.Left, []float64{r.Middle})
			ends = append(ends, []float64{r.Lo, r.Hi})
		}
	}
	lo, hi := span(dots...)
	from, to := span(append(ends, []float64{lo, hi})...)
	lo, hi = math.Min(lo, math.Max(from, lo/2)), math.Max(hi, math.Min(to, 2*hi))
	if lo > 0 && hi > logFrom*lo {
		return newLogAxis(lo, hi, f.left, f.width-f.right), d.X + ", logarithmic"
	}
	ticks := 8
	if !f.isWide {
		ticks = 5
	}
	return newAxis(lo, hi, ticks, f.left, f.width-f.right), d.X
}

func (d Dots) draw(c canvas, f frame) {
	x, name := d.axis(f)
	drawScale(c, f, x, name)
	height, top := d.rows().height(f), f.top
	for i, g := range d.Groups {
		rows := height * float64(len(g.Rows))
		if g.IsOne && len(g.Rows) > 1 {
			c.rect(0, top, f.width, dotHeading+rows, "block", "")
		}
		if i > 0 {
			c.line(0, top, f.width, top, "divide")
		}
		c.text(8, top+16, "heading", "start", g.Title)
		top += dotHeading
		drawGrid(c, x, top, top+rows)
		for _, r := range g.Rows {
			d.drawRow(c, f, x, r, top, height)
			top += height
		}
	}
}

func (d Dots) drawRow(c canvas, f frame, x axis, r DotRow, top, height float64) {
	y := top + height/2
	endX, endY, anchor := f.width-f.right+12, y+4, "start"
	if !f.isWide { // the name stands on the same line
		r.End, _, _ = strings.Cut(r.End, " · ")
		y = top + height - 12
		endX, endY, anchor = f.width-16, top+14, "end"
	}
	drawName(c, f, r.Name, top, y, nameWidth(r.End))
	c.text(endX, endY, "tick", anchor, r.End)
	if known(r.Lo) && known(r.Hi) {
		c.rect(x.pixel(r.Lo), y-4, math.Max(x.pixel(r.Hi)-x.pixel(r.Lo), 1), 8,
			"interval "+r.Style.class(), fmt.Sprintf("%s: %s to %s", r.Name, digits(r.Lo), digits(r.Hi)))
	}
	mark := func(v float64, class, more string) {
		c.marks([]point{{x.pixel(v), y}}, r.Style, class, r.Name+": "+digits(v)+more)
	}
	for _, v := range r.Left {
		mark(v, "hollow", ", left out")
	}
	for _, v := range r.Values {
		mark(v, "mark", "")
	}
	c.line(x.pixel(r.Middle), y-9, x.pixel(r.Middle), y+9, "middle "+r.Style.class())
}
