package asm

// The transforms of 3x3 convolutions of stride 2 and padding 1, in their portable form.
//
// In one dimension, y[i] = w[0] x[2i-1] + w[1] x[2i] + w[2] x[2i+1]. The odd pixels meet two taps, which
// F(4, 2) computes with 5 products for 4 pixels of output instead of 8, from values at 0, -1, 1/2, 2 and
// infinity,
//
//	     1 -3/2 -3/2  1   0          1      0
//	     0  1   -5/2  1   0         -2/9   2/9         1  1  8  1  0
//	B' = 0 -2   -1    1   0     G = -1/9  -1/18    A' = 0 -1  4  2  0
//	     0 -1/2  1/2  1   0          1/9   2/9         0  1  2  4  0
//	     0  1   -3/2 -3/2 1          0      1          0 -1  1  8  1
//
// and the even ones meet w[1] alone, in 4 products. So a line of input, 9 pixels, becomes 9 numbers: the 4
// even pixels, then B' of the 5 odd ones. In two dimensions a tile of 4x4 pixels of output takes 81 products
// for each pair of channels instead of 144.
//
// The gradient of the data is of the same kind: dx[2i] = w[1] dy[i] and dx[2i+1] = w[2] dy[i] + w[0] dy[i+1].
// A line of its input is 5 pixels of dy, which become the first 4 and B' of all, for 8 pixels of dx; its
// filters are those of the other direction turned round.

// stridedInputLine parts a line into even pixels and B' of the odd ones.
func stridedInputLine(d line) line {
	return withPairs(d[1], d[3], d[5], d[7], [5]float32{d[0], d[2], d[4], d[6], d[8]})
}

// spreadInputLine returns four pixels and B' of five.
func spreadInputLine(d line) line { return withPairs(d[0], d[1], d[2], d[3], [5]float32(d[:5])) }

// withPairs returns four numbers and d multiplied by B', whose rows are products of the factors x-2, x-1/2
// and x+1 of polynomials.
func withPairs(a, b, c, e float32, d [5]float32) line {
	var v [4]float32 // times x-2
	for i := range v {
		v[i] = fma(-2, d[i], d[i+1])
	}
	both := fma(-0.5, v[1], v[2])
	return line{
		a, b, c, e,
		fma(-0.5, v[0], v[1]) + both,
		both,
		v[1] + v[2],
		fma(0.5, d[2]-d[1], d[3]),
		both + fma(-0.5, v[2], v[3]),
	}
}

// stridedOutputLine adds what the even pixels give to A' of the rest.
func stridedOutputLine(m line) line {
	y := ofPairs(m)
	return line{m[0] + y[0], m[1] + y[1], m[2] + y[2], m[3] + y[3]}
}

// spreadOutputLine puts what one tap gives between A' of the rest.
func spreadOutputLine(m line) line {
	y := ofPairs(m)
	return line{m[0], y[0], m[1], y[1], m[2], y[2], m[3], y[3]}
}

// ofPairs multiplies the last five numbers of m by A'.
func ofPairs(m line) [4]float32 {
	return [4]float32{
		fma(8, m[6], m[4]+m[5]+m[7]),
		fma(4, m[6], 2*m[7]-m[5]),
		fma(4, m[7], fma(2, m[6], m[5])),
		fma(8, m[7], m[6]-m[5]) + m[8],
	}
}

// stridedFilterLine returns the middle tap four times, and the outer ones multiplied by G.
func stridedFilterLine(w line) line {
	return line{
		w[1], w[1], w[1], w[1],
		w[0],
		2. / 9 * (w[2] - w[0]), -1. / 18 * fma(2, w[0], w[2]),
		1. / 9 * fma(2, w[2], w[0]),
		w[2],
	}
}

// stridedOutputGradLine returns d and d multiplied by A.
func stridedOutputGradLine(d line) line {
	return line{
		d[0], d[1], d[2], d[3],
		d[0],
		(d[0] + d[2]) - (d[1] + d[3]),
		fma(2, fma(2, fma(2, d[0], d[1]), d[2]), d[3]),
		fma(2, fma(2, fma(2, d[3], d[2]), d[1]), d[0]),
		d[3],
	}
}

// stridedFilterGradLine returns the sum of the first four for the middle tap, and the rest multiplied by G'.
func stridedFilterGradLine(u line) line {
	return line{
		fma(1./9, fma(-2, u[5], u[7]-u[6]), u[4]),
		(u[0] + u[1]) + (u[2] + u[3]),
		fma(2./9, fma(-0.25, u[6], u[5]+u[7]), u[8]),
	}
}
