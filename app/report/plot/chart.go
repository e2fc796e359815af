package plot

import (
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"
)

// Chart is a picture with the values that it draws.
type Chart interface {
	// Markup returns the chart for a page, for a wide and for a narrow window; [StyleSheet] shows one of
	// them.
	Markup() template.HTML
	// File returns the chart as an SVG file that needs nothing else, in the light palette, with its title
	// and what else a reader needs around it.
	File(around Around) []byte
	// PNG returns the chart as a PNG file like that of File, with two pixels for one of a page, or one if
	// that would be too large. It fails with the reason if the chart is too large for a picture at all.
	PNG(around Around) ([]byte, error)
	// Data returns the values that are drawn, as text: the names of the columns, then the rows.
	Data() [][]string
}

// drawing is a chart as it is drawn on a surface.
type drawing interface {
	head() Head
	wide() frame
	narrow() frame
	draw(c canvas, f frame)
}

// both returns the markup of a chart for a wide and for a narrow window.
func both(d drawing) template.HTML { return svg(d, d.wide()) + svg(d, d.narrow()) }

// file makes a picture for a page one that stands alone: with a size, a background, and the style sheet.
func file(d drawing) []byte {
	f := d.wide()
	rules, paper := lightRules()
	head := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" `+
		`font-family="sans-serif"`, px(f.width), px(f.height))
	body := strings.Replace(string(svg(d, f)), "<svg", head, 1)
	at := strings.Index(body, ">") + 1
	ground := fmt.Sprintf(`<rect width="%s" height="%s" fill="%s"/>`, px(f.width), px(f.height), paper)
	return []byte(body[:at] + "<style>" + rules + "</style>" + ground + body[at:] + "\n")
}

// Head names a chart.
type Head struct {
	ID          string // unique on the page
	Title       string // for screen readers, and of a file
	Description string // what the marks stand for, likewise
	IsLead      bool   // the first picture of a page, which is wider
}

func (h Head) head() Head { return h }

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
func (s Style) Swatch() template.HTML { return Curve(s).Swatch() }

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

// exact writes a value of a data table with all its digits; "" if it is not known.
func exact(v float64) string {
	if !known(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// shortName cuts the name of a row to n characters. It shortens the longest words, as in "gath… 2×1 on 2
// hosts", before the end, in which rows may differ.
func shortName(name string, n int) string {
	const least, whole = 5, 8 // characters that are left of a word; of words that stay as they are
	words := strings.Split(name, " ")
	for excess := len([]rune(name)) - n; excess > 0; excess = len([]rune(strings.Join(words, " "))) - n {
		at, longest := 0, 0
		for i, w := range words {
			if l := len([]rune(w)); l > longest {
				at, longest = i, l
			}
		}
		if longest <= whole {
			break
		}
		words[at] = short(words[at], max(least, longest-excess))
	}
	return short(strings.Join(words, " "), n)
}

// cutNames returns the names that shortName cuts to n characters.
func cutNames(names []string, n int) []string {
	return slices.DeleteFunc(names, func(name string) bool { return shortName(name, n) == name })
}

// short cuts a text to n characters.
func short(text string, n int) string {
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return text
}
