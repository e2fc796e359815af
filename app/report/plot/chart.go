package plot

import (
	_ "embed"
	"fmt"
	"html/template"
	"regexp"
	"strconv"
	"strings"
)

// StyleSheet has the colours of both palettes as custom properties, and the rules of charts. A page that
// holds charts needs it.
//
//go:embed plot.css
var StyleSheet string

// Chart is a picture with the values that it draws.
type Chart interface {
	// Markup returns the chart for a page, for a wide and for a narrow window; [StyleSheet] shows one of
	// them.
	Markup() template.HTML
	// File returns the chart as an SVG file that needs nothing else, in the light palette.
	File() []byte
	// Data returns the values that are drawn, as text: the names of the columns, then the rows.
	Data() [][]string
}

// Head names a chart.
type Head struct {
	ID          string // unique on the page
	Title       string // for screen readers, and of a file
	Description string // what the marks stand for, likewise
	IsLead      bool   // the first picture of a page, which is wider
}

// Style tells a series from others by colour, dashes and marks.
type Style struct {
	Colour int // 0 to 5
	Number int // of the series; 36 numbers have dashes and marks of their own
}

// NumColours is the number of colours of series.
const NumColours = 6

func (s Style) mark() int { return (s.Number + s.Number/len(marks())) % len(marks()) }

func (s Style) class() string { return fmt.Sprintf("k%d d%d", s.Colour%NumColours, s.Number%6) }

// Swatch is a sample of a curve: its colour, dashes and mark.
func (s Style) Swatch() template.HTML {
	c := newSample()
	c.line(1, 5, 25, 5, "curve "+s.class())
	c.mark(13, 5, s, "mark", "")
	return c.markup()
}

// Box is a sample of the fill of part i of a bar; id is unique on the page.
func Box(id string, i int) template.HTML {
	c := newSample()
	c.hatch(id)
	c.part(0, 0, c.width, c.height, id, i, "")
	return c.markup()
}

// frame is the geometry of a plot: the picture and the margins around the data.
type frame struct {
	class                    string
	width, height            float64
	left, right, top, bottom float64
	isWide                   bool
}

func (h Head) wide() frame {
	f := frame{class: "wide", width: 580, height: 310, left: 60, right: 140, top: 12, bottom: 46,
		isWide: true}
	if h.IsLead {
		f.width = 760
	}
	return f
}

func (h Head) narrow() frame {
	return frame{class: "narrow", width: 343, height: 290, left: 52, right: 34, top: 12, bottom: 46}
}

// canvas opens the picture of the chart in a frame.
func (h Head) canvas(f frame) *canvas {
	return newCanvas(h.ID+"-"+f.class, f.class, h.Title, h.Description, f.width, f.height)
}

var property = regexp.MustCompile(`var\((--[a-z0-9-]+)\)`)

// file makes a picture for a page one that stands alone: with a size, a background, and the style sheet,
// whose custom properties are replaced by their values because not every viewer of SVG knows them.
func file(picture template.HTML, f frame) []byte {
	light, rules, _ := strings.Cut(StyleSheet, "}")
	_, rules, _ = strings.Cut(rules, "/* rules */")
	rules, _, _ = strings.Cut(rules, "/* page */")
	values := map[string]string{}
	for _, pair := range strings.Split(strings.TrimPrefix(light, ":root{"), ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(pair), ":")
		values[name] = value
	}
	rules = property.ReplaceAllStringFunc(rules, func(s string) string {
		return values[property.FindStringSubmatch(s)[1]]
	})
	head := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" `+
		`font-family="sans-serif"`, px(f.width), px(f.height))
	body := strings.Replace(string(picture), "<svg", head, 1)
	at := strings.Index(body, ">") + 1
	return []byte(body[:at] + "<style>" + rules + "</style>" +
		fmt.Sprintf(`<rect width="%s" height="%s" fill="%s"/>`, px(f.width), px(f.height),
			values["--paper"]) +
		body[at:] + "\n")
}

// exact writes a value of a data table with all its digits; "" if it is not known.
func exact(v float64) string {
	if !known(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// short cuts a text to n characters.
func short(text string, n int) string {
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return text
}
