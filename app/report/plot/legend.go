package plot

import "html/template"

// Named is a line of a legend: a sample of a curve or of a bar, with a name beside it.
type Named struct {
	Swatch    template.HTML
	Key, Name string
}

// swatch is a sample as it stands on a page, without a title: the text beside it says it all.
func swatch(paint func(c canvas, width, height float64)) template.HTML {
	m := &markup{}
	m.WriteString(`<svg class="swatch" viewBox="0 0 26 10" aria-hidden="true">`)
	paint(m, 26, 10)
	m.WriteString("</svg>")
	return template.HTML(m.String())
}

// Swatch is a sample of a curve: its colour, dashes and mark.
func (s Style) Swatch() template.HTML {
	return swatch(func(c canvas, width, height float64) {
		c.line(1, height/2, width-1, height/2, "curve "+s.class())
		c.marks([]point{{width / 2, height / 2}}, s, "mark", "")
	})
}

// box is a sample of the fill of part i of a bar.
func box(i int) template.HTML {
	return swatch(func(c canvas, width, height float64) { c.rect(0, 0, width, height, part(i), "") })
}
