package plot

import "strings"

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
		c.marks([]point{{width / 2, height / 2}}, s, "mark", "")
	}}
}

// box is a sample of the fill of part i of a bar.
func box(i int) Sample {
	return Sample{func(c canvas, width, height float64) { c.rect(0, 0, width, height, part(i), "") }}
}

// alone is a chart that has left its page, with its title above it, its legend and a text below.
type alone struct {
	Chart
	inner       frame // of the chart
	title, text string
}

// Places and sizes of what stands around a chart.
const (
	aroundEdge   = 14.0
	titleLine    = 20.0
	textLine     = 16.0
	textLetter   = 6.3 // mean width
	legendLine   = 20.0
	legendSample = 26.0
)

// frame implements [Chart]: that of the chart, with room above and below it.
func (a alone) frame(frame) frame {
	f := a.inner
	f.height += 2*aroundEdge + titleLine + legendLine*float64(len(a.Legend())) +
		textLine*float64(len(a.lines()))
	return f
}

// lines breaks the text into lines that fit into the frame, by the mean width of a letter.
func (a alone) lines() (lines []string) {
	most := int((a.inner.width - 2*aroundEdge) / textLetter)
	for word := range strings.FieldsSeq(a.text) {
		last := len(lines) - 1
		if last < 0 || len([]rune(lines[last]+" "+word)) > most {
			lines = append(lines, short(word, most))
		} else {
			lines[last] += " " + word
		}
	}
	return lines
}

// draw implements [Chart].
func (a alone) draw(c canvas, _ frame) {
	y := aroundEdge + titleLine
	c.text(aroundEdge, y-4, "title", "start", a.title)
	a.Chart.draw(canvas{c.on, point{0, y}}, a.inner)
	y += a.inner.height
	for _, n := range a.Legend() {
		n.paint(canvas{c.on, point{aroundEdge, y + 4}}, legendSample, 10)
		c.text(aroundEdge+legendSample+6, y+13, "name", "start", strings.TrimSpace(n.Key+"  "+n.Name))
		y += legendLine
	}
	for _, line := range a.lines() {
		y += textLine
		c.text(aroundEdge, y-4, "caption", "start", line)
	}
}
