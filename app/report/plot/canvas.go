package plot

import "math"

// canvas draws shapes on an SVG picture. Its unit is a pixel of a page; plot.css says how a class looks.
type canvas = *markup

// point is a position on a canvas.
type point struct{ x, y float64 }

func (p point) moved(by point) point { return point{p.x + by.x, p.y + by.y} }

// gap stands for a missing value.
func gap() point { return point{math.NaN(), math.NaN()} }

// isGap reports whether nothing is drawn at a point: its value is missing, or no number.
func (p point) isGap() bool { return math.IsNaN(p.x + p.y) }

// text writes s with its baseline at (x, y); anchor is start, middle or end.
func (c canvas) text(x, y float64, class, anchor, s string) {
	c.write(x, y, false, class, anchor, s)
}

func (c canvas) line(x1, y1, x2, y2 float64, class string) {
	c.path([]point{{x1, y1}, {x2, y2}}, false, class, "")
}

func (c canvas) rect(x, y, w, h float64, class, title string) {
	c.path([]point{{x, y}, {x + w, y}, {x + w, y + h}, {x, y + h}}, true, class, title)
}

// marks draws the mark of a style at each place, as one shape.
func (c canvas) marks(places []point, s Style, class, title string) {
	var all []point
	for _, place := range places {
		for _, p := range s.mark() {
			all = append(all, p.moved(place))
		}
		all = append(all, gap())
	}
	c.path(all, true, class+" "+s.class(), title)
}

// mark is the outline of the mark of a style, around (0, 0).
func (s Style) mark() []point {
	outlines := [][]point{polygon(-1.5, -3.6, 1.5, -3.6, 3.6, -1.5, 3.6, 1.5, 1.5, 3.6, -1.5, 3.6, -3.6, 1.5,
		-3.6, -1.5), polygon(-3.3, -3.3, 3.3, -3.3, 3.3, 3.3, -3.3, 3.3),
		polygon(0, -4.3, 4.1, 3, -4.1, 3), polygon(0, -4.8, 4.8, 0, 0, 4.8, -4.8, 0),
		polygon(0, 4.3, 4.1, -3, -4.1, -3), polygon(-1.4, -4.3, 1.4, -4.3, 1.4, -1.4, 4.3, -1.4, 4.3, 1.4,
			1.4, 1.4, 1.4, 4.3, -1.4, 4.3, -1.4, 1.4, -4.3, 1.4, -4.3, -1.4, -1.4, -1.4)}
	return outlines[(s.Number+s.Number/len(outlines))%len(outlines)]
}

// polygon returns points of coordinates.
func polygon(xy ...float64) (points []point) {
	for i := 0; i < len(xy); i += 2 {
		points = append(points, point{xy[i], xy[i+1]})
	}
	return points
}
