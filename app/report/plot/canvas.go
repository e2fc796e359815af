package plot

import (
	"fmt"
	"html"
	"html/template"
	"strconv"
	"strings"
)

// canvas builds one SVG picture. Everything a caller passes as text is escaped here, so no other code needs
// to. Its user unit is a pixel.
type canvas struct {
	b             strings.Builder
	width, height float64
}

// newCanvas opens a picture with a title and a description for screen readers. id is unique on the page,
// class selects the width of window it is shown for.
func newCanvas(id, class, title, description string, width, height float64) *canvas {
	c := &canvas{width: width, height: height}
	fmt.Fprintf(&c.b, `<svg class="%s" viewBox="0 0 %s %s" role="img" `+
		`aria-labelledby="%s-t %s-d"><title id="%s-t">%s</title><desc id="%s-d">%s</desc>`,
		esc(class), px(width), px(height), esc(id), esc(id), esc(id), esc(title),
		esc(id), esc(description))
	return c
}

// newSample opens a picture for a legend, without a title: the text beside it says it all.
func newSample() *canvas {
	c := &canvas{width: 26, height: 10}
	c.b.WriteString(`<svg class="swatch" viewBox="0 0 26 10" aria-hidden="true">`)
	return c
}

// hatchings are the paths that tell the parts of a bar apart without colour, in tiles of 6 by 6; "" is plain.
func hatchings() []string {
	return []string{"", "M0 3H6", "M-1 1L1 -1M0 6L6 0M5 7L7 5", "M3 0V6", "M-1 5L1 7M0 0L6 6M5 -1L7 1",
		"M3 0V6M0 3H6", "M0 1.5H6M0 4.5H6"}
}

// hatch defines the hatchings under names that start with id, for they are global on a page.
func (c *canvas) hatch(id string) {
	for i, d := range hatchings() {
		if d != "" {
			fmt.Fprintf(&c.b, `<pattern id="%s-x%d" width="6" height="6" patternUnits="userSpaceOnUse">`+
				`<path class="hatch" d="%s"/></pattern>`, esc(id), i, d)
		}
	}
}

// part draws a box of a bar in the fill of part i, with its hatching.
func (c *canvas) part(x, y, w, h float64, id string, i int, title string) {
	i %= len(hatchings())
	c.rect(x, y, w, h, fmt.Sprintf("phase p%d", i), title)
	if hatchings()[i] != "" {
		fmt.Fprintf(&c.b, `<rect x="%s" y="%s" width="%s" height="%s" fill="url(#%s-x%d)" `+
			`class="texture"/>`, px(x), px(y), px(w), px(h), esc(id), i)
	}
}

// markup closes the picture and returns it.
func (c *canvas) markup() template.HTML {
	c.b.WriteString("</svg>")
	return template.HTML(c.b.String())
}

// text writes s with its baseline at (x, y); anchor is start, middle or end.
func (c *canvas) text(x, y float64, class, anchor, s string) {
	fmt.Fprintf(&c.b, `<text x="%s" y="%s" class="%s" text-anchor="%s">%s</text>`,
		px(x), px(y), esc(class), esc(anchor), esc(s))
}

// turned writes s upwards, centred on (x, y).
func (c *canvas) turned(x, y float64, class, s string) {
	fmt.Fprintf(&c.b, `<text transform="translate(%s %s) rotate(-90)" class="%s" `+
		`text-anchor="middle">%s</text>`, px(x), px(y), esc(class), esc(s))
}

func (c *canvas) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(&c.b, `<path class="%s" d="M%s %sL%s %s"/>`,
		esc(class), px(x1), px(y1), px(x2), px(y2))
}

// curve joins points; a gap starts a new stretch. The title is shown when pointed at.
func (c *canvas) curve(points []point, class, title string) { c.path(points, class, title, "") }

// band fills the area within points. The title is shown when pointed at.
func (c *canvas) band(points []point, class, title string) { c.path(points, class, title, "Z") }

func (c *canvas) path(points []point, class, title, end string) {
	var d strings.Builder
	pen := byte('M')
	for _, p := range points {
		if p.gap {
			pen = 'M'
			continue
		}
		d.WriteByte(pen)
		d.WriteString(px(p.x) + " " + px(p.y))
		pen = 'L'
	}
	if title != "" {
		title = "<title>" + esc(title) + "</title>"
	}
	fmt.Fprintf(&c.b, `<path class="%s" d="%s%s">%s</path>`, esc(class), d.String(), end, title)
}

// rect draws a box; its title, if any, is shown when pointed at.
func (c *canvas) rect(x, y, w, h float64, class, title string) {
	if title != "" {
		title = "<title>" + esc(title) + "</title>"
	}
	fmt.Fprintf(&c.b, `<rect x="%s" y="%s" width="%s" height="%s" class="%s">%s</rect>`,
		px(x), px(y), px(w), px(h), esc(class), title)
}

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

// mark draws the mark of a style at (x, y), with a class of its own.
func (c *canvas) mark(x, y float64, s Style, class, title string) {
	if title != "" {
		title = "<title>" + esc(title) + "</title>"
	}
	fmt.Fprintf(&c.b, `<path class="%s %s" transform="translate(%s %s)" d="%s">%s</path>`, esc(class),
		s.class(), px(x), px(y), marks()[s.mark()], title)
}

// point is a position on a canvas; gap stands for a missing value.
type point struct {
	x, y float64
	gap  bool
}

func esc(s string) string { return html.EscapeString(s) }

// px formats a length with a tenth of a pixel.
func px(v float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
}
