package plot

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strconv"
	"strings"
)

// markup is a surface that builds one SVG picture.
type markup struct {
	b  strings.Builder
	id string // unique on the page
}

// svg draws a chart as a picture with a title and a description for screen readers, shown for the width of
// window that the frame is for.
func svg(d drawing, f frame) template.HTML {
	h := d.head()
	m := &markup{id: h.ID + "-" + f.class}
	fmt.Fprintf(&m.b, `<svg class="%s" viewBox="0 0 %s %s" role="img" aria-labelledby="%s-t %[4]s-d">`+
		`<title id="%[4]s-t">%s</title><desc id="%[4]s-d">%s</desc>`,
		esc(f.class), px(f.width), px(f.height), esc(m.id), esc(h.Title), esc(h.Description))
	d.draw(canvas{m}, f)
	return m.done()
}

// sample draws a sample for a legend, without a title: the text beside it says it all.
func sample(draw func(c canvas, width, height float64)) template.HTML {
	m := &markup{}
	m.b.WriteString(`<svg class="swatch" viewBox="0 0 26 10" aria-hidden="true">`)
	draw(canvas{m}, 26, 10)
	return m.done()
}

// done closes the picture and returns it.
func (m *markup) done() template.HTML {
	m.b.WriteString("</svg>")
	return template.HTML(m.b.String())
}

func (m *markup) text(x, y float64, class, anchor, s string) {
	fmt.Fprintf(&m.b, `<text x="%s" y="%s" class="%s" text-anchor="%s">%s</text>`,
		px(x), px(y), esc(class), esc(anchor), esc(s))
}

func (m *markup) turned(x, y float64, class, s string) {
	fmt.Fprintf(&m.b, `<text transform="translate(%s %s) rotate(-90)" class="%s" `+
		`text-anchor="middle">%s</text>`, px(x), px(y), esc(class), esc(s))
}

func (m *markup) path(points []point, isClosed bool, class, title string) {
	fmt.Fprintf(&m.b, `<path class="%s" d="`, esc(class))
	var at point // drawn so far, in whole tenths of a pixel, so that roundings do not add up
	drawn := 0   // points of this stretch
	for _, p := range points {
		if p.gap {
			drawn = 0
			continue
		}
		to := point{x: math.Round(10 * p.x), y: math.Round(10 * p.y)}
		switch drawn++; drawn {
		case 1:
			m.b.WriteString("M" + px(to.x/10) + " " + px(to.y/10))
		case 2:
			m.b.WriteString("l" + step((to.x-at.x)/10) + beside(step((to.y-at.y)/10)))
		default:
			m.b.WriteString(beside(step((to.x-at.x)/10)) + beside(step((to.y-at.y)/10)))
		}
		at = to
	}
	if isClosed {
		m.b.WriteByte('Z')
	}
	m.b.WriteByte('"')
	m.end("path", title)
}

// step formats a distance from the point before, without the zero before the point.
func step(v float64) string {
	text := px(v)
	switch {
	case text == "-0":
		return "0"
	case strings.HasPrefix(text, "0."):
		return text[1:]
	case strings.HasPrefix(text, "-0."):
		return "-" + text[2:]
	}
	return text
}

// beside puts a space before a number that has no sign to tell it from the one before.
func beside(number string) string {
	if number[0] == '-' {
		return number
	}
	return " " + number
}

func (m *markup) rect(x, y, w, h float64, class, title string) {
	fmt.Fprintf(&m.b, `<rect x="%s" y="%s" width="%s" height="%s" class="%s"`, px(x), px(y), px(w), px(h),
		esc(class))
	m.end("rect", title)
}

func (m *markup) mark(x, y float64, s Style, class, title string) {
	fmt.Fprintf(&m.b, `<path class="%s %s" transform="translate(%s %s)" d="%s"`, esc(class), s.class(), px(x),
		px(y), marks()[s.mark()])
	m.end("path", title)
}

func (m *markup) marks(places []point, s Style, class string) {
	fmt.Fprintf(&m.b, `<path class="%s %s" d="`, esc(class), s.class())
	for _, at := range places {
		m.b.WriteString(movedPath(marks()[s.mark()], at.x, at.y))
	}
	m.b.WriteByte('"')
	m.end("path", "")
}

// movedPath writes the path of a mark around (x, y). Arcs are relative, so they stay.
func movedPath(d string, x, y float64) string {
	var b strings.Builder
	for command, args := range commands(d) {
		b.WriteByte(command)
		switch command {
		case 'M', 'L':
			b.WriteString(px(args[0]+x) + " " + px(args[1]+y))
		case 'H':
			b.WriteString(px(args[0] + x))
		case 'V':
			b.WriteString(px(args[0] + y))
		case 'a':
			for i, v := range args {
				if i > 0 {
					b.WriteByte(' ')
				}
				b.WriteString(px(v))
			}
		}
	}
	return b.String()
}

// end closes an element, around its title if it has one.
func (m *markup) end(element, title string) {
	if title == "" {
		m.b.WriteString("/>")
		return
	}
	fmt.Fprintf(&m.b, "><title>%s</title></%s>", esc(title), element)
}

func (m *markup) part(x, y, w, h float64, i int, title string) {
	m.rect(x, y, w, h, partClass(i), title)
	if lines := hatching(x, y, w, h, i); lines != nil {
		m.path(lines, false, hatch, "")
	}
}

func esc(s string) string { return html.EscapeString(s) }

// px formats a length with a tenth of a pixel.
func px(v float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
}
