package plot

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
)

// Chart is a picture with the values that it draws: [Lines], [Bars] or [Dots].
type Chart interface {
	// Name returns what the chart is called.
	Name() Head
	// Legend names the curves, or the parts of bars.
	Legend() []Named
	// Data returns the values that are drawn, as text: the names of the columns, then the rows.
	Data() [][]string

	describe() string // for screen readers
	wide() frame
	narrow() frame
	draw(c canvas, f frame)
}

// Markup returns a chart for a page, for a wide and for a narrow window; [StyleSheet] shows one of them.
func Markup(c Chart) template.HTML { return svg(c, c.wide()) + svg(c, c.narrow()) }

// File returns a chart as an SVG file that needs nothing else, in the light palette, with its title and what
// else a reader needs around it.
func File(c Chart, around Around) []byte {
	c = alone{c, around}
	f := c.wide()
	rules, paper := lightRules()
	head := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" `+
		`font-family="sans-serif"`, px(f.width), px(f.height))
	body := strings.Replace(string(svg(c, f)), "<svg", head, 1)
	at := strings.Index(body, ">") + 1
	ground := fmt.Sprintf(`<rect width="%s" height="%s" fill="%s"/>`, px(f.width), px(f.height), paper)
	return []byte(body[:at] + "<style>" + rules + "</style>" + ground + body[at:] + "\n")
}

// Head names a chart.
type Head struct {
	ID     string // unique on the page
	Title  string // for screen readers, and of a file
	IsLead bool   // the first picture of a page, which is wider
}

// Name implements [Chart].
func (h Head) Name() Head { return h }

// Style tells a series from others by colour, dashes and marks.
type Style struct {
	Colour int // 0 to 5
	Number int // of the series; 36 numbers have dashes and marks of their own
}

// NumColours is the number of colours of series.
const NumColours = 6

func (s Style) class() string { return fmt.Sprintf("k%d d%d", s.Colour%NumColours, s.Number%6) }

// Swatch is a sample of a curve: its colour, dashes and mark.
func (s Style) Swatch() template.HTML { return curve(s).Swatch() }

// frame is the geometry of a plot: the picture and the margins around the data.
type frame struct {
	class                    string
	width, height            float64
	left, right, top, bottom float64
	isWide                   bool
}

func (h Head) wide() frame {
	f := frame{class: "wide", width: 580, height: 310, left: 60, right: 20, top: 12, bottom: 46,
		isWide: true}
	if h.IsLead {
		f.width = 760
	}
	return f
}

func (h Head) narrow() frame {
	return frame{class: "narrow", width: 343, height: 290, left: 52, right: 34, top: 12, bottom: 46}
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
		return string(runes[:max(0, n-1)]) + "…"
	}
	return text
}

// nameLetter is the width of a letter of a name, most of whose letters are small.
const nameLetter = 7.5

// nameWidth is the width of a name.
func nameWidth(text string) float64 { return nameLetter * float64(len([]rune(text))) }
