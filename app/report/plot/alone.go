package plot

import (
	"html/template"
	"strings"
)

// Around is what stands around a chart that has left its page: what the page says beside it. Its title is
// that of the chart's [Head].
type Around struct {
	Caption string // what the marks stand for
	Legend  []Named
	Source  string // what was measured, where and when
}

// Named is a line of a legend.
type Named struct {
	Sample
	Name string
}

// Sample is a piece of a curve or of a bar that stands beside a name in a legend; the zero value is empty.
type Sample struct {
	paint func(c canvas, width, height float64)
}

// Curve is a sample of a curve: its colour, dashes and mark.
func Curve(s Style) Sample {
	return Sample{func(c canvas, width, height float64) {
		c.line(1, height/2, width-1, height/2, "curve "+s.class())
		c.mark(width/2, height/2, s, "mark", "")
	}}
}

// Box is a sample of the fill of part i of a bar.
func Box(i int) Sample {
	return Sample{func(c canvas, width, height float64) { c.part(0, 0, width, height, i, "") }}
}

// Swatch is the sample as it stands on a page.
func (s Sample) Swatch() template.HTML { return sample(s.paint) }

// alone is a chart with what stands around it.
type alone struct {
	drawing
	around Around
}

// Places and sizes of the texts around a chart.
const (
	aroundEdge   = 14.0
	titleLine    = 20.0
	titleLetter  = 8.3 // mean width
	aroundLine   = 16.0
	aroundLetter = 6.3
	legendLine   = 20.0
	legendSample = 26.0
)

// head implements drawing: without the page its description is the caption.
func (a alone) head() Head {
	h := a.drawing.head()
	if a.around.Caption != "" {
		h.Description = a.around.Caption
	}
	return h
}

// wide implements drawing: the chart, with room above and below it.
func (a alone) wide() frame {
	f := a.drawing.wide()
	f.height += a.above(f) + a.below(f)
	return f
}

// above is the height of title and caption.
func (a alone) above(f frame) float64 {
	return aroundEdge + titleLine*float64(len(a.title(f))) + aroundLine*float64(len(a.caption(f)))
}

// below is the height of legend, whole names and source.
func (a alone) below(f frame) float64 {
	return aroundEdge + legendLine*float64(len(a.rows(f))) + aroundLine*float64(len(a.foot(f)))
}

func (a alone) title(f frame) []string   { return wrapped(a.drawing.head().Title, f, titleLetter) }
func (a alone) caption(f frame) []string { return wrapped(a.around.Caption, f, aroundLetter) }

// foot returns the names that the chart or its legend has cut, but not more than a reader reads (the data
// have all), then the source.
func (a alone) foot(f frame) (lines []string) {
	const most = 40
	var cut []string
	if named, ok := a.drawing.(interface{ cutNames() []string }); ok {
		cut = named.cutNames()
	}
	for _, n := range a.around.Legend {
		if n.shown(f) != n.Name {
			cut = append(cut, n.Name)
		}
	}
	for _, name := range cut[:min(len(cut), most)] {
		lines = append(lines, wrapped(name, f, aroundLetter)...)
	}
	return append(lines, wrapped(a.around.Source, f, aroundLetter)...)
}

// wrapped breaks a text into lines that fit into a frame, by the mean width of a letter.
func wrapped(text string, f frame, letter float64) (lines []string) {
	most := int((f.width - 2*aroundEdge) / letter)
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len([]rune(line+" "+word)) > most {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + short(word, most))
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// rows breaks the legend into rows that fit into a frame.
func (a alone) rows(f frame) (rows [][]Named) {
	x := f.width
	for _, n := range a.around.Legend {
		n.Name = n.shown(f)
		if x+n.width() > f.width-aroundEdge {
			rows, x = append(rows, nil), aroundEdge
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], n)
		x += n.width()
	}
	return rows
}

// nameLetter and nameGap are the mean width of a letter of a legend and the room behind a name.
const nameLetter, nameGap = 7.2, 18

// width is the room of a line of a legend.
func (n Named) width() float64 {
	return n.indent() + nameLetter*float64(len([]rune(n.Name))) + nameGap
}

// shown is the name as a legend has room for it.
func (n Named) shown(f frame) string {
	return shortName(n.Name, int((f.width-2*aroundEdge-n.indent()-nameGap)/nameLetter))
}

// indent is the room of the sample before a name.
func (n Named) indent() float64 {
	if n.paint == nil {
		return 0
	}
	return legendSample + 6
}

// draw implements drawing.
func (a alone) draw(c canvas, f frame) {
	inner := a.drawing.wide()
	y := aroundEdge
	write := func(lines []string, height float64, class string) {
		for _, line := range lines {
			y += height
			c.text(aroundEdge, y-4, class, "start", line)
		}
	}
	write(a.title(inner), titleLine, "title")
	write(a.caption(inner), aroundLine, "caption")
	a.drawing.draw(canvas{moved{c.surface, 0, a.above(inner)}}, inner)
	y = a.above(inner) + inner.height
	for _, row := range a.rows(inner) {
		x := aroundEdge
		for _, n := range row {
			if n.paint != nil {
				n.paint(canvas{moved{c.surface, x, y + 4}}, legendSample, 10)
			}
			c.text(x+n.indent(), y+13, "name", "start", n.Name)
			x += n.width()
		}
		y += legendLine
	}
	write(a.foot(inner), aroundLine, "caption")
}

// moved is a surface whose origin lies elsewhere on another one.
type moved struct {
	surface
	dx, dy float64
}

func (m moved) text(x, y float64, class, anchor, s string) {
	m.surface.text(x+m.dx, y+m.dy, class, anchor, s)
}

func (m moved) turned(x, y float64, class, s string) { m.surface.turned(x+m.dx, y+m.dy, class, s) }

func (m moved) path(points []point, isClosed bool, class, title string) {
	m.surface.path(m.all(points), isClosed, class, title)
}

func (m moved) rect(x, y, w, h float64, class, title string) {
	m.surface.rect(x+m.dx, y+m.dy, w, h, class, title)
}

func (m moved) mark(x, y float64, s Style, class, title string) {
	m.surface.mark(x+m.dx, y+m.dy, s, class, title)
}

func (m moved) marks(places []point, s Style, class string) {
	m.surface.marks(m.all(places), s, class)
}

func (m moved) part(x, y, w, h float64, i int, title string) {
	m.surface.part(x+m.dx, y+m.dy, w, h, i, title)
}

// all moves points.
func (m moved) all(points []point) []point {
	out := make([]point, len(points))
	for i, p := range points {
		out[i] = point{x: p.x + m.dx, y: p.y + m.dy, gap: p.gap}
	}
	return out
}
