package plot

import (
	"fmt"
	"html/template"
	"math"
)

// Dots is a chart with a row of dots for each thing that was measured several times, under headings.
type Dots struct {
	Head
	X      string // name of the axis, with its unit
	Format func(float64) string
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

// Markup implements [Chart].
func (d Dots) Markup() template.HTML { return both(d) }

// File implements [Chart].
func (d Dots) File(around Around) []byte { return file(alone{d, around}) }

// PNG implements [Chart].
func (d Dots) PNG(around Around) ([]byte, error) { return png(alone{d, around}) }

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

// Heights of headings and rows, wide and narrow.
const (
	dotHeading   = 24
	dotRow       = 26
	dotRowNarrow = 42
)

func (d Dots) wide() frame {
	f := d.Head.wide()
	f.left, f.right, f.top = nameWidth(d.names(), longestBeside), 128, 2
	f.height = d.height(f, dotRow)
	return f
}

func (d Dots) narrow() frame {
	f := d.Head.narrow()
	f.left, f.right, f.top = 12, 16, 2
	f.height = d.height(f, dotRowNarrow)
	return f
}

func (d Dots) names() (names []string) {
	for _, g := range d.Groups {
		for _, r := range g.Rows {
			names = append(names, rowName(r.Key, r.Label))
		}
	}
	return names
}

func (d Dots) cutNames() []string { return cutNames(d.names(), longestBeside) }

func (d Dots) height(f frame, row float64) float64 {
	h := f.top + f.bottom
	for _, g := range d.Groups {
		if g.Title != "" {
			h += dotHeading
		}
		h += row * float64(len(g.Rows))
	}
	return h
}

// span returns the least and the greatest value.
func (d Dots) span() (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, g := range d.Groups {
		for _, r := range g.Rows {
			for _, list := range [][]float64{r.Values, r.Left, {r.Middle, r.Lo, r.Hi}} {
				for _, v := range list {
					if known(v) {
						lo, hi = math.Min(lo, v), math.Max(hi, v)
					}
				}
			}
		}
	}
	return lo, hi
}

// logFrom is the ratio of the greatest value to the least from which the axis is logarithmic: on a linear one
// the least would be a twelfth of the width.
const logFrom = 12

func (d Dots) draw(c canvas, f frame) {
	lo, hi := d.span()
	ticks := 8
	if !f.isWide {
		ticks = 5
	}
	x, name := newAxis(0, math.Max(hi, 0), ticks, f.left, f.width-f.right), d.X
	if lo > 0 && hi > logFrom*lo {
		x, name = newLogAxis(lo, hi, f.left, f.width-f.right), d.X+", logarithmic"
	}
	height := float64(dotRow)
	if !f.isWide {
		height = dotRowNarrow
	}
	top := f.top
	for _, g := range d.Groups { // below the grid
		next := top + height*float64(len(g.Rows))
		if g.Title != "" {
			next += dotHeading
		}
		if g.IsOne && len(g.Rows) > 1 {
			c.rect(0, top, f.width, next-top, "block", "")
		}
		top = next
	}
	drawScale(c, f, x, name)
	top = f.top
	for i, g := range d.Groups {
		if i > 0 {
			c.line(0, top, f.width, top, "divide")
		}
		if g.Title != "" {
			c.text(8, top+16, "heading", "start", g.Title)
			top += dotHeading
		}
		drawGrid(c, x, top, top+height*float64(len(g.Rows)))
		for _, r := range g.Rows {
			d.drawRow(c, f, x, r, top, height)
			top += height
		}
	}
}

func (d Dots) drawRow(c canvas, f frame, x axis, r DotRow, top, height float64) {
	y, name := top+height/2, rowName(r.Key, r.Label)
	if f.isWide {
		c.text(f.left-12, y+4, "name", "end", shortName(name, longestBeside))
		c.text(f.width-f.right+12, y+4, "tick", "start", r.End)
	} else {
		y = top + height - 12
		c.text(f.left+6, top+14, "name", "start", shortName(name, roomBeforeEnd(f, r.End)))
		c.text(f.width-f.right, top+14, "tick", "end", r.End)
	}
	if known(r.Lo) && known(r.Hi) {
		c.rect(x.pixel(r.Lo), y-4, math.Max(x.pixel(r.Hi)-x.pixel(r.Lo), 1), 8,
			"interval "+r.Style.class(), fmt.Sprintf("%s: %s to %s", name, digits(r.Lo), digits(r.Hi)))
	}
	for _, v := range r.Left {
		c.mark(x.pixel(v), y, r.Style, "hollow", fmt.Sprintf("%s: %s, left out", name, digits(v)))
	}
	for _, v := range r.Values {
		if known(v) {
			c.mark(x.pixel(v), y, r.Style, "mark", fmt.Sprintf("%s: %s", name, digits(v)))
		}
	}
	if known(r.Middle) {
		c.line(x.pixel(r.Middle), y-9, x.pixel(r.Middle), y+9, "middle "+r.Style.class())
	}
}
