package raster

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/vector"
)

// MostPixels bounds a picture: 64 MiB of memory.
const MostPixels = 16 << 20

// Point is a place in user units.
type Point struct{ X, Y float64 }

// Picture is drawn on, what is later covers what is earlier.
type Picture struct {
	pixels *image.RGBA
	scale  float64
	mask   vector.Rasterizer
	fonts  [2]*sfnt.Font // regular and bold
	glyphs sfnt.Buffer
}

// New returns a picture of width by height user units with scale pixels each, all of them paper.
func New(width, height, scale float64, paper color.Color) (*Picture, error) {
	w, h := math.Ceil(width*scale), math.Ceil(height*scale)
	if !(w >= 1 && h >= 1 && w*h <= MostPixels) {
		return nil, fmt.Errorf("raster: a picture of %.0f × %.0f pixels, want 1 to %d", w, h, MostPixels)
	}
	p := &Picture{pixels: image.NewRGBA(image.Rect(0, 0, int(w), int(h))), scale: scale}
	draw.Draw(p.pixels, p.pixels.Bounds(), image.NewUniform(paper), image.Point{}, draw.Src)
	return p, p.openFonts()
}

// Encode writes the picture as PNG.
func (p *Picture) Encode(w io.Writer) error {
	if err := png.Encode(w, p.pixels); err != nil {
		return fmt.Errorf("raster: %w", err)
	}
	return nil
}

// Fill fills the area within outlines. Where they overlap they must have the same sense of rotation, or the
// inner one is a hole.
func (p *Picture) Fill(outlines [][]Point, ink color.Color) {
	scaled := make([][]Point, len(outlines))
	for i, o := range outlines {
		scaled[i] = p.scaled(o)
	}
	p.fill(scaled, ink)
}

// fill fills the area within outlines in pixels.
func (p *Picture) fill(outlines [][]Point, ink color.Color) {
	box := bounds(outlines).Intersect(p.pixels.Bounds())
	if box.Empty() {
		return
	}
	p.cover(outlines, box)
	p.mask.Draw(p.pixels, box, image.NewUniform(ink), image.Point{})
}

// cover makes outlines in pixels the mask of what is drawn in box.
func (p *Picture) cover(outlines [][]Point, box image.Rectangle) {
	p.mask.Reset(box.Dx(), box.Dy())
	dx, dy := float64(box.Min.X), float64(box.Min.Y)
	for _, o := range outlines {
		for i, at := range o {
			x, y := float32(at.X-dx), float32(at.Y-dy)
			if i == 0 {
				p.mask.MoveTo(x, y)
			} else {
				p.mask.LineTo(x, y)
			}
		}
		if len(o) > 0 {
			p.mask.ClosePath()
		}
	}
}

// far bounds places in pixels, so that they are small enough for arithmetic with 32 bits. The picture is
// nearer.
const far = 1 << 25

// pixel returns a place in pixels.
func (p *Picture) pixel(at Point) Point {
	return Point{math.Min(math.Max(at.X*p.scale, -far), far), math.Min(math.Max(at.Y*p.scale, -far), far)}
}

// scaled returns places in pixels.
func (p *Picture) scaled(points []Point) []Point {
	out := make([]Point, len(points))
	for i, at := range points {
		out[i] = p.pixel(at)
	}
	return out
}

// bounds is the smallest box of whole pixels around all points; places that are no numbers have none.
func bounds(outlines [][]Point) image.Rectangle {
	lo, hi := Point{math.Inf(1), math.Inf(1)}, Point{math.Inf(-1), math.Inf(-1)}
	for _, o := range outlines {
		for _, at := range o {
			lo = Point{math.Min(lo.X, at.X), math.Min(lo.Y, at.Y)}
			hi = Point{math.Max(hi.X, at.X), math.Max(hi.Y, at.Y)}
		}
	}
	if !(lo.X <= hi.X && lo.Y <= hi.Y) {
		return image.Rectangle{}
	}
	return image.Rect(int(math.Floor(lo.X)), int(math.Floor(lo.Y)), int(math.Ceil(hi.X)),
		int(math.Ceil(hi.Y)))
}
