package photo

import (
	"image"
	"math"
)

// Pixels are rows of Stride bytes; a pixel has Step bytes, of which the first Channels count.
type Pixels struct {
	Bytes                  []byte
	Stride, Step, Channels int
}

// Scaler scales rectangles as Pillow's resize with BILINEAR: each pixel is a weighted mean of those within
// one pixel of the result, or of the source if that is larger, of its centre; weights fall linearly to 0.
// Rows first, then columns, each rounded to a byte.
type Scaler struct {
	across, down taps
	rows         []byte
}

// taps are the weights of the pixels that make each pixel of a result, in one direction.
type taps struct {
	first, end []int32 // of the source
	weights    []int32 // most of them for each
	most       int
}

// precision is the number of bits behind the point of a weight, Pillow's for bytes.
const precision = 32 - 8 - 2

// Scale writes the part of src in r, scaled to width x height, to dst, [height, width, Channels].
func (s *Scaler) Scale(dst []byte, width, height int, src Pixels, r image.Rectangle) {
	from := src.Bytes[r.Min.Y*src.Stride+r.Min.X*src.Step:]
	s.across.fit(r.Dx(), width)
	s.down.fit(r.Dy(), height)
	row := width * src.Channels
	if need := r.Dy() * row; cap(s.rows) < need {
		s.rows = make([]byte, need)
	}
	s.rows = s.rows[:r.Dy()*row]
	for y := range r.Dy() {
		s.across.mixPixels(s.rows[y*row:(y+1)*row], from[y*src.Stride:], src)
	}
	for y := range height {
		s.down.mixRows(dst[y*row:(y+1)*row], s.rows, y)
	}
}

// fit makes t that of from pixels scaled to so many.
func (t *taps) fit(from, to int) {
	scale := float64(from) / float64(to)
	reach := max(scale, 1)
	t.most = int(math.Ceil(reach))*2 + 1
	if cap(t.first) < to {
		t.first, t.end = make([]int32, to), make([]int32, to)
	}
	if cap(t.weights) < to*t.most {
		t.weights = make([]int32, to*t.most)
	}
	t.first, t.end, t.weights = t.first[:to], t.end[:to], t.weights[:to*t.most]
	slope := 1 / reach
	for i := range to {
		centre := float64((float64(i) + 0.5) * scale)
		first := max(0, int(centre-reach+0.5))
		end := min(from, int(centre+reach+0.5))
		sum := 0.0
		weight := func(k int) float64 {
			return max(0, 1-math.Abs(float64((float64(k)-centre+0.5)*slope)))
		}
		for k := first; k < end; k++ {
			sum += weight(k)
		}
		for k := first; k < end; k++ {
			t.weights[i*t.most+k-first] = int32(0.5 + float64(weight(k)/sum*(1<<precision)))
		}
		t.first[i], t.end[i] = int32(first), int32(end)
	}
}

// mixPixels writes a row of the result, of pixels of a row of src.
func (t *taps) mixPixels(dst, row []byte, src Pixels) {
	if src.Channels != 3 {
		t.mixAny(dst, row, src)
		return
	}
	for i, first := range t.first {
		n := int(t.end[i] - first)
		weights := t.weights[i*t.most:][:n]
		in := row[int(first)*src.Step:]
		in = in[:(n-1)*src.Step+3]
		a, b, c := int32(1<<(precision-1)), int32(1<<(precision-1)), int32(1<<(precision-1))
		for k, at := 0, 0; k < len(weights) && at+2 < len(in); k, at = k+1, at+src.Step {
			w := weights[k]
			a += w * int32(in[at])
			b += w * int32(in[at+1])
			c += w * int32(in[at+2])
		}
		out := dst[3*i:][:3]
		out[0], out[1], out[2] = byteOf(a), byteOf(b), byteOf(c)
	}
}

// mixAny is mixPixels for any number of channels.
func (t *taps) mixAny(dst, row []byte, src Pixels) {
	for i, first := range t.first {
		for c := range src.Channels {
			sum := int32(1 << (precision - 1))
			for k := first; k < t.end[i]; k++ {
				sum += t.weights[i*t.most+int(k-first)] * int32(row[int(k)*src.Step+c])
			}
			dst[i*src.Channels+c] = byteOf(sum)
		}
	}
}

// mixRows writes row y of the result, of rows as wide as it.
func (t *taps) mixRows(dst, rows []byte, y int) {
	first, n := int(t.first[y]), int(t.end[y]-t.first[y])
	weights := t.weights[y*t.most:][:n]
	from := rows[first*len(dst):]
	switch n {
	case 1:
		copy(dst, from)
	case 2:
		mixTwo(dst, from, weights)
	case 3:
		mixThree(dst, from, weights)
	default:
		for x := range dst {
			sum := int32(1 << (precision - 1))
			at := x
			for _, w := range weights {
				sum += w * int32(from[at])
				at += len(dst)
			}
			dst[x] = byteOf(sum)
		}
	}
}

func mixTwo(dst, from []byte, weights []int32) {
	a, b := from[:len(dst)], from[len(dst):][:len(dst)]
	u, v := weights[0], weights[1]
	for x := range dst {
		dst[x] = byteOf(1<<(precision-1) + u*int32(a[x]) + v*int32(b[x]))
	}
}

func mixThree(dst, from []byte, weights []int32) {
	a, b, c := from[:len(dst)], from[len(dst):][:len(dst)], from[2*len(dst):][:len(dst)]
	u, v, w := weights[0], weights[1], weights[2]
	for x := range dst {
		dst[x] = byteOf(1<<(precision-1) + u*int32(a[x]) + v*int32(b[x]) + w*int32(c[x]))
	}
}

// byteOf returns the integer part of a sum of weights, at most 255: rounded weights may add up to a little
// more than 1, which is 2^22, so no sum exceeds 31 bits.
func byteOf(sum int32) byte { return byte(min(sum>>precision, 255)) }
