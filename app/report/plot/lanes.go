package plot

import (
	"math"
	"slices"
)

// Lanes shows what several things did when: a lane for each, with boxes on an axis of time, a thin lane
// below it, and a path through the lanes.
type Lanes struct {
	X     string   // name of the axis, with its unit
	Parts []string // that boxes are of
	Path  string   // what the path is
	Rows  []Lane
	Steps []Step // of the path, in order
}

// Lane is a row of [Lanes].
type Lane struct {
	Name        string
	Main, Below []Box
}

// Box is something that took time.
type Box struct {
	Part     int // -1: it waited, for what its text says
	From, To float64
	Text     string
}

// Step is a piece of a path, in a row.
type Step struct {
	Row      int
	From, To float64
}

// Legend implements [Chart]: a sample of each part that a box is of, and of the path.
func (l Lanes) Legend() (all []Named) {
	used := map[int]bool{}
	for _, r := range l.Rows {
		for _, b := range slices.Concat(r.Main, r.Below) {
			used[b.Part] = true
		}
	}
	for i, name := range l.Parts {
		if used[i] {
			all = append(all, Named{box(i), "", name})
		}
	}
	return append(all, Named{Style{}.Swatch(), "", l.Path})
}

// Data implements [Tabular]: a row for each box.
func (l Lanes) Data() [][]any {
	all := [][]any{{"row", "what", "from, " + l.X, "to, " + l.X}}
	for _, r := range l.Rows {
		for _, b := range slices.Concat(r.Main, r.Below) {
			all = append(all, []any{r.Name, b.Text, b.From, b.To})
		}
	}
	return all
}

func (l Lanes) rows() rows {
	r := rows{beside: 52, above: 64}
	for _, one := range l.Rows {
		r.names = append(r.names, one.Name)
	}
	return r
}

func (l Lanes) frame(f frame) frame { return l.rows().frame(f, 0, 16) }

func (l Lanes) draw(c canvas, f frame) {
	last := 0.0
	for _, r := range l.Rows {
		for _, b := range r.Main {
			last = math.Max(last, b.To)
		}
	}
	x := newAxis(0, last, 6, f.left, f.width-f.right)
	drawGrid(c, x, f.top, f.height-f.bottom)
	drawScale(c, f, x, l.X)
	middle := func(row int) float64 {
		top := f.top + l.rows().height(f)*float64(row)
		if !f.isWide {
			top += 14
		}
		return top + laneTop + laneThick/2
	}
	for i, r := range l.Rows {
		y := middle(i)
		drawName(c, f, r.Name, f.top+l.rows().height(f)*float64(i), y, 0)
		for _, b := range r.Main {
			b.draw(c, x, y-laneThick/2, laneThick)
		}
		for _, b := range r.Below {
			b.draw(c, x, y+laneThick/2+2, laneBelow)
		}
	}
	var path []point
	for _, s := range l.Steps {
		path = append(path, point{x.pixel(s.From), middle(s.Row)}, point{x.pixel(s.To), middle(s.Row)})
	}
	c.path(path, false, "curve "+Style{}.class(), l.Path)
}

// Heights within a row.
const (
	laneTop   = 5.0
	laneThick = 24.0
	laneBelow = 11.0
)

// draw draws a box; a wait is hatched.
func (b Box) draw(c canvas, x axis, y, thick float64) {
	from, to := x.pixel(b.From), x.pixel(b.To)
	if to-from < 0.1 {
		return
	}
	if b.Part >= 0 {
		c.rect(from, y, to-from, thick, part(b.Part), b.Text)
		return
	}
	c.rect(from, y, to-from, thick, "hatch", b.Text)
	middle, half := (from+to)/2, nameWidth(b.Text)/2 // of the text, which needs clear ground
	if 2*half > to-from {
		half = -thick
	} else {
		c.text(middle, y+thick-1.5, "tick", "middle", b.Text)
	}
	var hatch []point
	const apart = 5.0
	for at := from; at < to; at += apart {
		if up := math.Min(thick, to-at); at+up < middle-half || at > middle+half {
			hatch = append(hatch, point{at, y + thick}, point{at + up, y + thick - up}, gap())
		}
	}
	c.path(hatch, false, "hatch", b.Text)
}
