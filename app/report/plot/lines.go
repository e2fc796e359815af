package plot

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Series is one curve. Lines of a comparison whose curves agree in every bit are one series with several
// keys.
type Series struct {
	Keys   []string // letters of the lines
	Label  string   // name of the first line
	Others []string // names of the others
	Style  Style
	At     []float64 // places of the values
	Values []float64
	Lo, Hi []float64 // ends of a band around the values; nil: no band

	IsReference bool // what the others are held against: thin, without marks
}

// Name is the letter and the label of a series, or the letters of those that are identical.
func (s Series) Name() string {
	if len(s.Keys) > 1 {
		return strings.Join(s.Keys, " ") + "  identical"
	}
	return strings.TrimSpace(strings.Join(s.Keys, " ") + "  " + s.Label)
}

// Merge joins series that agree bit for bit, keeping the place and style of the first.
func Merge(all []Series) []Series {
	var out []Series
	for _, s := range all {
		i := slices.IndexFunc(out, func(o Series) bool {
			return slices.Equal(o.Values, s.Values) && slices.Equal(o.At, s.At)
		})
		if i < 0 {
			out = append(out, s)
			continue
		}
		out[i].Keys = append(slices.Clone(out[i].Keys), s.Keys...)
		out[i].Others = append(out[i].Others, s.Label)
	}
	return out
}

// Lines is a chart of series over a common axis.
type Lines struct {
	X, Y   string // names of the axes, with their units
	Series []Series
	Most   float64              // greater values are drawn on the upper edge; 0: there are none
	Format func(float64) string // of ticks of y; nil: as numbers
	Place  func(float64) string // the same of x
	IsLog  bool                 // y by its logarithm
	IsFar  bool                 // x by its logarithm, from the first place on, with ticks at its doublings
}

// Legend implements [Chart]: a sample of each curve that has a letter.
func (p Lines) Legend() (all []Named) {
	for _, s := range p.Series {
		for i, name := range append([]string{s.Label}, s.Others...) {
			if i < len(s.Keys) {
				all = append(all, Named{s.Style.Swatch(), s.Keys[i], name})
			}
		}
	}
	return all
}

// axes returns the axes in a frame.
func (p Lines) axes(f frame) (x, y axis) {
	wanted := 5
	if f.isWide {
		wanted = 10
	}
	left, right, base := f.left, f.width-f.right, f.height-f.bottom
	var values [][]float64
	first, end, isCount := math.Inf(1), 0.0, true
	for _, s := range p.Series {
		values = append(values, s.Values, s.Lo, s.Hi)
		for _, at := range s.At {
			if known(at) {
				first, end = math.Min(first, at), math.Max(end, at)
				isCount = isCount && at == math.Trunc(at)
			}
		}
	}
	if isCount { // there is nothing between two of them
		wanted = max(1, min(wanted, int(math.Min(end, 1e6))))
	}
	if p.IsFar && first > 0 {
		x = axis{lo: first, hi: math.Max(end, 2*first), at: left, to: right, isLog: true}
		wanted = int((right - left) / nameWidth(p.Place(end)+"   "))
		every := math.Exp2(math.Ceil(math.Log2(x.hi/first) / float64(max(2, wanted))))
		for v := first; v <= x.hi; v *= every {
			x.ticks = append(x.ticks, v)
		}
	} else {
		x = newAxis(0, end, wanted, left, right)
		x.hi = math.Max(end, x.lo+1e-9)
		x.ticks = slices.DeleteFunc(x.ticks, func(v float64) bool { return v > x.hi })
	}
	lo, hi := span(values...)
	if p.Most > 0 {
		hi = math.Min(hi, p.Most)
	}
	if p.IsLog && lo > 0 {
		return x, newLogAxis(lo, hi, base, f.top)
	}
	return x, newAxis(lo, hi, 5, base, f.top)
}

func (p Lines) frame(f frame) frame { return f }

func (p Lines) draw(c canvas, f frame) {
	if p.Format == nil {
		p.Format = trim
	}
	if p.Place == nil {
		p.Place = trim
	}
	f = p.room(f)
	x, y := p.axes(f)
	p.drawAxes(c, f, x, y)
	for _, s := range p.Series {
		if s.Lo != nil {
			c.path(s.band(x, y), true, "band "+s.Style.class(), "")
		}
	}
	var ends []ending
	for i, s := range p.Series {
		points := s.points(s.Values, x, y)
		known := slices.DeleteFunc(slices.Clone(points), point.isGap)
		if len(known) == 0 {
			continue
		}
		last := known[len(known)-1]
		if s.IsReference {
			c.path(points, false, "reference", s.Name())
			c.text(last.x-4, last.y-5, "tick over", "end", s.Label)
			continue
		}
		c.path(points, false, "curve "+s.Style.class(), s.Name())
		s.drawMarks(c, points, i)
		ends = append(ends, ending{last.x, last.y, last.y, s.endText(f), s.Style})
	}
	if len(p.Legend()) > 0 { // one curve alone needs no name
		drawEndings(c, f, ends)
	}
}

// room returns the frame with margins in which the longest tick, the names at the ends of curves, and the
// label above the end of a reference have room.
func (p Lines) room(f frame) frame {
	for _, s := range p.Series {
		switch {
		case s.IsReference:
			f.top = math.Max(f.top, 18)
		case len(s.Keys) > 0:
			f.right = math.Max(f.right, besideEnd+4+1.05*nameWidth(s.endText(f)))
		}
	}
	_, y := p.axes(f)
	for _, v := range y.ticks {
		f.left = math.Max(f.left, 28+nameWidth(p.Format(v)))
	}
	return f
}

// endText is the name at the end of a curve: its letters alone in a narrow figure. What a name lacks here,
// the legend has.
func (s Series) endText(f frame) string {
	const widest, few = 36, 5 // characters
	if f.isWide {
		return short(s.Name(), widest)
	}
	return short(strings.Join(s.Keys, " "), few)
}

// drawMarks draws the mark of a series at each of few points, or at some of many, others than its neighbours.
func (s Series) drawMarks(c canvas, points []point, number int) {
	const most = 12
	every := (len(points) + most - 1) / most
	var places []point
	for i := number * every / 5 % every; i < len(points); i += every {
		if !points[i].isGap() {
			places = append(places, points[i])
		}
	}
	c.marks(places, s.Style, "mark", "")
}

func (p Lines) drawAxes(c canvas, f frame, x, y axis) {
	for _, v := range y.ticks {
		c.line(f.left, y.pixel(v), f.width-f.right, y.pixel(v), "grid")
		c.text(f.left-8, y.pixel(v)+4, "tick", "end", p.Format(v))
	}
	base := f.height - f.bottom
	c.line(f.left, base, f.width-f.right, base, "axis")
	for _, v := range x.ticks {
		c.line(x.pixel(v), base, x.pixel(v), base+4, "axis")
		c.text(x.pixel(v), base+18, "tick", "middle", p.Place(v))
	}
	c.text((f.left+f.width-f.right)/2, f.height-8, "label", "middle", p.X)
	c.write(13, (f.top+base)/2, true, "label", "middle", p.Y)
}

// points returns the positions of values of the series; those that are not known are gaps.
func (s Series) points(values []float64, x, y axis) (points []point) {
	for i, v := range values {
		points = append(points, point{x.pixel(s.At[i]), y.pixel(v)})
	}
	return points
}

// band returns the outline of the band: its upper end there, its lower end back.
func (s Series) band(x, y axis) []point {
	back := s.points(s.Lo, x, y)
	slices.Reverse(back)
	return slices.DeleteFunc(append(s.points(s.Hi, x, y), back...), point.isGap)
}

// ending is the name of a curve, written beside its end.
type ending struct {
	x, y  float64 // end of the curve
	want  float64 // height of the text, moved where texts would touch
	text  string
	style Style
}

// besideEnd is how far from the right edge of the data the name of a curve begins.
const besideEnd = 18

// drawEndings names curves beside the right edge, at least a line apart, each with a leader from its end.
func drawEndings(c canvas, f frame, ends []ending) {
	const apart = 15
	edge := f.width - f.right
	slices.SortStableFunc(ends, func(a, b ending) int { return cmp.Compare(a.y, b.y) })
	for i := range ends {
		if i > 0 {
			ends[i].want = math.Max(ends[i].want, ends[i-1].want+apart)
		}
	}
	limit := f.height - f.bottom
	for i := len(ends) - 1; i >= 0; i-- {
		ends[i].want = math.Min(ends[i].want, limit)
		limit = ends[i].want - apart
	}
	for _, m := range ends {
		c.path([]point{{m.x, m.y}, {edge + 4, m.want}, {edge + 14, m.want}}, false,
			"leader "+m.style.class(), "")
		c.text(edge+besideEnd, m.want+4, "name", "start", m.text)
	}
}
