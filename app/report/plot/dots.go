package plot

import (
	"fmt"
	"math"
)

// Dots is a chart with a row of dots for each thing that was measured several times, under headings.
type Dots struct {
	Head
	X      string // name of the axis, with its unit
	Groups []DotGroup
}

// DotGroup is a heading with its rows.
type DotGroup struct {
	Title string // "": no heading
	// IsOne says that the rows cannot be told apart; they stand in one shaded block.
	IsOne bool
	Rows  []DotRow
}

// DotRow is a row of [Dots].
type DotRow struct {
	Key, Label string
	Style      Style
	Values     []float64 // a dot for each
	Left       []float64 // values that do not count: hollow dots
	Middle     float64   // a tick
	Lo, Hi     float64   // the interval; NaN: none
	End        string    // written on the right
}

func (d Dots) describe() string {
	return "A row for each name: a dot for each run, a bar for the interval of the median, a tick for the " +
		"median. The values are in the table below the plot."
}

// Legend implements [Chart]: rows have their names beside them.
func (d Dots) Legend() []Named { return nil }

// Data implements [Chart]: a row for each dot, then the middle and the interval.
func (d Dots) Data() [][]string {
	rows := [][]string{{"group", "row", "what", d.X}}
	for _, g := range d.Groups {
		for _, r := range g.Rows {
			add := func(what string, v float64) {
				if known(v) {
					rows = append(rows, []string{g.Title, rowName(r.Key, r.Label), what, exact(v)})
				}
			}
			for i, v := range r.Values {
				add(fmt.Sprintf("run %d", i+1), v)
			}
			for _, v := range r.Left {
				add("left out", v)
			}
			add("middle", r.Middle)
			add("interval from", r.Lo)
			add("interval to", r.Hi)
		}
	}
	return rows
}

// dotHeading is the height of a heading.
const dotHeading = 24

func (d Dots) rows() (r rows, headings float64) {
	r = rows{beside: 26, above: 42}
	for _, g := range d.Groups {
		headings += g.heading()
		for _, one := range g.Rows {
			r.names = append(r.names, rowName(one.Key, one.Label))
		}
	}
	return r, headings
}

func (g DotGroup) heading() float64 {
	if g.Title == "" {
		return 0
	}
	return dotHeading
}

func (d Dots) wide() frame {
	r, headings := d.rows()
	return r.frame(d.Head.wide(), headings, 128)
}

func (d Dots) narrow() frame {
	r, headings := d.rows()
	return r.frame(d.Head.narrow(), headings, 16)
}

// axis covers all values. It is logarithmic where on a linear one the least would be a twelfth of the width.
func (d Dots) axis(f frame) (x axis, name string) {
	const logFrom = 12
	var all [][]float64
	for _, g := range d.Groups {
		for _, r := range g.Rows {
			all = append(all, r.Values, r.Left, []float64{r.Middle, r.Lo, r.Hi})
		}
	}
	lo, hi := span(all...)
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
	r, _ := d.rows()
	height, top := r.height(f), f.top
	for i, g := range d.Groups {
		rows := height * float64(len(g.Rows))
		if g.IsOne && len(g.Rows) > 1 {
			c.rect(0, top, f.width, g.heading()+rows, "block", "")
		}
		if i > 0 {
			c.line(0, top, f.width, top, "divide")
		}
		if g.Title != "" {
			c.text(8, top+16, "heading", "start", g.Title)
			top += dotHeading
		}
		drawGrid(c, x, top, top+rows)
		for _, r := range g.Rows {
			d.drawRow(c, f, x, r, top, height)
			top += height
		}
	}
}

func (d Dots) drawRow(c canvas, f frame, x axis, r DotRow, top, height float64) {
	y, name := top+height/2, rowName(r.Key, r.Label)
	endX, endY, anchor := f.width-f.right+12, y+4, "start"
	if !f.isWide {
		y = top + height - 12
		endX, endY, anchor = f.width-16, top+14, "end"
	}
	drawName(c, f, name, top, y, nameWidth(r.End))
	c.text(endX, endY, "tick", anchor, r.End)
	if known(r.Lo) && known(r.Hi) {
		c.rect(x.pixel(r.Lo), y-4, math.Max(x.pixel(r.Hi)-x.pixel(r.Lo), 1), 8,
			"interval "+r.Style.class(), fmt.Sprintf("%s: %s to %s", name, digits(r.Lo), digits(r.Hi)))
	}
	mark := func(v float64, class, more string) {
		if known(v) {
			c.marks([]point{{x: x.pixel(v), y: y}}, r.Style, class, name+": "+digits(v)+more)
		}
	}
	for _, v := range r.Left {
		mark(v, "hollow", ", left out")
	}
	for _, v := range r.Values {
		mark(v, "mark", "")
	}
	if known(r.Middle) {
		c.line(x.pixel(r.Middle), y-9, x.pixel(r.Middle), y+9, "middle "+r.Style.class())
	}
}
