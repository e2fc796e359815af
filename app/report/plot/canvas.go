package plot

import (
	"math"
	"slices"
)

// surface is what a chart is drawn on: the markup of an SVG picture, or pixels. Its unit is a pixel of a
// page; how a class looks is said in plot.css. Everything a caller passes as text is escaped here, so no
// other code needs to.
type surface interface {
	// text writes s with its baseline at (x, y); anchor is start, middle or end.
	text(x, y float64, class, anchor, s string)
	// turned writes s upwards, centred on (x, y).
	turned(x, y float64, class, s string)
	// path joins points, back to the first if isClosed; a gap starts a new stretch. The title is shown when
	// pointed at.
	path(points []point, isClosed bool, class, title string)
	// rect draws a box with a title.
	rect(x, y, w, h float64, class, title string)
	// mark draws the mark of a style at (x, y), with a class of its own and a title.
	mark(x, y float64, s Style, class, title string)
	// marks draws the mark of a style at each place, as one shape.
	marks(places []point, s Style, class string)
	// part draws a box of a bar in the fill of part i, with its hatching and a title.
	part(x, y, w, h float64, i int, title string)
}

// canvas is a surface with what is made of its shapes.
type canvas struct{ surface }

// point is a position on a canvas; gap stands for a missing value.
type point struct {
	x, y float64
	gap  bool
}

// isGap reports whether nothing is drawn at a point: its value is missing, or no number.
func (p point) isGap() bool { return p.gap || math.IsNaN(p.x) || math.IsNaN(p.y) }

func (c canvas) line(x1, y1, x2, y2 float64, class string) {
	c.path([]point{{x: x1, y: y1}, {x: x2, y: y2}}, false, class, "")
}

// curve joins points; a gap starts a new stretch.
func (c canvas) curve(points []point, class, title string) {
	c.path(thinned(points), false, class, title)
}

// band fills the area within points.
func (c canvas) band(points []point, class, title string) {
	c.path(thinned(points), true, class, title)
}

// stripWidth is how many pixels of a curve with many points are drawn as one stroke.
const stripWidth = 3

// thinned leaves out points that no eye tells from their neighbours: of each strip of a stretch it keeps the
// highest and the lowest, in their order, and of the whole stretch both ends. A curve of some hundred points
// takes a third of the room on a page; the data of the chart have all.
func thinned(points []point) []point {
	var out []point
	for i := 0; i < len(points); {
		if points[i].isGap() {
			out = append(out, point{gap: true})
			i++
			continue
		}
		n, low, high := i, i, i
		strip := math.Floor(points[i].x / stripWidth)
		for ; n < len(points) && !points[n].isGap() && math.Floor(points[n].x/stripWidth) == strip; n++ {
			if points[n].y < points[high].y {
				high = n
			}
			if points[n].y > points[low].y {
				low = n
			}
		}
		kept := []int{low, high}
		if i == 0 || points[i-1].isGap() {
			kept = append(kept, i)
		}
		if n == len(points) || points[n].isGap() {
			kept = append(kept, n-1)
		}
		slices.Sort(kept)
		for _, at := range slices.Compact(kept) {
			out = append(out, points[at])
		}
		i = n
	}
	return out
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
		corners := []float64{r.along*x + r.across*y, r.along*(x+w) + r.across*y,
			r.along*x + r.across*(y+h), r.along*(x+w) + r.across*(y+h)}
		c := r.first + r.every*math.Ceil((slices.Min(corners)-r.first)/r.every)
		for ; c < slices.Max(corners); c += r.every {
			from, to := x, x+w // of a horizontal line
			place := func(v float64) point { return point{x: v, y: (c - r.along*v) / r.across} }
			switch {
			case r.across == 0:
				from, to = y, y+h
				place = func(v float64) point { return point{x: c, y: v} }
			case r.along != 0:
				ends := []float64{c - r.across*y, c - r.across*(y+h)} // where it meets the edges
				from, to = math.Max(from, slices.Min(ends)), math.Min(to, slices.Max(ends))
			}
			if from < to {
				points = append(points, place(from), place(to), point{gap: true})
			}
		}
	}
	return points
}

// hatch is the class of hatchings.
const hatch = "hatch"

// partClass is the class of the fill of part i of a bar.
func partClass(i int) string { return "phase p" + string(rune('0'+i%len(hatchings()))) }

// marks are the outlines of the marks of series, around (0, 0).
func marks() []string {
	return []string{
		"M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0 -7.2 0Z",            // disc
		"M-3.3 -3.3H3.3V3.3H-3.3Z",                                     // square
		"M0 -4.3L4.1 3H-4.1Z",                                          // triangle
		"M0 -4.8L4.8 0L0 4.8L-4.8 0Z",                                  // diamond
		"M0 4.3L4.1 -3H-4.1Z",                                          // triangle on its tip
		"M-1.4 -4.3H1.4V-1.4H4.3V1.4H1.4V4.3H-1.4V1.4H-4.3V-1.4H-1.4Z", // cross
	}
}
