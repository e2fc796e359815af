package plot

import (
	"cmp"
	"html/template"
	"math"
	"slices"
	"strings"
)

// Series is one curve. Lines of a comparison whose curves agree in every bit are one series with several
// keys.
type Series struct {
	Keys   []string // letters of the lines
	Label  string   // name of the first line
	Style  Style
	Values []float64
	Raw    []float64 // drawn faintly behind; nil: nothing
	At     []float64 // places of the values; nil: 1, 2, ...

	Lo, Hi []float64 // ends of a band around the values; nil: no band

	IsReference bool // what the others are held against: thin, without marks
}

// Name is the letter and the label of a series, or the letters of those that are identical.
func (s Series) Name() string {
	switch len(s.Keys) {
	case 0:
		return s.Label
	case 1:
		return strings.TrimSpace(s.Keys[0] + "  " + s.Label)
	}
	return strings.Join(s.Keys, " ") + "  identical"
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
	}
	return out
}

// Lines is a chart of series over a common axis.
type Lines struct {
	Head
	X, Y   string // names of the axes, with their units
	Series []Series
	Lo, Hi float64              // range of y; values above Hi are drawn on the upper edge
	Places []string             // names of the places 1, 2, ...; nil: numbers
	Ticks  []float64            // of x, which they bound, two at least; nil: round numbers
	Format func(float64) string // of ticks of y; nil: [Trim]
	IsLog  bool                 // y by its logarithm; Lo > 0
}

// Markup implements [Chart].
func (p Lines) Markup() template.HTML { return both(p) }

// File implements [Chart].
func (p Lines) File(around Around) []byte { return file(alone{p, around}) }

// PNG implements [Chart].
func (p Lines) PNG(around Around) ([]byte, error) { return png(alone{p, around}) }

// Data implements [Chart]: a row for each point.
func (p Lines) Data() [][]string {
	rows := [][]string{{"series", cmp.Or(p.X, "place"), cmp.Or(p.Y, "value"), "lowest", "highest"}}
	for _, s := range p.Series {
		values := s.Values
		if s.Raw != nil {
			values = s.Raw
		}
		for i, v := range values {
			at := exact(s.place(i))
			if p.Places != nil {
				at = p.Places[int(s.place(i))-1]
			}
			r := []string{s.Name(), at, exact(v), "", ""}
			if s.Lo != nil {
				r[3], r[4] = exact(s.Lo[i]), exact(s.Hi[i])
			}
			rows = append(rows, r)
		}
	}
	return rows
}

func (s Series) place(i int) float64 {
	if s.At == nil {
		return float64(i + 1)
	}
	return s.At[i]
}

// axes returns the axes in a frame.
func (p Lines) axes(f frame) (x, y axis) {
	wanted := 5
	if f.isWide {
		wanted = 10
	}
	left, right := f.left, f.width-f.right
	longest, end := 0, math.Inf(-1)
	for _, s := range p.Series {
		longest = max(longest, len(s.Values))
		if len(s.At) > 0 {
			end = math.Max(end, s.At[len(s.At)-1])
		}
	}
	switch {
	case p.Places != nil:
		x = newCounts(len(p.Places), len(p.Places), left, right)
	case p.Ticks != nil:
		x = newMarked(p.Ticks, left, right)
	case known(end):
		x = newAxis(0, end, wanted, left, right)
		x.hi = math.Max(end, x.lo+1e-9)
		x.ticks = slices.DeleteFunc(x.ticks, func(v float64) bool { return v > x.hi })
	default:
		x = newCounts(longest, wanted, left, right)
	}
	y = newAxis(p.Lo, p.Hi, 5, f.height-f.bottom, f.top)
	if p.IsLog {
		y = newLogAxis(p.Lo, p.Hi, f.height-f.bottom, f.top)
	}
	return x, y
}

func (p Lines) draw(c canvas, f frame) {
	if p.Format == nil {
		p.Format = Trim
	}
	f = p.room(f)
	x, y := p.axes(f)
	p.drawAxes(c, f, x, y)
	for _, s := range p.Series {
		if points, _ := s.points(s.Raw, x, y); points != nil {
			c.curve(points, "raw "+s.Style.class(), "")
		}
	}
	for _, s := range p.Series {
		if s.Lo != nil {
			c.band(s.band(x, y), "band "+s.Style.class(), "")
		}
	}
	var ends []ending
	for i, s := range p.Series {
		points, last := s.points(s.Values, x, y)
		if points == nil {
			continue
		}
		if s.IsReference {
			c.curve(points, "reference", s.Name())
			c.text(last.x-4, last.y-5, "tick over", "end", s.Label)
			continue
		}
		c.curve(points, "curve "+s.Style.class(), s.Name())
		s.drawMarks(c, points, i)
		ends = append(ends, ending{x: last.x, y: last.y, want: last.y, text: s.endText(f), style: s.Style})
	}
	if p.hasMarks() {
		drawEndings(c, f, ends)
	}
}

// room returns the frame with margins in which the longest tick, the names at the ends of curves, and the
// label above the end of a reference have room.
func (p Lines) room(f frame) frame {
	letter := 11.0 // width of a letter or an ellipsis
	if f.isWide {
		letter = 7.5 // of names, of which most letters are small
	}
	if f.isWide && !p.hasMarks() {
		f.right = 20
	}
	for _, s := range p.Series {
		switch {
		case s.IsReference:
			f.top = math.Max(f.top, 18)
		case len(s.Keys) > 0:
			f.right = math.Max(f.right, besideEnd+letter*float64(len([]rune(s.endText(f)))))
		}
	}
	_, y := p.axes(f)
	for _, v := range y.ticks {
		f.left = math.Max(f.left, 28+7.2*float64(len([]rune(p.Format(v)))))
	}
	return f
}

// hasMarks reports whether curves are named at their ends: one curve alone needs no name.
func (p Lines) hasMarks() bool {
	return slices.ContainsFunc(p.Series, func(s Series) bool { return len(s.Keys) > 0 })
}

// endText is the name at the end of a curve. What a name lacks here, the legend has.
func (s Series) endText(f frame) string {
	const widest, many, few = 17, 9, 5 // characters beside the end: of a name, of letters, in a narrow figure
	text := s.Name()
	if len(s.Keys) > 1 {
		text = ranges(s.Keys)
	}
	switch {
	case len(s.Keys) > 1 && f.isWide:
		return short(text, many) + "  identical"
	case len(s.Keys) > 1:
		return short(text, few)
	case f.isWide || len(s.Keys) == 0:
		return short(text, widest)
	}
	return s.Keys[0]
}

// ranges joins letters, three or more that follow one another as in A–C.
func ranges(keys []string) string {
	var parts []string
	for i := 0; i < len(keys); {
		last := i
		for last+1 < len(keys) && len(keys[last]) == 1 && len(keys[last+1]) == 1 &&
			keys[last+1][0] == keys[last][0]+1 {
			last++
		}
		if last-i >= 2 {
			parts, i = append(parts, keys[i]+"–"+keys[last]), last+1
			continue
		}
		parts, i = append(parts, keys[i]), i+1
	}
	return strings.Join(parts, " ")
}

// drawMarks draws the mark of a series at each of few points, or at some of many, others than its neighbours.
func (s Series) drawMarks(c canvas, points []point, number int) {
	const most = 12
	every := (len(points) + most - 1) / most
	var places []point
	for i, p := range points {
		if !p.gap && (every <= 1 || i%every == (number*every/5+every/2)%every) {
			places = append(places, p)
		}
	}
	if places != nil {
		c.marks(places, s.Style, "mark")
	}
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
		name := Trim(v)
		if p.Places != nil {
			name = p.Places[int(v)-1]
		}
		c.text(x.pixel(v), base+18, "tick", "middle", name)
	}
	c.text((f.left+f.width-f.right)/2, f.height-8, "label", "middle", p.X)
	c.turned(13, (f.top+base)/2, "label", p.Y)
}

// points returns the positions of values and the last one; nil if nothing was measured.
func (s Series) points(values []float64, x, y axis) (points []point, last point) {
	found := false
	for i, v := range values {
		if !known(v) || !known(s.place(i)) {
			points = append(points, point{gap: true})
			continue
		}
		last = point{x: x.pixel(s.place(i)), y: y.pixel(v)}
		points = append(points, last)
		found = true
	}
	if !found {
		return nil, last
	}
	return points, last
}

// band returns the outline of the band: its upper end there, its lower end back.
func (s Series) band(x, y axis) []point {
	var points []point
	for i, v := range s.Hi {
		points = append(points, point{x: x.pixel(s.place(i)), y: y.pixel(v), gap: !known(v)})
	}
	for i, v := range slices.Backward(s.Lo) {
		points = append(points, point{x: x.pixel(s.place(i)), y: y.pixel(v), gap: !known(v)})
	}
	return slices.DeleteFunc(points, point.isGap)
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

// drawEndings names curves: those that reach the right edge beside it, at least a line apart, each with a
// leader; those that end before it by their letter where they end.
func drawEndings(c canvas, f frame, ends []ending) {
	const apart, near = 15, 24
	edge := f.width - f.right
	var within []ending
	ends = slices.DeleteFunc(ends, func(e ending) bool {
		isWithin := e.x < edge-near
		if isWithin {
			within = append(within, e)
		}
		return isWithin
	})
	drawLetters(c, within)
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
		c.curve([]point{{x: m.x, y: m.y}, {x: edge + 4, y: m.want}, {x: edge + 14, y: m.want}},
			"leader "+m.style.class(), "")
		c.text(edge+besideEnd, m.want+4, "name", "start", m.text)
	}
}

// drawLetters writes the letters of curves after their ends. Those whose letters would touch share a text
// after the last of them.
func drawLetters(c canvas, ends []ending) {
	const width, height = 13, 13 // of a letter
	slices.SortStableFunc(ends, func(a, b ending) int { return cmp.Compare(a.x, b.x) })
	for len(ends) > 0 {
		last := ends[0]
		letters, _, _ := strings.Cut(last.text, "  ")
		var others []ending
		for _, e := range ends[1:] {
			if e.x-last.x > width || math.Abs(e.y-last.y) > height {
				others = append(others, e)
				continue
			}
			letter, _, _ := strings.Cut(e.text, "  ")
			letters, last = letters+" "+letter, e
		}
		c.text(last.x+6, last.y+4, "name over", "start", letters)
		ends = others
	}
}
