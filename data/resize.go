package data

// resizer scales square images of RGBA bytes to RGB images of another size, with integer
// arithmetic: the result is the same on every machine.
//
// When scaling down, each pixel is the mean over the area that it covers; when scaling up, it is
// interpolated between the two nearest pixel centres in each direction. Both are weighted sums,
// rounded once at the end:
//
//	dst[y, x, c] = (sum over v, u of wy[v] wx[u] src[v, u, c] + scale/2) / scale
//
// where the weights of a direction add up to the square root of scale.
type resizer struct {
	from, to int
	taps     []tap // of each row or column of the result
	total    int   // sum of the weights of a tap
	rows     []uint32
}

// tap lists the source pixels of one result pixel, in one direction.
type tap struct {
	first   int
	weights []uint32
}

// newResizer returns the resizer from squares of one side to squares of another, both at least 1
// and at most maxSide.
func newResizer(from, to int) *resizer {
	r := &resizer{from: from, to: to, taps: make([]tap, to), total: from}
	for i := range r.taps {
		r.taps[i] = areaTap(i, from, to)
	}
	if to > from {
		r.total = 2 * to
		for i := range r.taps {
			r.taps[i] = linearTap(i, from, to)
		}
	}
	r.rows = make([]uint32, to*from*3)
	return r
}

// areaTap weights each pixel by the part of [i, i+1) * from/to that it covers, times to.
func areaTap(i, from, to int) tap {
	lo, hi := i*from, (i+1)*from
	t := tap{first: lo / to}
	for j := t.first; j*to < hi; j++ {
		t.weights = append(t.weights, uint32(min(hi, (j+1)*to)-max(lo, j*to)))
	}
	return t
}

// linearTap weights the two pixels whose centres enclose (i + 1/2) * from/to, times 2*to.
func linearTap(i, from, to int) tap {
	at := (2*i+1)*from - to // position of the centre relative to the first pixel's, in 1/(2*to)
	at = min(max(at, 0), (from-1)*2*to)
	t := tap{first: at / (2 * to)}
	right := at % (2 * to)
	t.weights = append(t.weights, uint32(2*to-right))
	if right > 0 {
		t.weights = append(t.weights, uint32(right))
	}
	return t
}

// scale writes the scaled image to dst, [to, to, 3]. src holds rows of stride bytes, of which the
// first from*4 are pixels; the fourth byte of a pixel is ignored.
func (r *resizer) scale(dst, src []byte, stride int) {
	for y := range r.from {
		row := src[y*stride:][:r.from*4]
		for x, t := range r.taps {
			var sum [3]uint32
			for k, w := range t.weights {
				p := row[(t.first+k)*4:][:4]
				sum[0] += w * uint32(p[0])
				sum[1] += w * uint32(p[1])
				sum[2] += w * uint32(p[2])
			}
			copy(r.rows[(y*r.to+x)*3:], sum[:])
		}
	}
	scale := uint64(r.total) * uint64(r.total)
	width := r.to * 3
	for y, t := range r.taps {
		for x := range width {
			sum := scale / 2
			for k, w := range t.weights {
				sum += uint64(w) * uint64(r.rows[(t.first+k)*width+x])
			}
			dst[y*width+x] = byte(sum / scale)
		}
	}
}
