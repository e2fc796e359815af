package photo

import (
	"fmt"
	"image"
	"math"

	"lockstep/random"
)

// Cut is what RandomResizedCrop keeps of an image: a rectangle of random area and ratio, anywhere. The zero
// value keeps all.
type Cut struct {
	// MinArea and MaxArea are the least and the greatest share of the image's area, above 0 to 1.
	MinArea float64 `json:"min_area,omitzero"`
	MaxArea float64 `json:"max_area,omitzero"`
	// MinRatio and MaxRatio are those of width to height, 1/16 to 16; the logarithm is uniform.
	MinRatio float64 `json:"min_ratio,omitzero"`
	MaxRatio float64 `json:"max_ratio,omitzero"`
}

// Usual returns the defaults of torchvision: 0.08 to all of the area, ratios of 3:4 to 4:3.
func Usual() Cut { return Cut{MinArea: 0.08, MaxArea: 1, MinRatio: 3. / 4, MaxRatio: 4. / 3} }

// IsAll reports whether all of an image is kept.
func (c Cut) IsAll() bool { return c == Cut{} }

// Validate returns an error for the first setting out of range.
func (c Cut) Validate() error {
	switch {
	case c.IsAll():
		return nil
	case !(c.MinArea > 0 && c.MinArea <= c.MaxArea && c.MaxArea <= 1):
		return fmt.Errorf("a part of %v to %v of the area, want above 0 to 1", c.MinArea, c.MaxArea)
	case !(c.MinRatio >= 1./16 && c.MinRatio <= c.MaxRatio && c.MaxRatio <= 16):
		return fmt.Errorf("a ratio of %v to %v, want 1/16 to 16", c.MinRatio, c.MaxRatio)
	}
	return nil
}

// cutTries is how often torchvision draws before it takes the middle.
const cutTries = 10

// CutWords is how many words of a stream Draw uses.
const CutWords = 4 * cutTries

// Draw returns the rectangle of an image of width x height pixels, by words [i, i+CutWords) of s: at most ten
// times a share of the area and a ratio until the rectangle fits, at a uniform place; else the largest in the
// middle whose ratio is allowed.
func (c Cut) Draw(s random.Stream, i uint64, width, height int) image.Rectangle {
	if c.IsAll() {
		return image.Rect(0, 0, width, height)
	}
	all := float64(width) * float64(height)
	for range cutTries {
		area := float64(all * (c.MinArea + float64((c.MaxArea-c.MinArea)*s.Unit(i))))
		ratio := s.Ratio(i+1, c.MinRatio, c.MaxRatio)
		w := int(math.RoundToEven(math.Sqrt(area * ratio)))
		h := int(math.RoundToEven(math.Sqrt(area / ratio)))
		if w > 0 && w <= width && h > 0 && h <= height {
			top, left := s.Intn(i+2, height-h+1), s.Intn(i+3, width-w+1)
			return image.Rect(left, top, left+w, top+h)
		}
		i += 4
	}
	w, h := width, height
	if ratio := float64(width) / float64(height); ratio < c.MinRatio {
		h = min(h, max(1, int(math.RoundToEven(float64(width)/c.MinRatio))))
	} else if ratio > c.MaxRatio {
		w = min(w, max(1, int(math.RoundToEven(float64(height)*c.MaxRatio))))
	}
	left, top := (width-w)/2, (height-h)/2
	return image.Rect(left, top, left+w, top+h)
}
