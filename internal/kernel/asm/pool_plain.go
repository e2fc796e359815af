package asm

// plainPool is the portable implementation of PoolOps.
func plainPool() PoolOps {
	return PoolOps{
		MaxPool:          maxPoolPlain,
		MaxPoolBackward:  maxPoolBackwardPlain,
		ReluPoolBackward: reluPoolBackwardPlain,
		NormPool:         normPoolPlain,
		NormPoolBackward: normPoolBackwardPlain,
		WindowMax:        windowMaxPlain,
		WindowPlace:      windowPlacePlain,
		WindowGive:       windowGivePlain,
	}
}

// Beats reports whether v takes the place of the maximum m so far: PyTorch's rule, by which the first
// of equal values wins and a NaN always does.
func Beats(v, m float32) bool { return v > m || v != v }

// quad returns the four pixels of output i of a pooling by 2x2, in scan order: a and b above c and d.
func quad(top, low []float32, i, channels int) (a, b, c, d *float32) {
	j := i + i/channels*channels // pixel 2*(i/channels), same channel
	return &top[j], &top[j+channels], &low[j], &low[j+channels]
}

// first returns the maximum of four and its place among them.
func first(values [4]float32) (m float32, place int) {
	m = values[0]
	for k, v := range values {
		if k > 0 && Beats(v, m) {
			m, place = v, k
		}
	}
	return m, place
}

func maxPoolPlain(y, top, low []float32, channels int) {
	for i := range y {
		a, b, c, d := quad(top, low, i, channels)
		y[i], _ = first([4]float32{*a, *b, *c, *d})
	}
}

// normPoolPlain is maxPoolPlain of the normalised and rectified input.
func normPoolPlain(y, top, low, mean, scale, shift []float32, channels int) {
	for i := range y {
		j := i % channels
		v := func(x *float32) float32 { return rectify(affine(*x, mean[j], scale[j], shift[j])) }
		a, b, c, d := quad(top, low, i, channels)
		y[i], _ = first([4]float32{v(a), v(b), v(c), v(d)})
	}
}

// give writes dy to one of the four pixels of output i and 0 to the others.
func give(dtop, dlow []float32, i, channels, place int, dy float32) {
	a, b, c, d := quad(dtop, dlow, i, channels)
	*a, *b, *c, *d = 0, 0, 0, 0
	*[4]*float32{a, b, c, d}[place] = dy
}

func maxPoolBackwardPlain(dtop, dlow, dy, top, low []float32, channels int) {
	for i, g := range dy {
		a, b, c, d := quad(top, low, i, channels)
		_, place := first([4]float32{*a, *b, *c, *d})
		give(dtop, dlow, i, channels, place, g)
	}
}

// reluPoolBackwardPlain is maxPoolBackwardPlain with dy gated by the maximum.
func reluPoolBackwardPlain(dtop, dlow, dy, top, low []float32, channels int) {
	for i, g := range dy {
		a, b, c, d := quad(top, low, i, channels)
		m, place := first([4]float32{*a, *b, *c, *d})
		give(dtop, dlow, i, channels, place, gate(g, m))
	}
}

// normPoolBackwardPlain is reluPoolBackwardPlain of the normalised input. It need not be rectified:
// that could only move the place of a maximum that lets no gradient through.
func normPoolBackwardPlain(dtop, dlow, dy, top, low, mean, scale, shift []float32, channels int) {
	for i, g := range dy {
		j := i % channels
		v := func(x *float32) float32 { return affine(*x, mean[j], scale[j], shift[j]) }
		a, b, c, d := quad(top, low, i, channels)
		m, place := first([4]float32{v(a), v(b), v(c), v(d)})
		give(dtop, dlow, i, channels, place, gate(g, m))
	}
}

// spreadOf returns the place in a row whose pixels are step floats apart of element i of a row whose
// pixels lie side by side.
func spreadOf(i, channels, step int) int { return i/channels*step + i%channels }

// windowMaxPlain makes x the maximum y where it beats that.
func windowMaxPlain(y, x []float32, channels, step int) {
	for i, m := range y {
		if v := x[spreadOf(i, channels, step)]; Beats(v, m) {
			y[i] = v
		}
	}
}

// windowPlacePlain is windowMaxPlain that sets place to tap where it changes the maximum.
func windowPlacePlain(y, place, x []float32, channels, step int, tap float32) {
	for i, m := range y {
		if v := x[spreadOf(i, channels, step)]; Beats(v, m) {
			y[i], place[i] = v, tap
		}
	}
}

// windowGivePlain adds dy to dx where the maximum was found at tap.
func windowGivePlain(dx, dy, place []float32, channels, step int, tap float32) {
	for i, d := range dy {
		if place[i] == tap {
			dx[spreadOf(i, channels, step)] += d
		}
	}
}
