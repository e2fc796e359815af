package report

import (
	"fmt"
	"html"
	"html/template"
	"strconv"
	"strings"
)

// canvas builds one SVG picture. Everything a caller passes as text is escaped here, so no
// other code needs to.
type canvas struct {
	b             strings.Builder
	width, height float64
}

// newCanvas opens a picture with a title and a description for screen readers; id is unique on
// the page, class selects the width of window it is shown for.
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

// textures defines the hatchings that tell phases apart without colour: diagonals, dots,
// lines. The names start with id, for they are global on a page.
func (c *canvas) textures(id string) {
	for phase, d := range textured() {
		if d == "" {
			continue
		}
		fmt.Fprintf(&c.b, `<pattern id="%s-x%d" width="6" height="6" `+
			`patternUnits="userSpaceOnUse"><path class="hatch" d="%s"/></pattern>`, esc(id), phase, d)
	}
}

// texture lays the hatching of a phase over a box; phases that need none get none.
func (c *canvas) texture(x, y, w, h float64, id string, phase int) {
	if phase < len(textured()) && textured()[phase] != "" {
		fmt.Fprintf(&c.b, `<rect x="%s" y="%s" width="%s" height="%s" fill="url(#%s-x%d)" `+
			`class="texture"/>`, px(x), px(y), px(w), px(h), esc(id), phase)
	}
}

// textured returns the path of each phase's hatching, in the order of analysis.Phases.
func textured() []string {
	return []string{"", "", "M-1 1L1 -1M0 6L6 0M5 7L7 5", "M0 3H6", "M3 0V6", ""}
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
func (c *canvas) curve(points []point, class, title string) {
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
	fmt.Fprintf(&c.b, `<path class="%s" d="%s"><title>%s</title></path>`,
		esc(class), d.String(), esc(title))
}

// band fills the area within points. The title is shown when pointed at.
func (c *canvas) band(points []point, class, title string) {
	var d strings.Builder
	pen := byte('M')
	for _, p := range points {
		d.WriteByte(pen)
		d.WriteString(px(p.x) + " " + px(p.y))
		pen = 'L'
	}
	fmt.Fprintf(&c.b, `<path class="%s" d="%sZ"><title>%s</title></path>`, esc(class), d.String(), esc(title))
}

// rect draws a box; its title, if any, is shown when pointed at.
func (c *canvas) rect(x, y, w, h float64, class, title string) {
	if title != "" {
		title = "<title>" + esc(title) + "</title>"
	}
	fmt.Fprintf(&c.b, `<rect x="%s" y="%s" width="%s" height="%s" class="%s">%s</rect>`,
		px(x), px(y), px(w), px(h), esc(class), title)
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
