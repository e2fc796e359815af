package plot

import "math"

// rows is what charts with a row for each name have in common: names beside the rows of a wide plot, cut
// where they would take half of it, and above the rows of a narrow one.
type rows struct {
	names         []string
	beside, above float64 // height of a row with its name there
}

// frame returns f with room for the names, for rows and so much besides, and for what ends the rows.
func (r rows) frame(f frame, besides, end float64) frame {
	longest := 8 * nameLetter
	for _, name := range r.names {
		longest = math.Max(longest, nameWidth(name))
	}
	f.left, f.right, f.top = math.Min(22+longest, 0.5*f.width), end, 4
	if !f.isWide {
		f.left = 10
	}
	f.height = f.top + f.bottom + besides + r.height(f)*float64(len(r.names))
	return f
}

func (r rows) height(f frame) float64 {
	if f.isWide {
		return r.beside
	}
	return r.above
}

// drawName writes the name of a row whose values are drawn around y, with so many pixels to its right for
// what else stands above the row.
func drawName(c canvas, f frame, name string, top, y, taken float64) {
	if f.isWide {
		c.text(f.left-10, y+4, "name", "end", short(name, int((f.left-14)/nameLetter)))
		return
	}
	room := f.width - f.left - taken - 16
	c.text(f.left, top+14, "name", "start", short(name, int(room/nameLetter)))
}

// drawGrid draws the grid behind rows between two heights, and their left edge.
func drawGrid(c canvas, x axis, top, base float64) {
	for _, v := range x.ticks {
		c.line(x.pixel(v), top, x.pixel(v), base, "grid")
	}
	c.line(x.at, top, x.at, base, "axis")
}

// drawScale writes the values of the axis below all rows.
func drawScale(c canvas, f frame, x axis, name string) {
	for _, v := range x.ticks {
		c.text(x.pixel(v), f.height-f.bottom+18, "tick", "middle", trim(v))
	}
	c.text((f.left+f.width-f.right)/2, f.height-8, "label", "middle", name)
}
