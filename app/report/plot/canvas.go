package plot

import "math"

// surface is what a chart is drawn on: the markup of an SVG picture, or pixels. Its unit is a pixel of a
// page; how a class looks is said in plot.css. Everything a caller passes as text is escaped here, so no
// other code needs to.
type surface interface {
	// write writes s with its baseline at (x, y), upwards if it is turned; anchor is start, middle or end.
	write(x, y float64, isTurned bool, class, anchor, s string)
	// path joins points; a gap starts a new stretch, and each stretch of a closed path goes back to its
	// first point. The title is shown when pointed at.
	path(points []point, isClosed bool, class, title string)
}

// canvas draws shapes on a surface, from an origin on it.
type canvas struct {
	on surface
	at point
}

// point is a position on a canvas; gap stands for a missing value.
type point struct {
	x, y float64
	gap  bool
}

func (p point) moved(by point) point { return point{p.x + by.x, p.y + by.y, p.gap} }

// isGap reports whether nothing is drawn at a point: its value is missing, or no number.
func (p point) isGap() bool { return p.gap || math.IsNaN(p.x) || math.IsNaN(p.y) }

func (c canvas) text(x, y float64, class, anchor, s string) {
	c.on.write(x+c.at.x, y+c.at.y, false, class, anchor, s)
}

// turned writes s upwards, centred on (x, y).
func (c canvas) turned(x, y float64, class, s string) {
	c.on.write(x+c.at.x, y+c.at.y, true, class, "middle", s)
}

func (c canvas) path(points []point, isClosed bool, class, title string) {
	moved := make([]point, len(points))
	for i, p := range points {
		moved[i] = p.moved(c.at)
		moved[i].gap = p.isGap()
	}
	c.on.path(moved, isClosed, class, title)
}

func (c canvas) line(x1, y1, x2, y2 float64, class string) {
	c.path([]point{{x: x1, y: y1}, {x: x2, y: y2}}, false, class, "")
}

func (c canvas) rect(x, y, w, h float64, class, title string) {
	c.path([]point{{x: x, y: y}, {x: x + w, y: y}, {x: x + w, y: y + h}, {x: x, y: y + h}}, true, class,
		title)
}

// marks draws the mark of a style at each place, as one shape.
func (c canvas) marks(places []point, s Style, class, title string) {
	var all []point
	for _, place := range places {
		for _, p := range s.mark() {
			all = append(all, p.moved(place))
		}
		all = append(all, point{gap: true})
	}
	c.path(all, true, class+" "+s.class(), title)
}

// part draws a box of a bar in the fill of part i, with its hatching and a title.
func (c canvas) part(x, y, w, h float64, i int, title string) {
	c.rect(x, y, w, h, "phase p"+string(rune('0'+i%len(hatchings()))), title)
	if lines := hatching(x, y, w, h, i); lines != nil {
		c.path(lines, false, "hatch", "")
	}
}

// ruling is parallel lines, where along*x + across*y is first, and so on in steps of every.
type ruling struct{ along, across, first, every float64 }

// hatchings are the lines that tell the parts of a bar apart without colour; nil is plain.
func hatchings() [][]ruling {
	return [][]ruling{nil, {{0, 1, 3, 6}}, {{1, 1, 0, 6}}, {{1, 0, 3, 6}}, {{1, -1, 0, 6}},
		{{1, 0, 3, 6}, {0, 1, 3, 6}}, {{0, 1, 1.5, 3}}}
}

// hatching returns the lines of part i of a bar within its box. A pattern of SVG would be shorter, but
// Chromium prints each as a picture of the page: half a megabyte.
func hatching(x, y, w, h float64, i int) (points []point) {
	for _, r := range hatchings()[i%len(hatchings())] {
		a, b := r.along*x+r.across*y, r.along*(x+w)+r.across*(y+h)
		if r.along*r.across < 0 { // the lines fall the other way
			a, b = r.along*(x+w)+r.across*y, r.along*x+r.across*(y+h)
		}
		lo, hi := math.Min(a, b), math.Max(a, b)
		for c := r.first + r.every*math.Ceil((lo-r.first)/r.every); c < hi; c += r.every {
			from, to := point{x: x, y: c}, point{x: x + w, y: c} // of a horizontal line
			switch {
			case r.across == 0:
				from, to = point{x: c, y: y}, point{x: c, y: y + h}
			case r.along != 0:
				a, b := c-r.across*y, c-r.across*(y+h) // where it meets the edges
				left, right := math.Max(x, min(a, b)), math.Min(x+w, max(a, b))
				from, to = point{x: left, y: (c - left) / r.across}, point{x: right}
				to.y = (c - right) / r.across
			}
			points = append(points, from, to, point{gap: true})
		}
	}
	return points
}

// mark is the outline of the mark of a style, around (0, 0).
func (s Style) mark() []point {
	outlines := [][]point{disc(3.6), polygon(-3.3, -3.3, 3.3, -3.3, 3.3, 3.3, -3.3, 3.3),
		polygon(0, -4.3, 4.1, 3, -4.1, 3), polygon(0, -4.8, 4.8, 0, 0, 4.8, -4.8, 0),
		polygon(0, 4.3, 4.1, -3, -4.1, -3), polygon(-1.4, -4.3, 1.4, -4.3, 1.4, -1.4, 4.3, -1.4, 4.3, 1.4,
			1.4, 1.4, 1.4, 4.3, -1.4, 4.3, -1.4, 1.4, -4.3, 1.4, -4.3, -1.4, -1.4, -1.4)}
	return outlines[(s.Number+s.Number/len(outlines))%len(outlines)]
}

// polygon returns points of coordinates.
func polygon(xy ...float64) (points []point) {
	for i := 0; i < len(xy); i += 2 {
		points = append(points, point{x: xy[i], y: xy[i+1]})
	}
	return points
}

// disc is a polygon that looks like a circle of so few pixels.
func disc(radius float64) (points []point) {
	const corners = 12
	for i := range corners {
		y, x := math.Sincos(2 * math.Pi * float64(i) / corners)
		points = append(points, point{x: radius * x, y: radius * y})
	}
	return points
}
