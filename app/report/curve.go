package report

import (
	"html/template"
	"math"
	"slices"
	"strings"
)

// series is one curve over iterations; lines of a comparison whose curves agree in every bit
// are one series with several keys.
type series struct {
	keys   []string // letters of the lines
	label  string   // name of the first line
	style  string   // classes for colour and dashes
	values []float64
	raw    []float64 // drawn faintly behind; nil: nothing
	at     []float64 // places of the values; nil: iterations from 1

	lo, hi []float64 // ends of a band around the values, of places in at; nil: no band
}

func (s series) name() string {
	if len(s.keys) == 1 {
		return s.keys[0] + "  " + s.label
	}
	return strings.Join(s.keys, " ") + "  identical"
}

// merge joins series that agree bit for bit, keeping the place and style of the first.
func merge(all []series) []series {
	var out []series
	for _, s := range all {
		i := slices.IndexFunc(out, func(o series) bool { return slices.Equal(o.values, s.values) })
		if i < 0 {
			out = append(out, s)
			continue
		}
		out[i].keys = append(slices.Clone(out[i].keys), s.keys...)
	}
	return out
}

// curves is a plot of series over iterations.
type curves struct {
	id, title, description string
	yLabel                 string
	series                 []series
	lo, hi                 float64  // range of y; values above hi are drawn on the upper edge
	xLabel                 string   // "": iteration
	places                 []string // names of the places 1, 2, ...; nil: numbers
	format                 func(float64) string
}

// frame is the geometry of a plot: the picture and the margins around the data.
type frame struct {
	class                    string
	width, height            float64
	left, right, top, bottom float64
	isWide                   bool
}

func wideFrame() frame {
	return frame{class: "wide", width: 580, height: 310, left: 60, right: 140, top: 12, bottom: 46,
		isWide: true}
}

func narrowFrame() frame {
	return frame{class: "narrow", width: 343, height: 290, left: 52, right: 34, top: 12, bottom: 46}
}

// markup draws the plot for both widths of window; the style sheet shows one.
func (p curves) markup() template.HTML {
	return p.draw(wideFrame()) + p.draw(narrowFrame())
}

func (p curves) draw(f frame) template.HTML {
	c := newCanvas(p.id+"-"+f.class, f.class, p.title, p.description, f.width, f.height)
	steps := 0
	for _, s := range p.series {
		steps = max(steps, len(s.values))
	}
	xTicks := 5
	if f.isWide {
		xTicks = 10
	}
	x := newSteps(steps, xTicks, f.left, f.width-f.right)
	if p.places != nil {
		x = newSteps(len(p.places), len(p.places), f.left, f.width-f.right)
	} else if end := p.end(); end > 0 {
		x = newAxis(0, end, xTicks, f.left, f.width-f.right)
	}
	y := newAxis(p.lo, p.hi, 5, f.height-f.bottom, f.top)
	p.drawAxes(c, f, x, y)
	for _, s := range p.series {
		if points, _ := s.points(s.raw, x, y); points != nil {
			c.curve(points, "raw "+s.style, s.name())
		}
	}
	for _, s := range p.series {
		if s.lo != nil {
			c.band(s.band(x, y), "band "+s.style, s.name())
		}
	}
	var ends []mark
	for _, s := range p.series {
		points, last := s.points(s.values, x, y)
		if points == nil {
			continue
		}
		c.curve(points, "curve "+s.style, s.name())
		text := short(s.name())
		if !f.isWide {
			text = s.keys[0]
			if len(s.keys) > 1 {
				text += "…"
			}
		}
		ends = append(ends, mark{x: last.x, y: last.y, want: last.y, text: text, style: s.style})
	}
	drawMarks(c, f, ends)
	return c.markup()
}

// widestMark is how many characters fit beside a curve's end. The legend has the whole name.
const widestMark = 17

// short cuts a name to what fits beside a curve's end.
func short(name string) string {
	if runes := []rune(name); len(runes) > widestMark {
		return string(runes[:widestMark-1]) + "…"
	}
	return name
}

// end returns the last place of a value, or 0 where places are iterations.
func (p curves) end() float64 {
	end := 0.0
	for _, s := range p.series {
		if n := len(s.at); n > 0 {
			end = math.Max(end, s.at[n-1])
		}
	}
	return end
}

func (p curves) drawAxes(c *canvas, f frame, x, y axis) {
	for _, v := range y.ticks {
		c.line(f.left, y.pixel(v), f.width-f.right, y.pixel(v), "grid")
		c.text(f.left-8, y.pixel(v)+4, "tick", "end", p.format(v))
	}
	base := f.height - f.bottom
	c.line(f.left, base, f.width-f.right, base, "axis")
	for _, v := range x.ticks {
		c.line(x.pixel(v), base, x.pixel(v), base+4, "axis")
		name := trim(v)
		if p.places != nil {
			name = p.places[int(v)-1]
		}
		c.text(x.pixel(v), base+18, "tick", "middle", name)
	}
	label := p.xLabel
	if label == "" {
		label = "iteration"
	}
	c.text((f.left+f.width-f.right)/2, f.height-8, "label", "middle", label)
	c.turned(13, (f.top+base)/2, "label", p.yLabel)
}

// points returns the positions of values and the last one; nil if nothing was measured.
func (s series) points(values []float64, x, y axis) (points []point, last point) {
	found := false
	for i, v := range values {
		if !known(v) {
			points = append(points, point{gap: true})
			continue
		}
		at := float64(i + 1)
		if s.at != nil {
			at = s.at[i]
		}
		last = point{x: x.pixel(at), y: y.pixel(v)}
		points = append(points, last)
		found = true
	}
	if !found {
		return nil, last
	}
	return points, last
}

// band returns the outline of the band: its upper end there, its lower end back.
func (s series) band(x, y axis) []point {
	var points []point
	for i, v := range s.hi {
		points = append(points, point{x: x.pixel(s.at[i]), y: y.pixel(v)})
	}
	for i, v := range slices.Backward(s.lo) {
		points = append(points, point{x: x.pixel(s.at[i]), y: y.pixel(v)})
	}
	return points
}

// mark is the name of a curve, written beside its end.
type mark struct {
	x, y  float64 // end of the curve
	want  float64 // height of the text, moved where texts would touch
	text  string
	style string
}

// drawMarks writes the names at the right edge, at least a line apart, each with a leader.
func drawMarks(c *canvas, f frame, marks []mark) {
	const apart = 15
	slices.SortStableFunc(marks, func(a, b mark) int {
		return int(math.Copysign(1, a.y-b.y))
	})
	for i := range marks {
		if i > 0 {
			marks[i].want = math.Max(marks[i].want, marks[i-1].want+apart)
		}
	}
	limit := f.height - f.bottom
	for i := len(marks) - 1; i >= 0; i-- {
		marks[i].want = math.Min(marks[i].want, limit)
		limit = marks[i].want - apart
	}
	edge := f.width - f.right
	for _, m := range marks {
		c.curve([]point{{x: m.x, y: m.y}, {x: edge + 4, y: m.want}, {x: edge + 14, y: m.want}},
			"leader "+m.style, m.text)
		c.text(edge+18, m.want+4, "mark", "start", m.text)
	}
}
