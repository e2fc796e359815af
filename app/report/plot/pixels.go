package plot

import (
	"bytes"
	"fmt"
	"iter"
	"math"
	"strconv"
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
	looks map[string]look
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

// png draws a chart as a PNG picture for a wide window.
func png(d drawing) ([]byte, error) {
	f := d.wide()
	scale := scaleOf(f)
	if scale == 0 {
		return nil, fmt.Errorf("plot: %s: a picture of %.0f × %.0f, want 1 to %d pixels", d.head().ID,
			f.width, f.height, mostPixels)
	}
	rules, paper := lightRules()
	ground, _ := parseColour(paper)
	c := gg.NewContext(int(math.Ceil(f.width*scale)), int(math.Ceil(f.height*scale)))
	c.SetColor(ground)
	c.Clear()
	p := &pixels{c, scale, parseRules(rules), map[string]look{}, map[typeface]font.Face{}}
	d.draw(canvas{p}, f)
	var b bytes.Buffer
	if err := c.EncodePNG(&b); err != nil {
		return nil, fmt.Errorf("plot: %s: %w", d.head().ID, err)
	}
	return b.Bytes(), nil
}

// look returns how an element with classes looks.
func (p *pixels) look(class string, isText bool) look {
	name := class
	if isText {
		name = "text " + class
	}
	if p.looks[name] == nil {
		p.looks[name] = lookOf(p.rules, class, isText)
	}
	return p.looks[name]
}

// at returns a place in pixels, near enough for the library's arithmetic with 32 bits.
func (p *pixels) at(x, y float64) (px, py float64) {
	const far = 1 << 14 // no picture has as many pixels in a row, but for very high ones
	return math.Min(math.Max(x*p.scale, -far), far), math.Min(math.Max(y*p.scale, -far), far)
}

func (p *pixels) text(x, y float64, class, anchor, s string) {
	parts := map[string]float64{"start": 0, "middle": 0.5, "end": 1}
	p.write(x, y, parts[anchor], s, p.look(class, true))
}

func (p *pixels) turned(x, y float64, class, s string) {
	p.Push()
	defer p.Pop()
	p.RotateAbout(-math.Pi/2, x*p.scale, y*p.scale)
	p.write(x, y, 0.5, s, p.look(class, true))
}

// write draws a text, and around its letters the halo of its look.
func (p *pixels) write(x, y, anchor float64, s string, l look) {
	const boldFrom = 550 // of the weights of the two fonts, 400 and 700, the nearer one
	isBold := l.number("font-weight", 400) > boldFrom
	p.SetFontFace(p.face(typeface{isBold, l.number("font-size", 12) * p.scale}))
	if l["white-space"] != "pre" {
		s = strings.Join(strings.Fields(s), " ")
	}
	x, y = x*p.scale, y*p.scale
	if halo := l.ink("stroke", "none"); halo != nil {
		p.SetColor(halo)
		const around = 12 // copies of the text at the edge of the halo
		for i := range around {
			dy, dx := math.Sincos(2 * math.Pi * float64(i) / around)
			r := l.number("stroke-width", 1) / 2 * p.scale
			p.DrawStringAnchored(s, x+r*dx, y+r*dy, anchor, 0)
		}
	}
	if ink := l.ink("fill", "#000000"); ink != nil {
		p.SetColor(ink)
		p.DrawStringAnchored(s, x, y, anchor, 0)
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

func (p *pixels) path(points []point, isClosed bool, class, _ string) {
	isNew := true
	for _, at := range points {
		switch x, y := p.at(tenth(at.x), tenth(at.y)); {
		case at.gap:
		case isNew:
			p.NewSubPath()
			p.MoveTo(x, y)
		default:
			p.LineTo(x, y)
		}
		isNew = at.gap
	}
	if isClosed {
		p.ClosePath()
	}
	p.paint(p.look(class, false))
}

// tenth rounds a place as markup writes it, so that dashes start at the same places.
func tenth(v float64) float64 { return math.Round(10*v) / 10 }

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

func (p *pixels) rect(x, y, w, h float64, class, _ string) {
	p.DrawRectangle(x*p.scale, y*p.scale, w*p.scale, h*p.scale)
	p.paint(p.look(class, false))
}

func (p *pixels) mark(x, y float64, s Style, class, _ string) {
	p.outline(marks()[s.mark()], x, y)
	p.paint(p.look(class+" "+s.class(), false))
}

func (p *pixels) marks(places []point, s Style, class string) {
	for _, at := range places {
		p.outline(marks()[s.mark()], at.x, at.y)
	}
	p.paint(p.look(class+" "+s.class(), false))
}

func (p *pixels) part(x, y, w, h float64, i int, title string) {
	p.rect(x, y, w, h, partClass(i), title)
	p.path(hatching(x, y, w, h, i), false, hatch, "")
}

// outline draws the path of a mark, moved by (dx, dy): the commands M, L, H, V and Z, and a for half a circle
// from left to right or back, each written out.
func (p *pixels) outline(d string, dx, dy float64) {
	var x, y float64
	for command, args := range commands(d) {
		switch command {
		case 'M', 'L':
			x, y = args[0], args[1]
		case 'H':
			x = args[0]
		case 'V':
			y = args[0]
		case 'a':
			r := args[5] / 2
			from := math.Atan2(0, -r)
			cx, cy := p.at(x+r+dx, y+dy)
			p.DrawArc(cx, cy, math.Abs(r)*p.scale, from, from+math.Pi)
			x += args[5]
			continue
		}
		switch px, py := p.at(x+dx, y+dy); command {
		case 'M':
			p.MoveTo(px, py)
		case 'Z':
			p.ClosePath()
		default:
			p.LineTo(px, py)
		}
	}
}

// commands returns the commands of a path with their numbers.
func commands(d string) iter.Seq2[byte, []float64] {
	return func(yield func(byte, []float64) bool) {
		for d != "" {
			command := d[0]
			end := strings.IndexAny(d[1:], "MLHVZa") + 1
			if end == 0 {
				end = len(d)
			}
			var args []float64
			for s := range strings.FieldsSeq(d[1:end]) {
				v, _ := strconv.ParseFloat(s, 64)
				args = append(args, v)
			}
			d = d[end:]
			if !yield(command, args) {
				return
			}
		}
	}
}
