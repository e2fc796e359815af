package gradsync

import "math"

// A matrix M [rows, cols] is stored row by row. A factor of rank r is stored as r vectors one after
// another: the left factor P has vectors of rows elements, the right factor Q of cols elements. All
// sums have the order of their loops; dot has four partial sums side by side.

// dot returns the sum of x[i] y[i] in four partial sums, by i modulo 4. len(y) >= len(x).
func dot(x, y []float32) float32 {
	var a, b, c, d float32
	n := len(x) &^ 3
	for i := 0; i < n; i += 4 {
		x, y := x[i:i+4:i+4], y[i:i+4:i+4]
		a += float32(x[0] * y[0])
		b += float32(x[1] * y[1])
		c += float32(x[2] * y[2])
		d += float32(x[3] * y[3])
	}
	for i := n; i < len(x); i++ {
		a += float32(x[i] * y[i])
	}
	return (a + b) + (c + d)
}

// addScaled computes y[i] += s x[i]. len(y) >= len(x).
func addScaled(y, x []float32, s float32) {
	n := len(x) &^ 3
	for i := 0; i < n; i += 4 {
		x, y := x[i:i+4:i+4], y[i:i+4:i+4]
		y[0] += float32(s * x[0])
		y[1] += float32(s * x[1])
		y[2] += float32(s * x[2])
		y[3] += float32(s * x[3])
	}
	for i := n; i < len(x); i++ {
		y[i] += float32(s * x[i])
	}
}

// leftProduct computes P = M Q.
func leftProduct(p, m, q []float32, rows, cols int) {
	for i := range rows {
		row := m[i*cols:][:cols]
		for k := range len(p) / rows {
			p[k*rows+i] = dot(row, q[k*cols:])
		}
	}
}

// rightProduct computes Q = transposed(M) P.
func rightProduct(q, m, p []float32, rows, cols int) {
	clear(q)
	for i := range rows {
		row := m[i*cols:][:cols]
		for k := range len(p) / rows {
			addScaled(q[k*cols:], row, p[k*rows+i])
		}
	}
}

// addProduct computes M += sign P transposed(Q).
func addProduct(m, p, q []float32, rows, cols int, sign float32) {
	for i := range rows {
		row := m[i*cols:][:cols]
		for k := range len(p) / rows {
			addScaled(row, q[k*cols:][:cols], sign*p[k*rows+i])
		}
	}
}

// dependent is the relative norm below which the rest of a vector counts as rounding error.
const dependent = 1e-5

// orthogonalize makes the vectors of p orthonormal in order, by Gram-Schmidt. The components along
// earlier vectors are subtracted twice, so that only rounding error is left of them. A vector that
// depends on earlier ones becomes zero, and its isUsed is false.
func orthogonalize(p []float32, rows int, isUsed []bool) {
	for k := range isUsed {
		x := p[k*rows:][:rows]
		before := norm(x)
		for range 2 {
			for l := range k {
				y := p[l*rows:][:rows]
				along := float32(inner(x, y))
				addScaled(x, y, -along)
			}
		}
		after := norm(x)
		if isUsed[k] = !(after <= dependent*before); !isUsed[k] {
			clear(x)
			continue
		}
		for i := range x {
			x[i] = float32(float64(x[i]) / after)
		}
	}
}

// inner returns the sum of x[i] y[i] in order.
func inner(x, y []float32) float64 {
	sum := 0.0
	for i := range x {
		sum += float64(float64(x[i]) * float64(y[i]))
	}
	return sum
}

func norm(x []float32) float64 { return math.Sqrt(inner(x, x)) }
