package plot

import (
	"bytes"
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"

	"lockstep/app/report/raster"
)

// pixels is a surface that draws a PNG picture in the light palette.
type pixels struct {
	*raster.Picture
	rules []rule
	looks map[string]look
}

// scales are the pixels of a PNG picture per pixel of a page: as on a fine screen, or less if that is too
// large.
func scales() []float64 { return []float64{2, 1} }

// png draws a chart as a PNG picture for a wide window.
func png(d drawing) ([]byte, error) {
	f := d.wide()
	rules, paper := lightRules()
	ground, _ := parseColour(paper)
	var picture *raster.Picture
	var err error
	for _, scale := range scales() {
		if picture, err = raster.New(f.width, f.height, scale, ground); err == nil {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("plot: %s: %w", d.head().ID, err)
	}
	d.draw(canvas{&pixels{picture, parseRules(rules), map[string]look{}}}, f)
	var b bytes.Buffer
	if err := picture.Encode(&b); err != nil {
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

func (p *pixels) text(x, y float64, class, anchor, s string) {
	parts := map[string]float64{"start": 0, "middle": 0.5, "end": 1}
	p.write(raster.Text{At: raster.Point{X: x, Y: y}, Anchor: parts[anchor], Text: s}, class)
}

func (p *pixels) turned(x, y float64, class, s string) {
	p.write(raster.Text{At: raster.Point{X: x, Y: y}, Anchor: 0.5, IsUp: true, Text: s}, class)
}

// write completes a text by its look.
func (p *pixels) write(t raster.Text, class string) {
	const boldFrom = 550 // of the weights of the two fonts, 400 and 700, the nearer one
	l := p.look(class, true)
	t.Size, t.IsBold = l.number("font-size", 12), l.number("font-weight", 400) > boldFrom
	t.Halo, t.Around = l.ink("stroke", "none"), l.number("stroke-width", 1)/2
	if l["white-space"] != "pre" {
		t.Text = strings.Join(strings.Fields(t.Text), " ")
	}
	p.Text(t, l.ink("fill", "#000000"))
}

func (p *pixels) path(points []point, isClosed bool, class, _ string) {
	var stretches [][]raster.Point
	isNew := true
	for _, at := range points {
		if at.gap {
			isNew = true
			continue
		}
		if isNew {
			stretches = append(stretches, nil)
		}
		n := len(stretches) - 1
		stretches[n], isNew = append(stretches[n], raster.Point{X: tenth(at.x), Y: tenth(at.y)}), false
	}
	p.shape(stretches, isClosed, p.look(class, false))
}

// tenth rounds a place as markup writes it, so that dashes start at the same places.
func tenth(v float64) float64 { return math.Round(10*v) / 10 }

// shape fills and strokes an element.
func (p *pixels) shape(outlines [][]raster.Point, isClosed bool, l look) {
	if ink := l.ink("fill", "#000000"); ink != nil {
		p.Fill(outlines, ink)
	}
	if ink := l.ink("stroke", "none"); ink != nil {
		for _, o := range outlines {
			p.Stroke(o, isClosed, l.pen(), ink)
		}
	}
}

func (p *pixels) rect(x, y, w, h float64, class, _ string) {
	p.shape([][]raster.Point{{{X: x, Y: y}, {X: x + w, Y: y}, {X: x + w, Y: y + h}, {X: x, Y: y + h}}}, true,
		p.look(class, false))
}

func (p *pixels) mark(x, y float64, s Style, class, _ string) {
	p.shape(outline(marks()[s.mark()], x, y), true, p.look(class+" "+s.class(), false))
}

func (p *pixels) marks(places []point, s Style, class string) {
	var all [][]raster.Point
	for _, at := range places {
		all = append(all, outline(marks()[s.mark()], at.x, at.y)...)
	}
	p.shape(all, true, p.look(class+" "+s.class(), false))
}

func (p *pixels) part(x, y, w, h float64, i int, title string) {
	p.rect(x, y, w, h, partClass(i), title)
	p.path(hatching(x, y, w, h, i), false, hatch, "")
}

// outline reads the path of a mark, moved by (dx, dy): the commands M, L, H, V and Z, and a
// for half a circle, each written out.
func outline(d string, dx, dy float64) (all [][]raster.Point) {
	var x, y float64
	for command, args := range commands(d) {
		switch command {
		case 'M':
			all = append(all, nil)
			x, y = args[0], args[1]
		case 'L':
			x, y = args[0], args[1]
		case 'H':
			x = args[0]
		case 'V':
			y = args[0]
		case 'a':
			n := len(all) - 1
			all[n] = append(all[n], raster.HalfCircle(raster.Point{X: x + dx, Y: y + dy},
				raster.Point{X: x + args[5] + dx, Y: y + args[6] + dy})...)
			x, y = x+args[5], y+args[6]
		}
		if command != 'Z' {
			n := len(all) - 1
			all[n] = append(all[n], raster.Point{X: x + dx, Y: y + dy})
		}
	}
	return all
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
