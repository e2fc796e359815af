package raster

import (
	_ "embed"
	"fmt"
	"image/color"

	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

//go:embed font/Go-Regular.ttf
var regular []byte

//go:embed font/Go-Bold.ttf
var bold []byte

// Text is a line of text.
type Text struct {
	Text   string
	Size   float64 // of the font
	IsBold bool
	At     Point
	Anchor float64     // part of the text's length that lies before At: 0, 0.5 or 1
	IsUp   bool        // turned to run upwards
	Halo   color.Color // drawn around the letters; nil: none
	Around float64     // its width on each side
}

func (p *Picture) openFonts() (err error) {
	for i, file := range [][]byte{regular, bold} {
		if p.fonts[i], err = sfnt.Parse(file); err != nil {
			return fmt.Errorf("raster: font %d: %w", i, err)
		}
	}
	return nil
}

// unit of fonts' places: a 64th of a pixel.
const unit = 64

// Text writes t with its baseline through t.At.
func (p *Picture) Text(t Text, ink color.Color) {
	face := p.fonts[0]
	if t.IsBold {
		face = p.fonts[1]
	}
	// Outlines are taken ten times too large, for their places are whole 64ths.
	const fine = 10
	size := fixed.Int26_6(t.Size * p.scale * fine * unit)
	var glyphs []sfnt.GlyphIndex
	var starts []float64
	width := 0.0
	for _, r := range t.Text {
		g, err := face.GlyphIndex(&p.glyphs, r)
		if err != nil {
			g = 0 // the box
		}
		advance, err := face.GlyphAdvance(&p.glyphs, g, size, font.HintingNone)
		if err != nil {
			continue
		}
		glyphs, starts = append(glyphs, g), append(starts, width)
		width += float64(advance) / (fine * unit)
	}
	at := p.pixel(t.At)
	var all [][]Point
	for i, g := range glyphs {
		x := starts[i] - t.Anchor*width
		place := func(v fixed.Point26_6) Point {
			dx, dy := x+float64(v.X)/(fine*unit), float64(v.Y)/(fine*unit)
			if t.IsUp {
				dx, dy = dy, -dx
			}
			return Point{at.X + dx, at.Y + dy}
		}
		segments, err := face.LoadGlyph(&p.glyphs, g, size, nil)
		if err == nil {
			all = append(all, outlinesOf(segments, place)...)
		}
	}
	if t.Halo != nil {
		pen := Pen{Width: 2 * t.Around, IsRound: true}
		for _, o := range all {
			p.fill(pen.outlines(append(o[:len(o):len(o)], o[0]), p.scale), t.Halo)
		}
	}
	p.fill(all, ink)
}

// outlinesOf turns the curves of a glyph, which are quadratic, into polygons.
func outlinesOf(segments sfnt.Segments, place func(fixed.Point26_6) Point) (all [][]Point) {
	const pieces = 5 // of a curve
	for _, s := range segments {
		n := len(all) - 1
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			all = append(all, []Point{place(s.Args[0])})
		case sfnt.SegmentOpLineTo:
			all[n] = append(all[n], place(s.Args[0]))
		case sfnt.SegmentOpQuadTo:
			a, b, c := all[n][len(all[n])-1], place(s.Args[0]), place(s.Args[1])
			for i := 1; i <= pieces; i++ {
				t := float64(i) / pieces
				all[n] = append(all[n], between(between(a, b, t), between(b, c, t), t))
			}
		}
	}
	return all
}
