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
type markup struct{ strings.Builder }

// svg draws a chart as a picture with a title and a description for screen readers, shown for the width of
// window that the frame is for.
func svg(c Chart, f frame) template.HTML {
	m, h := &markup{}, c.Name()
	fmt.Fprintf(m, `<svg class="%s" viewBox="0 0 %s %s" role="img" aria-labelledby="%s-t %[4]s-d">`+
		`<title id="%[4]s-t">%s</title><desc id="%[4]s-d">%s</desc>`, f.class, px(f.width), px(f.height),
		esc(h.ID+"-"+f.class), esc(h.Title), esc(c.describe()))
	c.draw(canvas{on: m}, f)
	m.WriteString("</svg>")
	return template.HTML(m.String())
}

// Swatch is the sample as it stands on a page, without a title: the text beside it says it all.
func (s Sample) Swatch() template.HTML {
	m := &markup{}
	m.WriteString(`<svg class="swatch" viewBox="0 0 26 10" aria-hidden="true">`)
	s.paint(canvas{on: m}, 26, 10)
	m.WriteString("</svg>")
	return template.HTML(m.String())
}

func (m *markup) write(x, y float64, isTurned bool, class, anchor, s string) {
	place := fmt.Sprintf(`x="%s" y="%s"`, px(x), px(y))
	if isTurned {
		place = fmt.Sprintf(`transform="translate(%s %s) rotate(-90)"`, px(x), px(y))
	}
	fmt.Fprintf(m, `<text %s class="%s" text-anchor="%s">%s</text>`, place, class, anchor, esc(s))
}

func (m *markup) path(points []point, isClosed bool, class, title string) {
	fmt.Fprintf(m, `<path class="%s" d="`, class)
	var at point // drawn so far, in whole tenths of a pixel, so that roundings do not add up
	drawn := 0   // points of this stretch
	end := func() {
		if isClosed && drawn > 0 {
			m.WriteByte('Z')
		}
		drawn = 0
	}
	for _, p := range points {
		if p.gap {
			end()
			continue
		}
		to := point{x: math.Round(10 * p.x), y: math.Round(10 * p.y)}
		switch drawn++; drawn {
		case 1:
			m.WriteString("M" + px(to.x/10) + " " + px(to.y/10))
		case 2:
			m.WriteString("l" + px((to.x-at.x)/10) + " " + px((to.y-at.y)/10))
		default:
			m.WriteString(" " + px((to.x-at.x)/10) + " " + px((to.y-at.y)/10))
		}
		at = to
	}
	end()
	if title == "" {
		m.WriteString(`"/>`)
		return
	}
	fmt.Fprintf(m, `"><title>%s</title></path>`, esc(title))
}

func esc(s string) string { return html.EscapeString(s) }

// px formats a length with a tenth of a pixel.
func px(v float64) string {
	text := strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
	if text == "-0" {
		return "0"
	}
	return text
}
