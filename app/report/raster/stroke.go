package raster

import (
	"image/color"
	"iter"
	"math"
	"slices"
)

// Pen is how a stroke is drawn. Lengths are in user units.
type Pen struct {
	Width   float64
	Dash    []float64 // lengths of dashes and gaps in turn; nil: one dash
	IsRound bool      // caps and joins; else butt caps, and joins mitred up to SVG's limit of 4
}

// Stroke draws a line through points, back to the first one if isClosed. Each dash is drawn on its own, so
// that their number takes no memory; a translucent line whose dashes cross is darker there.
func (p *Picture) Stroke(points []Point, isClosed bool, pen Pen, ink color.Color) {
	if isClosed && len(points) > 0 {
		points = append(points[:len(points):len(points)], points[0])
	}
	for dash := range pen.dashes(p.scaled(points), p.scale) {
		p.fill(pen.outlines(dash, p.scale), ink)
	}
}

// dashes cuts a line into its dashes.
func (pen Pen) dashes(points []Point, scale float64) iter.Seq[[]Point] {
	period := 0.0
	for _, d := range pen.Dash {
		period += d * scale
	}
	if !(period > 0.1) || len(points) == 0 { // finer ones are a line to the eye
		return slices.Values([][]Point{points})
	}
	return func(yield func([]Point) bool) {
		dash := []Point{points[0]}
		at, left := 0, pen.Dash[0]*scale // the part of the pattern, and what is left of it
		for i, to := range points[1:] {
			from := points[i]
			length, done := math.Hypot(to.X-from.X, to.Y-from.Y), 0.0
			for length-done > left {
				done += left
				cut := between(from, to, done/length)
				if at%2 == 0 && !yield(append(dash, cut)) {
					return
				}
				at, dash = (at+1)%len(pen.Dash), []Point{cut}
				left = pen.Dash[at] * scale
			}
			left -= length - done
			dash = append(dash, to)
		}
		if at%2 == 0 {
			yield(dash)
		}
	}
}

// outlines are polygons, all of one sense of rotation, that cover the stroke of a line in pixels: a box for
// each piece, a wedge for each join, half discs as round caps. Neighbours share edges, so that none is
// covered twice.
func (pen Pen) outlines(points []Point, scale float64) [][]Point {
	half := pen.Width * scale / 2
	points = distinct(points)
	if len(points) < 2 || !(half > 0) {
		return nil
	}
	isClosed := len(points) > 2 && points[0] == points[len(points)-1]
	var all [][]Point
	for i := 1; i < len(points); i++ {
		a, b := points[i-1], points[i]
		n := normal(a, b, half)
		all = append(all, []Point{{a.X + n.X, a.Y + n.Y}, {b.X + n.X, b.Y + n.Y}, {b.X - n.X, b.Y - n.Y},
			{a.X - n.X, a.Y - n.Y}})
		switch {
		case i+1 < len(points):
			all = append(all, pen.join(a, b, points[i+1], half))
		case isClosed:
			all = append(all, pen.join(a, b, points[1], half))
		case pen.IsRound:
			all = append(all, endCap(a, b, half), endCap(points[1], points[0], half))
		}
	}
	for _, o := range all {
		if area(o) < 0 {
			slices.Reverse(o)
		}
	}
	return all
}

// join is the wedge on the outer side of the corner b between a and c.
func (pen Pen) join(a, b, c Point, half float64) []Point {
	const limit = 4 // of a mitre's length over the width, the default of SVG
	n, m := normal(a, b, half), normal(b, c, half)
	cross := n.X*m.Y - n.Y*m.X
	if cross < 0 { // the outer side is the other one
		n, m = Point{-n.X, -n.Y}, Point{-m.X, -m.Y}
	}
	from, to := Point{b.X + n.X, b.Y + n.Y}, Point{b.X + m.X, b.Y + m.Y}
	if pen.IsRound {
		start, end := math.Atan2(n.Y, n.X), math.Atan2(m.Y, m.X)
		return append(arc(b, half, start, math.Remainder(end-start, 2*math.Pi)), b)
	}
	middle := Point{n.X + m.X, n.Y + m.Y}
	length := math.Hypot(middle.X, middle.Y)
	if cosine := length / (2 * half); cosine*limit > 1 { // the mitre is half / cosine long
		tip := half / cosine / length
		return []Point{b, from, {b.X + middle.X*tip, b.Y + middle.Y*tip}, to}
	}
	return []Point{b, from, to}
}

// endCap is the half disc at the end b of the piece from a.
func endCap(a, b Point, half float64) []Point {
	n := normal(a, b, half)
	return arc(b, half, math.Atan2(n.Y, n.X), math.Pi)
}

// arc returns points on the circle around b over an angle from start; the positive sense is that from x to y.
func arc(b Point, radius, start, angle float64) []Point {
	n := 1 + int(math.Ceil(math.Abs(angle)*math.Sqrt(radius)*1.5)) // off by less than a tenth of a pixel
	points := make([]Point, 0, n+2)
	for i := range n + 1 {
		sin, cos := math.Sincos(start + angle*float64(i)/float64(n))
		points = append(points, Point{b.X + radius*cos, b.Y + radius*sin})
	}
	return points
}

// normal is at right angles to the piece from a to b, with a length.
func normal(a, b Point, length float64) Point {
	d := length / math.Hypot(b.X-a.X, b.Y-a.Y)
	return Point{(b.Y - a.Y) * d, (a.X - b.X) * d}
}

// distinct leaves out points that are too near their predecessor to have a direction.
func distinct(points []Point) []Point {
	const near = 1e-3
	var out []Point
	for _, at := range points {
		if n := len(out); n == 0 || math.Hypot(at.X-out[n-1].X, at.Y-out[n-1].Y) > near {
			out = append(out, at)
		}
	}
	return out
}

func between(a, b Point, t float64) Point { return Point{a.X + t*(b.X-a.X), a.Y + t*(b.Y-a.Y)} }

// area is twice the area of a polygon, negative for one sense of rotation.
func area(o []Point) (sum float64) {
	for i, a := range o {
		b := o[(i+1)%len(o)]
		sum += a.X*b.Y - b.X*a.Y
	}
	return sum
}

// HalfCircle returns points on half a circle from one place to another, against the sense from x to y.
func HalfCircle(from, to Point) []Point {
	middle := between(from, to, 0.5)
	const fine = 10 // in tenths of a user unit, so that the points are near enough on any picture
	radius := math.Hypot(to.X-from.X, to.Y-from.Y) / 2
	points := arc(Point{}, radius*fine, math.Atan2(from.Y-middle.Y, from.X-middle.X), -math.Pi)
	for i, at := range points {
		points[i] = Point{middle.X + at.X/fine, middle.Y + at.Y/fine}
	}
	return points
}
