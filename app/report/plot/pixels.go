package plot

import (
	"bytes"
	"fmt"
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

// scaleOf returns the pixels of a picture for each pixel of a page: as on a fine screen, or less if that is
// too large; 0 if nothing fits.
func scaleOf(f frame) float64 {
	for _, scale := range []float64{2, 1} {
		if w, h := f.width*scale, f.height*scale; w >= 1 && h >= 1 && w*h <= mostPixels {
			return scale
		}
	}
	return 0
}

// PNG returns a chart as a PNG file like that of [File], with two pixels for one of a page, or one if that
// would be too large. It fails with the reason if the chart is too large for a picture at all.
func PNG(chart Chart, around Around) ([]byte, error) {
	chart = alone{chart, around}
	f := chart.wide()
	scale := scaleOf(f)
	if scale == 0 {
		return nil, fmt.Errorf("plot: %s: a picture of %.0f × %.0f, want 1 to %d pixels", chart.Name().ID,
			f.width, f.height, mostPixels)
	}
	rules, paper := lightRules()
	c := gg.NewContext(int(math.Ceil(f.width*scale)), int(math.Ceil(f.height*scale)))
	c.SetHexColor(paper)
	c.Clear()
	chart.draw(canvas{on: &pixels{c, scale, parseRules(rules), map[typeface]font.Face{}}}, f)
	var b bytes.Buffer
	if err := c.EncodePNG(&b); err != nil {
		return nil, fmt.Errorf("plot: %s: %w", chart.Name().ID, err)
	}
	return b.Bytes(), nil
}

// write draws a text, and around its letters the halo of its look.
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
	if halo := l.ink("stroke", "none"); halo != nil {
		p.SetColor(halo)
		const around = 12 // copies of the text at the edge of the halo
		for i := range around {
			dy, dx := math.Sincos(2 * math.Pi * float64(i) / around)
			r := l.number("stroke-width", 1) / 2 * p.scale
			p.DrawStringAnchored(s, x+r*dx, y+r*dy, part, 0)
		}
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
		case to.gap && isClosed && !isNew:
			p.ClosePath()
		case to.gap:
		case isNew:
			p.NewSubPath()
			p.MoveTo(p.at(to.x), p.at(to.y))
		default:
			p.LineTo(p.at(to.x), p.at(to.y))
		}
		isNew = to.gap
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
