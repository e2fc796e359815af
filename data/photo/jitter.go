package photo

import (
	"fmt"
	"math"

	"lockstep/random"
)

// Jitter is what ColorJitter changes, in random order: a factor from 1-x to 1+x, not below 0, of brightness,
// of contrast (the distance from the mean grey) and of saturation (the distance from a pixel's grey), and a
// turn of the hue by -Hue to Hue of a circle. The zero value changes nothing.
type Jitter struct {
	Brightness float64 `json:"brightness,omitzero"`
	Contrast   float64 `json:"contrast,omitzero"`
	Saturation float64 `json:"saturation,omitzero"`
	Hue        float64 `json:"hue,omitzero"` // at most 1/2
}

// Validate returns an error for the first setting out of range.
func (j Jitter) Validate() error {
	for _, x := range []float64{j.Brightness, j.Contrast, j.Saturation} {
		if !(x >= 0 && x <= maxFactor) {
			return fmt.Errorf("brightness, contrast or saturation changed by %v, want 0 to %v", x, maxFactor)
		}
	}
	if !(j.Hue >= 0 && j.Hue <= 0.5) {
		return fmt.Errorf("hue turned by %v, want 0 to 0.5", j.Hue)
	}
	return nil
}

// maxFactor bounds the change of a factor.
const maxFactor = 16

// JitterWords is how many words of a stream Apply uses.
const JitterWords = 8

// Apply changes pixels, [..., 3], by words [i, i+JitterWords) of s.
func (j Jitter) Apply(pixels []byte, s random.Stream, i uint64) {
	order := [4]int{0, 1, 2, 3}
	for k := len(order) - 1; k > 0; k-- {
		other := s.Intn(i+uint64(k), k+1)
		order[k], order[other] = order[other], order[k]
	}
	for _, change := range order {
		j.change(pixels, change, s.Unit(i+4+uint64(change)))
	}
}

// change makes one of the four changes, for a number from 0 to 1.
func (j Jitter) change(pixels []byte, which int, unit float64) {
	reach := [4]float64{j.Brightness, j.Contrast, j.Saturation, j.Hue}[which]
	if reach == 0 {
		return
	}
	if which == 3 {
		turnHue(pixels, byte(int(float64((2*unit-1)*reach)*255)))
		return
	}
	lo := max(0, 1-reach)
	adjust(pixels, which, float32(lo+float64((1+reach-lo)*unit)))
}

// adjust brings pixels nearer to or farther from black, from the mean grey, or each from its own grey.
func adjust(pixels []byte, which int, factor float32) {
	grey := byte(0)
	if which == 1 {
		grey = meanGrey(pixels)
	}
	for p := pixels; len(p) >= 3; p = p[3:] {
		if which == 2 {
			grey = greyOf(p)
		}
		p[0], p[1], p[2] = blend(grey, p[0], factor), blend(grey, p[1], factor), blend(grey, p[2], factor)
	}
}

// blend returns a + factor*(b-a), cut to a byte, as Pillow's Image.blend.
func blend(a, b byte, factor float32) byte {
	return byte(min(max(float32(a)+float32(factor*float32(int(b)-int(a))), 0), 255))
}

// greyOf returns the luma of a pixel as Pillow's convert("L").
func greyOf(p []byte) byte {
	return byte((19595*uint32(p[0]) + 38470*uint32(p[1]) + 7471*uint32(p[2]) + 1<<15) >> 16)
}

// meanGrey returns the mean luma, rounded.
func meanGrey(pixels []byte) byte {
	sum, n := 0, len(pixels)/3
	for p := pixels; len(p) >= 3; p = p[3:] {
		sum += int(greyOf(p))
	}
	return byte((2*sum + n) / max(1, 2*n))
}

// turnHue adds to the hue of pixels, in 1/256 of a circle, by way of a byte each of hue, saturation and
// value, as Pillow's convert("HSV") and back.
func turnHue(pixels []byte, by byte) {
	for p := pixels; len(p) >= 3; p = p[3:] {
		h, s, v := hsv(p)
		if s > 0 {
			putHSV(p, h+by, s, v)
		}
	}
}

// hsv returns hue, saturation and value of a pixel.
func hsv(p []byte) (h, s, v byte) {
	r, g, b := p[0], p[1], p[2]
	most, least := max(r, g, b), min(r, g, b)
	if most == least {
		return 0, 0, most
	}
	span := float32(int(most) - int(least))
	from := func(c byte) float32 { return float32(int(most)-int(c)) / span }
	hue := float32(0)
	switch most {
	case r:
		hue = from(b) - from(g)
	case g:
		hue = 2 + from(r) - from(b)
	default:
		hue = 4 + from(g) - from(r)
	}
	turned := float64(hue)/6 + 1
	return byte(float64((turned - math.Floor(turned)) * 255)), byte(float32(span/float32(most)) * 255), most
}

// putHSV sets a pixel to what hue, saturation and value make.
func putHSV(p []byte, h, s, v byte) {
	at := float64(float64(h)*6) / 255
	sector := int(at)
	f, fs, value := at-float64(sector), float64(s)/255, float64(v)
	level := func(x float64) byte { return byte(math.Round(float64(value * (1 - float64(fs*x))))) }
	low, falling, rising := level(1), level(f), level(1-f)
	switch sector % 6 {
	case 0:
		p[0], p[1], p[2] = v, rising, low
	case 1:
		p[0], p[1], p[2] = falling, v, low
	case 2:
		p[0], p[1], p[2] = low, v, rising
	case 3:
		p[0], p[1], p[2] = low, falling, v
	case 4:
		p[0], p[1], p[2] = rising, low, v
	default:
		p[0], p[1], p[2] = v, low, falling
	}
}
