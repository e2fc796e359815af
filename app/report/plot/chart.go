package plot

import (
	"fmt"
	"html/template"
)

// Chart is a picture: [Lines], or a [Tabular] one.
type Chart interface {
	// Legend names the curves, or the parts of bars.
	Legend() []Named

	frame(f frame) frame // f with the room that the chart needs
	draw(c canvas, f frame)
}

// Tabular is a chart with a table of the values that it draws: [Bars], [Dots], [Matrix], [Lanes] or
// [Waterfall]. Those of [Lines] are its series.
type Tabular interface {
	Chart
	// Data returns the names of the columns, then rows of texts and float64.
	Data() [][]any
}

// Head names a chart.
type Head struct {
	ID     string // unique on the page
	Title  string
	IsLead bool // the first picture of a page, which is wider
}

// Markup returns a chart for a page, for a wide and for a narrow window; [StyleSheet] shows one of them.
func Markup(h Head, c Chart) template.HTML {
	narrow := h
	h.ID, narrow.ID = h.ID+"-wide", h.ID+"-narrow"
	return svg(h, c, c.frame(h.wide()), "wide") +
		svg(narrow, c, c.frame(frame{343, 290, 52, 34, 12, 46, false}), "narrow")
}

// Style tells a series from others by colour, dashes and marks.
type Style struct {
	Colour int // 0 to 5
	Number int // of the series; 36 numbers have dashes and marks of their own
}

// NumColours is the number of colours of series.
const NumColours = 6

func (s Style) class() string { return fmt.Sprintf("k%d d%d", s.Colour%NumColours, s.Number%6) }

// frame is the geometry of a plot: the picture and the margins around the data.
type frame struct {
	width, height            float64
	left, right, top, bottom float64
	isWide                   bool
}

// wide is the geometry in a wide window.
func (h Head) wide() frame {
	f := frame{580, 310, 60, 20, 12, 46, true}
	if h.IsLead {
		f.width = 760
	}
	return f
}

// short cuts a text to n characters.
func short(text string, n int) string {
	if runes := []rune(text); len(runes) > n {
		return string(runes[:max(0, n-1)]) + "…"
	}
	return text
}

// nameLetter is the width of a letter of a name, most of whose letters are small.
const nameLetter = 7.5

// nameWidth is the width of a name.
func nameWidth(text string) float64 { return nameLetter * float64(len([]rune(text))) }
