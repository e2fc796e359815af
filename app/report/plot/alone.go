package plot

import (
	"cmp"
	"strings"
)

// Around is what stands around a chart that has left its page: what the page says beside it.
type Around struct {
	Title   string // "": that of the chart's [Head]
	Caption string // what the marks stand for
	Source  string // what was measured, where and when
}

// Named is a line of a legend.
type Named struct {
	Sample
	Key, Name string
}

// Sample is a piece of a curve or of a bar that stands beside a name in a legend.
type Sample struct {
	paint func(c canvas, width, height float64)
}

// curve is a sample of a curve: its colour, dashes and mark.
func curve(s Style) Sample {
	return Sample{func(c canvas, width, height float64) {
		c.line(1, height/2, width-1, height/2, "curve "+s.class())
		c.marks([]point{{x: width / 2, y: height / 2}}, s, "mark", "")
	}}
}

// box is a sample of the fill of part i of a bar.
func box(i int) Sample {
	return Sample{func(c canvas, width, height float64) { c.part(0, 0, width, height, i, "") }}
}

// alone is a chart with what stands around it.
type alone struct {
	Chart
	around Around
}

// Places and sizes of what stands around a chart.
const (
	aroundEdge   = 14.0
	titleLine    = 20.0
	titleLetter  = 8.3 // mean width
	aroundLine   = 16.0
	aroundLetter = 6.3
	legendLine   = 20.0
	legendSample = 26.0
)

// describe implements [Chart]: without the page it is the caption.
func (a alone) describe() string {
	if a.around.Caption == "" {
		return a.Chart.describe()
	}
	return a.around.Caption
}

// wide implements [Chart]: the chart, with room above and below it.
func (a alone) wide() frame {
	f := a.Chart.wide()
	f.height += a.above(f) + aroundEdge + legendLine*float64(len(a.legend(f))) +
		aroundLine*float64(len(a.source(f)))
	return f
}

// above is the height of title and caption.
func (a alone) above(f frame) float64 {
	return aroundEdge + titleLine*float64(len(a.title(f))) + aroundLine*float64(len(a.caption(f)))
}

func (a alone) title(f frame) []string {
	return wrapped(cmp.Or(a.around.Title, a.Name().Title), f, titleLetter)
}

func (a alone) caption(f frame) []string { return wrapped(a.around.Caption, f, aroundLetter) }
func (a alone) source(f frame) []string  { return wrapped(a.around.Source, f, aroundLetter) }

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

// legend breaks the legend into rows that fit into a frame.
func (a alone) legend(f frame) (rows [][]Named) {
	x := f.width
	for _, n := range a.Legend() {
		n.Name = short(rowName(n.Key, n.Name), int((f.width-2*aroundEdge-legendSample)/nameLetter)-2)
		if x+n.width() > f.width-aroundEdge {
			rows, x = append(rows, nil), aroundEdge
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], n)
		x += n.width()
	}
	return rows
}

// width is the room of a line of a legend, with a gap behind it.
func (n Named) width() float64 { return legendSample + 6 + nameWidth(n.Name) + 18 }

// draw implements [Chart].
func (a alone) draw(c canvas, f frame) {
	inner := a.Chart.wide()
	y := aroundEdge
	write := func(lines []string, height float64, class string) {
		for _, line := range lines {
			y += height
			c.text(aroundEdge, y-4, class, "start", line)
		}
	}
	write(a.title(inner), titleLine, "title")
	write(a.caption(inner), aroundLine, "caption")
	a.Chart.draw(canvas{c.on, point{y: y}}, inner)
	y += inner.height
	for _, row := range a.legend(inner) {
		x := aroundEdge
		for _, n := range row {
			n.paint(canvas{c.on, point{x: x, y: y + 4}}, legendSample, 10)
			c.text(x+legendSample+6, y+13, "name", "start", n.Name)
			x += n.width()
		}
		y += legendLine
	}
	write(a.source(inner), aroundLine, "caption")
}
