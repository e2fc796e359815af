package asm

import "math"

// plainElement is the portable implementation of ElementOps. The conversions keep the compiler from fusing
// a product with a sum, which would round differently on some processors.
func plainElement() ElementOps {
	return ElementOps{
		Fill:             fillPlain,
		Scale:            scalePlain,
		Add:              addPlain,
		Relu:             reluPlain,
		ReluBackward:     reluBackwardPlain,
		Sums:             sumsPlain,
		Moments:          momentsPlain,
		Normalize:        normalizePlain,
		NormalizeReLU:    normalizeReLUPlain,
		NormSums:         normSumsPlain,
		NormSumsReLU:     normSumsReLUPlain,
		NormGrad:         normGradPlain,
		NormGradReLU:     normGradReLUPlain,
		NormalizeAdd:     normalizeAddPlain,
		NormalizeAddReLU: normalizeAddReLUPlain,
		NormSumsGate:     normSumsGatePlain,

		NormalizePast:        normalizePlain,
		NormalizeReLUPast:    normalizeReLUPlain,
		NormalizeAddPast:     normalizeAddPlain,
		NormalizeAddReLUPast: normalizeAddReLUPlain,
		NormGradPast:         normGradPlain,
		NormGradReLUPast:     normGradReLUPlain,

		Sgd:         sgdPlain,
		SgdNesterov: sgdNesterovPlain,
		PoolOps:     plainPool(),
		Narrow:      plainPool(),
	}
}

func fillPlain(dst []float32, value float32) {
	for i := range dst {
		dst[i] = value
	}
}

func scalePlain(dst, x []float32, factor float32) {
	for i := range dst {
		dst[i] = x[i] * factor
	}
}

func addPlain(dst, a, b []float32) {
	for i := range dst {
		dst[i] = a[i] + b[i]
	}
}

// rectify returns max(v, 0), keeping NaN. On bits the compiler can choose without a jump, which for
// random signs would be mispredicted half of the time.
func rectify(v float32) float32 {
	b := math.Float32bits(v)
	if v < 0 {
		b = 0
	}
	return math.Float32frombits(b)
}

// gate returns d where the rectified value t let the gradient through (t > 0 or NaN), else 0.
func gate(d, t float32) float32 {
	b := math.Float32bits(d)
	if t <= 0 {
		b = 0
	}
	return math.Float32frombits(b)
}

func reluPlain(y, x []float32) {
	for i := range y {
		y[i] = rectify(x[i])
	}
}

func reluBackwardPlain(dx, dy, y []float32) {
	for i := range dx {
		dx[i] = gate(dy[i], y[i])
	}
}

// sumsPlain adds the rows of x to s.
func sumsPlain(s, x []float32) {
	for n := len(s); len(x) > 0; x = x[n:] {
		for i, v := range x[:n] {
			s[i] += v
		}
	}
}

// momentsPlain adds d = x - pilot to s and d*d to q.
func momentsPlain(s, q, x, pilot []float32) {
	for n := len(pilot); len(x) > 0; x = x[n:] {
		for i, m := range pilot {
			d := x[i] - m
			s[i] += d
			q[i] += float32(d * d)
		}
	}
}

// affine is the normalised value that forward writes and backward recomputes.
func affine(x, mean, scale, shift float32) float32 {
	return float32((x-mean)*scale) + shift
}

func normalizePlain(y, x, mean, scale, shift []float32) {
	for n := len(mean); len(x) > 0; y, x = y[n:], x[n:] {
		for i, m := range mean {
			y[i] = affine(x[i], m, scale[i], shift[i])
		}
	}
}

func normalizeReLUPlain(y, x, mean, scale, shift []float32) {
	for n := len(mean); len(x) > 0; y, x = y[n:], x[n:] {
		for i, m := range mean {
			y[i] = rectify(affine(x[i], m, scale[i], shift[i]))
		}
	}
}

// normSumsPlain adds dy to s and dy*(x-mean) to q.
func normSumsPlain(s, q, dy, x, mean []float32) {
	for n := len(mean); len(x) > 0; dy, x = dy[n:], x[n:] {
		for i, m := range mean {
			s[i] += dy[i]
			q[i] += float32(dy[i] * (x[i] - m))
		}
	}
}

// normSumsReLUPlain is normSumsPlain with dy gated by the recomputed output.
func normSumsReLUPlain(s, q, dy, x, mean, scale, shift []float32) {
	for n := len(mean); len(x) > 0; dy, x = dy[n:], x[n:] {
		for i, m := range mean {
			d := gate(dy[i], affine(x[i], m, scale[i], shift[i]))
			s[i] += d
			q[i] += float32(d * (x[i] - m))
		}
	}
}

// normGradPlain writes scale*dy + (slope*(x-mean) + offset).
func normGradPlain(dx, dy, x, mean, scale, slope, offset []float32) {
	for n := len(mean); len(x) > 0; dx, dy, x = dx[n:], dy[n:], x[n:] {
		for i, m := range mean {
			dx[i] = float32(scale[i]*dy[i]) + (float32(slope[i]*(x[i]-m)) + offset[i])
		}
	}
}

// normGradReLUPlain is normGradPlain with dy gated by the recomputed output.
func normGradReLUPlain(dx, dy, x, mean, scale, shift, slope, offset []float32) {
	for n := len(mean); len(x) > 0; dx, dy, x = dx[n:], dy[n:], x[n:] {
		for i, m := range mean {
			d := gate(dy[i], affine(x[i], m, scale[i], shift[i]))
			dx[i] = float32(scale[i]*d) + (float32(slope[i]*(x[i]-m)) + offset[i])
		}
	}
}

// normalizeAddPlain is normalizePlain with the residual r added.
func normalizeAddPlain(y, x, r, mean, scale, shift []float32) {
	for n := len(mean); len(x) > 0; y, x, r = y[n:], x[n:], r[n:] {
		for i, m := range mean {
			y[i] = affine(x[i], m, scale[i], shift[i]) + r[i]
		}
	}
}

func normalizeAddReLUPlain(y, x, r, mean, scale, shift []float32) {
	for n := len(mean); len(x) > 0; y, x, r = y[n:], x[n:], r[n:] {
		for i, m := range mean {
			y[i] = rectify(affine(x[i], m, scale[i], shift[i]) + r[i])
		}
	}
}

// normSumsGatePlain is normSumsPlain with dy gated by the rectified z; g is what the gate lets through.
func normSumsGatePlain(g, s, q, dy, z, x, mean []float32) {
	for n := len(mean); len(x) > 0; g, dy, z, x = g[n:], dy[n:], z[n:], x[n:] {
		for i, m := range mean {
			g[i] = gate(dy[i], z[i])
			s[i] += g[i]
			q[i] += float32(g[i] * (x[i] - m))
		}
	}
}

func sgdPlain(w, v, grad []float32, lr, momentum, decay, scale float32) {
	for i := range w {
		d := float32(grad[i]*scale) + float32(w[i]*decay)
		v[i] = float32(v[i]*momentum) + d
		w[i] -= float32(v[i] * lr)
	}
}

func sgdNesterovPlain(w, v, grad []float32, lr, momentum, decay, scale float32) {
	for i := range w {
		d := float32(grad[i]*scale) + float32(w[i]*decay)
		v[i] = float32(v[i]*momentum) + d
		w[i] -= float32((float32(v[i]*momentum) + d) * lr)
	}
}
