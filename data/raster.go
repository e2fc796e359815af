package data

const (
	glyphSide   = 32 // pixels
	subpixels   = 64 // fixed-point units in a pixel
	arcSegments = 4  // straight segments per arc
)

// mask is a grey image: the coverage of each pixel by a pen, 0 to 255. [H, W]
type mask [glyphSide * glyphSide]uint8

// pen draws strokes into a mask. All arithmetic is in integers, so that every processor draws the
// same bits. Coordinates count subpixels from the top left corner of the image.
type pen struct {
	mask *mask
	// radius is half the stroke's width, soft half the width of its edge; radius > soft > 0.
	radius, soft int64
}

// segment draws a straight stroke with round ends from a to b: a pixel keeps the larger coverage.
// The coverage of a pixel centre decreases with the square of its distance d from the segment, from
// 255 at d = radius-soft to 0 at d = radius+soft.
func (p pen) segment(a, b point) {
	inner, outer := (p.radius-p.soft)*(p.radius-p.soft), (p.radius+p.soft)*(p.radius+p.soft)
	slope := (int64(255) << 20) / (outer - inner)
	reach := int32(p.radius + p.soft)
	x0, x1 := pixelRange(min(a.x, b.x)-reach, max(a.x, b.x)+reach)
	y0, y1 := pixelRange(min(a.y, b.y)-reach, max(a.y, b.y)+reach)
	dx, dy := int64(b.x-a.x), int64(b.y-a.y)
	length2 := dx*dx + dy*dy
	inverse := (1 << 40) / uint64(max(length2, 1)) // t < length2 < 2^24, so t*t*inverse < 2^64
	for y := y0; y < y1; y++ {
		row := p.mask[y*glyphSide : (y+1)*glyphSide]
		qy := int64(y*subpixels+subpixels/2) - int64(a.y)
		for x := x0; x < x1; x++ {
			qx := int64(x*subpixels+subpixels/2) - int64(a.x)
			d2 := qx*qx + qy*qy
			if t := qx*dx + qy*dy; t >= length2 {
				d2 = (qx-dx)*(qx-dx) + (qy-dy)*(qy-dy)
			} else if t > 0 {
				d2 -= int64(uint64(t) * uint64(t) * inverse >> 40)
			}
			if d2 < outer {
				row[x] = max(row[x], uint8(min((outer-d2)*slope>>20, 255)))
			}
		}
	}
}

// pixelRange returns the pixels of the image whose centres may lie within [lo, hi] subpixels.
func pixelRange(lo, hi int32) (first, end int32) {
	return max(lo/subpixels, 0), min(hi/subpixels+1, glyphSide)
}

// affine maps a digit's box to the image: x' = (xx*x + xy*y)/256 + x0, y' alike.
type affine struct{ xx, xy, yx, yy, x0, y0 int32 }

func (m affine) apply(p point) point {
	return point{
		(m.xx*p.x+m.xy*p.y)>>8 + m.x0,
		(m.yx*p.x+m.yy*p.y)>>8 + m.y0,
	}
}

// arc draws a quadratic Bezier arc as straight segments.
func (p pen) arc(a, ctrl, b point) {
	if (a.x+b.x)/2 == ctrl.x && (a.y+b.y)/2 == ctrl.y {
		p.segment(a, b)
		return
	}
	from := a
	for i := int32(1); i <= arcSegments; i++ {
		u, v := i, arcSegments-i
		const whole = arcSegments * arcSegments
		to := point{
			(v*v*a.x + 2*u*v*ctrl.x + u*u*b.x) / whole,
			(v*v*a.y + 2*u*v*ctrl.y + u*u*b.y) / whole,
		}
		p.segment(from, to)
		from = to
	}
}
