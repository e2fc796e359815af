package plot

import (
	"fmt"
	"io"
	"math"
	"strings"

	"git.sr.ht/~sbinet/gg"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
)

// pixels is a surface that draws a PNG picture in the light palette, with the Go fonts.
type pixels struct {
	*gg.Context
	scale float64
	rules []rule
	faces map[typeface]font.Face
}

// typeface is a font in a size.
type typeface struct {
	isBold bool
	size   float64
}

// mostPixels bounds a picture: 64 MiB of memory.
const mostPixels = 16 << 20

// PNG writes a chart as a PNG file like that of [File], with two pixels for one of a page, or fewer if that
// would be too large.
func PNG(w io.Writer, h Head, chart Chart, text string) error {
	chart = alone{chart, chart.frame(h.wide()), h.Title, text}
	f := chart.frame(frame{})
	scale := math.Min(2, math.Sqrt(mostPixels/(f.width*f.height)))
	rules, paper := lightRules()
	c := gg.NewContext(int(math.Ceil(f.width*scale)), int(math.Ceil(f.height*scale)))
	c.SetHexColor(paper)
	c.Clear()
	chart.draw(canvas{on: &pixels{c, scale, parseRules(rules), map[typeface]font.Face{}}}, f)
	if err := c.EncodePNG(w); err != nil {
		return fmt.Errorf("plot: %s: %w", h.ID, err)
	}
	return nil
}

// write draws a text, without the halo that it may have in markup.
func (p *pixels) write(x, y float64, isTurned bool, class, anchor, s string) {
	const boldFrom = 550 // of the weights of the two fonts, 400 and 700, the nearer one
	l := lookOf(p.rules, "text "+class)
	isBold := l.number("font-weight", 400) > boldFrom
	p.SetFontFace(p.face(typeface{isBold, l.number("font-size", 12) * p.scale}))
	if l["white-space"] != "pre" {
		s = strings.Join(strings.Fields(s), " ")
	}
	part := map[string]float64{"start": 0, "middle": 0.5, "end": 1}[anchor]
	x, y = x*p.scale, y*p.scale
	if isTurned {
		p.Push()
		defer p.Pop()
		p.RotateAbout(-math.Pi/2, x, y)
	}
	if ink := l.ink("fill", "#000000"); ink != nil {
		p.SetColor(ink)
		p.DrawStringAnchored(s, x, y, part, 0)
	}
}

// face returns a font in a size.
func (p *pixels) face(t typeface) font.Face {
	if p.faces[t] == nil {
		file := goregular.TTF
		if t.isBold {
			file = gobold.TTF
		}
		parsed, err := opentype.Parse(file)
		if err == nil {
			p.faces[t], err = opentype.NewFace(parsed, &opentype.FaceOptions{Size: t.size, DPI: 72})
		}
		if err != nil {
			panic(fmt.Sprintf("plot: font of the library: %v", err))
		}
	}
	return p.faces[t]
}

// at returns a place in pixels, rounded as in markup so that dashes start at the same places, and near enough
// for the library's arithmetic with 32 bits.
func (p *pixels) at(v float64) float64 {
	const far = 1 << 14 // no picture has as many pixels in a row, but for very high ones
	return math.Min(math.Max(math.Round(10*v)/10*p.scale, -far), far)
}

func (p *pixels) path(points []point, isClosed bool, class, _ string) {
	isNew := true
	for _, to := range points {
		switch {
		case to.isGap() && isClosed && !isNew:
			p.ClosePath()
		case to.isGap():
		case isNew:
			p.NewSubPath()
			p.MoveTo(p.at(to.x), p.at(to.y))
		default:
			p.LineTo(p.at(to.x), p.at(to.y))
		}
		isNew = to.isGap()
	}
	if isClosed && !isNew {
		p.ClosePath()
	}
	p.paint(lookOf(p.rules, class))
}

// paint fills and strokes the current path by a look.
func (p *pixels) paint(l look) {
	if ink := l.ink("fill", "#000000"); ink != nil {
		p.SetColor(ink)
		p.FillPreserve()
	}
	if ink := l.ink("stroke", "none"); ink != nil {
		p.SetColor(ink)
		p.SetLineWidth(l.number("stroke-width", 1) * p.scale)
		p.SetLineCapButt()
		p.SetLineJoinBevel()
		if l["stroke-linejoin"] == "round" {
			p.SetLineCapRound()
			p.SetLineJoinRound()
		}
		p.SetDash(l.dashes(p.scale)...)
		p.StrokePreserve()
	}
	p.ClearPath()
}
