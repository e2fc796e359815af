package raster_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"testing"

	"lockstep/app/report/raster"
)

// drawn returns the pixels of a white picture of 40 by 30 units after it was drawn on.
func drawn(t *testing.T, scale float64, draw func(*raster.Picture)) image.Image {
	t.Helper()
	p, err := raster.New(40, 30, scale, color.White)
	if err != nil {
		t.Fatal(err)
	}
	draw(p)
	var b bytes.Buffer
	if err := p.Encode(&b); err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	return picture
}

// inked returns the area that black ink covers, in pixels, and the middle of it.
func inked(m image.Image) (sum, x, y float64) {
	for py := range m.Bounds().Dy() {
		for px := range m.Bounds().Dx() {
			r, _, _, _ := m.At(px, py).RGBA()
			ink := 1 - float64(r)/0xffff
			sum, x, y = sum+ink, x+ink*(float64(px)+0.5), y+ink*(float64(py)+0.5)
		}
	}
	return sum, x / sum, y / sum
}

// A stroke covers its length times its width: no joint, cap or dash is covered twice or left out.
func TestStrokesCoverTheirArea(t *testing.T) {
	corner := []raster.Point{{5.3, 20.2}, {25.3, 20.2}, {25.3, 5.2}}
	bend := []raster.Point{{5, 15}, {15, 17}, {25, 14}, {35, 15}}
	box := []raster.Point{{5, 5}, {15, 5}, {15, 15}, {5, 15}}
	dotted := raster.Pen{Width: 1, Dash: []float64{2, 3}, IsRound: true}
	length := 0.0
	for i, b := range bend[1:] {
		length += math.Hypot(b.X-bend[i].X, b.Y-bend[i].Y)
	}
	for name, test := range map[string]struct {
		points   []raster.Point
		isClosed bool
		pen      raster.Pen
		want     float64
	}{
		"mitre":        {corner, false, raster.Pen{Width: 2}, 35 * 2},
		"box":          {box, true, raster.Pen{Width: 2}, 40 * 2},
		"round caps":   {corner[:2], false, raster.Pen{Width: 2, IsRound: true}, 20*2 + math.Pi},
		"round joins":  {bend, false, raster.Pen{Width: 2, IsRound: true}, length*2 + math.Pi},
		"dashes":       {corner[:2], false, raster.Pen{Width: 2, Dash: []float64{3, 2}}, 12 * 2},
		"round dashes": {corner[:2], false, dotted, 8 + math.Pi},
		"no width":     {corner, false, raster.Pen{}, 0},
		"no length":    {corner[:1], false, raster.Pen{Width: 2}, 0},
	} {
		for _, scale := range []float64{1, 2} {
			picture := drawn(t, scale, func(p *raster.Picture) {
				p.Stroke(test.points, test.isClosed, test.pen, color.Black)
			})
			got, _, _ := inked(picture)
			if got /= scale * scale; math.Abs(got-test.want) > 0.02*test.want+0.05 {
				t.Errorf("%s at scale %v: %.2f of ink, want %.2f", name, scale, got, test.want)
			}
		}
	}
}

// An outline within another one of the other sense is a hole; translucent ink leaves the rest of the paper.
func TestFill(t *testing.T) {
	outer := []raster.Point{{5, 5}, {25, 5}, {25, 25}, {5, 25}}
	hole := []raster.Point{{10, 10}, {10, 20}, {20, 20}, {20, 10}}
	got, _, _ := inked(drawn(t, 1, func(p *raster.Picture) {
		p.Fill([][]raster.Point{outer, hole}, color.NRGBA{A: 64})
	}))
	if want := 300 * 64. / 255; math.Abs(got-want) > 1 {
		t.Errorf("%.1f of ink, want %.1f", got, want)
	}
}

// A text lies on its baseline, before, around or after its place, and runs upwards if it is turned.
func TestTextIsWhereItIsPut(t *testing.T) {
	place := raster.Point{X: 20, Y: 15}
	for _, test := range []struct {
		anchor float64
		isUp   bool
		dx, dy float64 // of the middle of the ink
	}{{0, false, 10.5, -4}, {0.5, false, 0, -4}, {1, false, -10.5, -4}, {0.5, true, -4, 0}} {
		_, x, y := inked(drawn(t, 2, func(p *raster.Picture) {
			p.Text(raster.Text{Text: "HHH", Size: 12, At: place, Anchor: test.anchor, IsUp: test.isUp},
				color.Black)
		}))
		if math.Abs(x/2-place.X-test.dx) > 1 || math.Abs(y/2-place.Y-test.dy) > 1 {
			t.Errorf("anchor %v, turned %v: the middle is at (%.1f, %.1f) of the place, want about (%v, %v)",
				test.anchor, test.isUp, x/2-place.X, y/2-place.Y, test.dx, test.dy)
		}
	}
	weight := func(isBold bool) float64 {
		ink, _, _ := inked(drawn(t, 2, func(p *raster.Picture) {
			p.Text(raster.Text{Text: "Größe", Size: 12, At: place, IsBold: isBold}, color.Black)
		}))
		return ink
	}
	if light, heavy := weight(false), weight(true); !(heavy > 1.2*light && light > 0) {
		t.Errorf("bold text has %.1f of ink, regular text %.1f", heavy, light)
	}
	box, _, _ := inked(drawn(t, 2, func(p *raster.Picture) {
		p.Text(raster.Text{Text: "計", Size: 12, At: place}, color.Black)
	}))
	if box == 0 {
		t.Error("a character without a glyph is not shown")
	}
}

// Nothing is drawn for places that are no numbers, or far outside.
func TestHostilePlaces(t *testing.T) {
	nan, far := math.NaN(), math.Inf(1)
	for _, points := range [][]raster.Point{nil, {{nan, 1}, {2, nan}}, {{far, far}, {far, 3}},
		{{1e300, 50}, {2e300, 60}}, {{50, 40}, {60, 40}}} {
		picture := drawn(t, 2, func(p *raster.Picture) {
			p.Fill([][]raster.Point{points}, color.Black)
			p.Stroke(points, true, raster.Pen{Width: 3, Dash: []float64{1e6, nan}}, color.Black)
			p.Stroke(points, true, raster.Pen{Width: nan, Dash: []float64{0, 0}}, color.Black)
			p.Text(raster.Text{Text: "far", Size: 12, At: raster.Point{X: far, Y: nan}}, color.Black)
		})
		if ink, _, _ := inked(picture); ink > 0 {
			t.Errorf("%v: %.1f of ink", points, ink)
		}
	}
}

// A picture has a bounded number of pixels.
func TestSizeIsBounded(t *testing.T) {
	for _, size := range [][2]float64{{1e6, 1e6}, {0, 5}, {-1, -1}, {math.NaN(), 5}, {math.Inf(1), 1}} {
		if _, err := raster.New(size[0], size[1], 2, color.White); err == nil {
			t.Errorf("a picture of %v × %v is made", size[0], size[1])
		}
	}
}

func Example() {
	p, err := raster.New(200, 20, 2, color.White)
	if err != nil {
		return
	}
	dashed := raster.Pen{Width: 2, Dash: []float64{4, 2}}
	p.Stroke([]raster.Point{{0, 10}, {100, 10}}, false, dashed, color.Black)
	p.Text(raster.Text{Text: "dashes", Size: 12, At: raster.Point{X: 110, Y: 14}}, color.Black)
	var b bytes.Buffer
	if err := p.Encode(&b); err != nil {
		return
	}
	// Output:
}
