package plot

import (
	"fmt"
	"html"
	"html/template"
	"strconv"
	"strings"
)

// markup builds one SVG picture. Everything a caller passes as text is escaped here, so no other code need.
type markup struct{ strings.Builder }

// svg draws a chart as a picture of a class with a title for screen readers.
func svg(h Head, c Chart, f frame, class string) template.HTML {
	m := &markup{}
	fmt.Fprintf(m, `<svg class="%s" viewBox="0 0 %s %s" role="img" aria-labelledby="%s-t">`+
		`<title id="%[4]s-t">%s</title>`, class, px(f.width), px(f.height), esc(h.ID), esc(h.Title))
	c.draw(m, f)
	m.WriteString("</svg>")
	return template.HTML(m.String())
}

// write writes s, upwards if it is turned.
func (m *markup) write(x, y float64, isTurned bool, class, anchor, s string) {
	place := fmt.Sprintf(`x="%s" y="%s"`, px(x), px(y))
	if isTurned {
		place = fmt.Sprintf(`transform="translate(%s %s) rotate(-90)"`, px(x), px(y))
	}
	fmt.Fprintf(m, `<text %s class="%s" text-anchor="%s">%s</text>`, place, class, anchor, esc(s))
}

// path joins points; a gap starts a new stretch, and each stretch of a closed path goes back to its first
// point. The title is shown when pointed at.
func (m *markup) path(points []point, isClosed bool, class, title string) {
	fmt.Fprintf(m, `<path class="%s" d="`, class)
	isNew := true
	for _, p := range points {
		switch {
		case p.isGap():
			if isClosed && !isNew {
				m.WriteByte('Z')
			}
		case isNew:
			m.WriteString("M" + px(p.x) + " " + px(p.y))
		default:
			m.WriteString("L" + px(p.x) + " " + px(p.y))
		}
		isNew = p.isGap()
	}
	if isClosed && !isNew {
		m.WriteByte('Z')
	}
	m.WriteString(`">`)
	if title != "" {
		m.WriteString("<title>" + esc(title) + "</title>")
	}
	m.WriteString("</path>")
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
