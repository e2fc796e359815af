package asm

import "math"

// plainRow is the portable implementation of RowOps.
func plainRow() RowOps {
	return RowOps{
		Mul:           mulPlain,
		MulAdd:        mulAddPlain,
		AddScaled:     addScaledPlain,
		Lerp:          lerpPlain,
		Sum:           sumPlain,
		Top:           topPlain,
		Dot:           dotRowPlain,
		Squares:       squaresPlain,
		Gelu:          geluPlain,
		GeluSlope:     geluSlopePlain,
		GeluBackward:  geluBackwardPlain,
		ExpSum:        expSumPlain,
		Exps:          expsPlain,
		SoftmaxGrad:   softmaxGradPlain,
		LayerNorm:     layerNormPlain,
		LayerNormSums: layerNormSumsPlain,
		LayerNormGrad: layerNormGradPlain,
		Drop:          dropPlain,
		AdamW:         adamWPlain,
	}
}

func mulPlain(dst, a, b []float32) {
	for i := range dst {
		dst[i] = a[i] * b[i]
	}
}

// mulAddPlain writes x + a*b.
func mulAddPlain(dst, x, a, b []float32) {
	for i := range dst {
		dst[i] = x[i] + float32(a[i]*b[i])
	}
}

// addScaledPlain writes a + b*factor.
func addScaledPlain(dst, a, b []float32, factor float32) {
	for i := range dst {
		dst[i] = a[i] + float32(b[i]*factor)
	}
}

// lerpPlain writes a + (b-a)*factor.
func lerpPlain(dst, a, b []float32, factor float32) {
	for i := range dst {
		dst[i] = a[i] + float32((b[i]-a[i])*factor)
	}
}

// rowSums are the lanes of a sum over a row.
type rowSums [RowLanes]float32

// total adds the lanes up.
func (s *rowSums) total() float32 {
	for h := RowLanes / 2; h > 0; h /= 2 {
		for l := range h {
			s[l] += s[l+h]
		}
	}
	return s[0]
}

func sumPlain(x []float32) float32 {
	var s rowSums
	for i, v := range x {
		s[i%RowLanes] += v
	}
	return s.total()
}

func dotRowPlain(a, b []float32) float32 {
	var s rowSums
	for i, v := range a {
		s[i%RowLanes] += float32(v * b[i])
	}
	return s.total()
}

// squaresPlain returns the sum of (x-mean)^2.
func squaresPlain(x []float32, mean float32) float32 {
	var s rowSums
	for i, v := range x {
		d := v - mean
		s[i%RowLanes] += float32(d * d)
	}
	return s.total()
}

// larger returns a if a > b, else b, as the vector instruction does; so a NaN in a is passed over.
func larger(a, b float32) float32 {
	if a > b {
		return a
	}
	return b
}

// topPlain returns the largest element, or -Inf of none. A NaN may be passed over.
func topPlain(x []float32) float32 {
	var s rowSums
	for l := range s {
		s[l] = float32(math.Inf(-1))
	}
	for i, v := range x {
		s[i%RowLanes] = larger(s[i%RowLanes], v)
	}
	for h := RowLanes / 2; h > 0; h /= 2 {
		for l := range h {
			s[l] = larger(s[l], s[l+h])
		}
	}
	return s[0]
}

// Note: exponential in float32.
//
// exp32 is for x <= 0: x = k ln 2 + r with |r| <= ln 2 / 2, a polynomial in r (Cephes, expf.c, by Moshier;
// relative error 2e-7 without fused operations), and 2^k added to the exponent. k comes out of the low
// bits of x log2(e) + 1.5*2^23, where the addition rounds to whole numbers. Below -87, where the result
// would near the denormals, it stays at e^-87, about 1.6e-38.
const (
	exp32Least   = -87
	exp32Log2e   = 1.44269504088896341
	exp32Magic   = 12582912
	exp32Ln2High = 0.693359375
	exp32Ln2Low  = -2.12194440e-4
	exp32P0      = 1.9875691500e-4
	exp32P1      = 1.3981999507e-3
	exp32P2      = 8.3334519073e-3
	exp32P3      = 4.1665795894e-2
	exp32P4      = 1.6666665459e-1
	exp32P5      = 5.0000001201e-1
)

func exp32(x float32) float32 {
	x = larger(exp32Least, x)
	t := float32(x*exp32Log2e) + exp32Magic
	k := t - exp32Magic
	r := x - float32(k*exp32Ln2High) - float32(k*exp32Ln2Low)
	p := float32(exp32P0*r) + exp32P1
	p = float32(p*r) + exp32P2
	p = float32(p*r) + exp32P3
	p = float32(p*r) + exp32P4
	p = float32(p*r) + exp32P5
	y := float32(float32(p*r)*r) + r + 1
	return math.Float32frombits(math.Float32bits(y) + math.Float32bits(t)<<23)
}

// expSumPlain writes exp((x-top)*scale) and returns the sum.
func expSumPlain(p, x []float32, scale, top float32) float32 {
	var s rowSums
	for i, v := range x {
		e := exp32((v - top) * scale)
		p[i] = e
		s[i%RowLanes] += e
	}
	return s.total()
}

// expsPlain writes exp((x-top)*scale) * factor.
func expsPlain(p, x []float32, scale, top, factor float32) {
	for i, v := range x {
		p[i] = exp32((v-top)*scale) * factor
	}
}

// softmaxGradPlain writes (dp-sum)*p*scale.
func softmaxGradPlain(ds, p, dp []float32, sum, scale float32) {
	for i, v := range p {
		ds[i] = float32((dp[i]-sum)*v) * scale
	}
}

// Note: GELU.
//
// gelu(x) = x Phi(x), Phi(x) = (1 + erf(x/sqrt 2)) / 2, with the error function after Abramowitz and Stegun
// 7.1.26 (absolute error 1.5e-7, as in PyTorch's vector code): for z = |x|/sqrt 2, t = 1/(1 + p z),
// erfc(z) = t (a1 + t (a2 + t (a3 + t (a4 + t a5)))) exp(-z^2). The derivative, Phi(x) + x phi(x), reads the
// same exponential.
const (
	geluRoot  = 0.70710678118654752440 // 1/sqrt 2
	geluP     = 0.3275911
	geluA1    = 0.254829592
	geluA2    = -0.284496736
	geluA3    = 1.421413741
	geluA4    = -1.453152027
	geluA5    = 1.061405429
	geluPhi   = 0.39894228040143267794 // 1/sqrt(2 pi)
	geluScale = geluRoot * geluP
)

// normal returns Phi(x) and exp(-x^2/2).
func normal(x float32) (phi, e float32) {
	z := math.Float32frombits(math.Float32bits(x) &^ (1 << 31))
	t := 1 / (float32(z*geluScale) + 1)
	e = exp32(float32(x*x) * -0.5)
	p := float32(t*geluA5) + geluA4
	p = float32(p*t) + geluA3
	p = float32(p*t) + geluA2
	p = float32(p*t) + geluA1
	half := float32(float32(float32(p*t)*e) * 0.5)
	if x < 0 {
		return half, e
	}
	return 1 - half, e
}

func geluPlain(y, x []float32) {
	for i, v := range x {
		phi, _ := normal(v)
		y[i] = v * phi
	}
}

// geluSlopePlain writes GELU and its derivative.
func geluSlopePlain(y, slope, x []float32) {
	for i, v := range x {
		phi, e := normal(v)
		y[i] = v * phi
		slope[i] = phi + float32(float32(v*e)*geluPhi)
	}
}

// geluBackwardPlain writes dy * (Phi(x) + x phi(x)).
func geluBackwardPlain(dx, dy, x []float32) {
	for i, v := range x {
		phi, e := normal(v)
		dx[i] = dy[i] * (phi + float32(float32(v*e)*geluPhi))
	}
}

// layerNormPlain writes (x-mean)*inverse*gamma + beta.
func layerNormPlain(y, x, gamma, beta []float32, mean, inverse float32) {
	for i, v := range x {
		y[i] = float32(float32((v-mean)*inverse)*gamma[i]) + beta[i]
	}
}

// layerNormSumsPlain returns the sums of g = dy*gamma and of g*xh, xh = (x-mean)*inverse.
func layerNormSumsPlain(dy, x, gamma []float32, mean, inverse float32) (s, q float32) {
	var a, b rowSums
	for i, v := range x {
		g := float32(dy[i] * gamma[i])
		a[i%RowLanes] += g
		b[i%RowLanes] += float32(g * float32((v-mean)*inverse))
	}
	return a.total(), b.total()
}

// layerNormGradPlain writes ((dy*gamma - s) - xh*q) * inverse, and adds dy*xh to dgamma and dy to dbeta.
func layerNormGradPlain(dx, dgamma, dbeta, dy, x, gamma []float32, mean, inverse, s, q float32) {
	for i, v := range x {
		d, xh := dy[i], float32((v-mean)*inverse)
		dgamma[i] += float32(d * xh)
		dbeta[i] += d
		dx[i] = (float32(d*gamma[i]) - s - float32(xh*q)) * inverse
	}
}

// Hash is splitmix64's output for one state: the word of random that dropout reads.
func Hash(x uint64) uint64 {
	x += 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// dropPlain writes scale where the 16 bits that belong to the element are at least limit, else 0. Four
// elements share a word: element i has bits 16(i%4) and up of Hash(key + i/4).
func dropPlain(dst []float32, key uint64, limit uint32, scale float32) {
	for i := range dst {
		dst[i] = 0
		if uint32(Hash(key+uint64(i/4))>>(i%4*16)&0xffff) >= limit {
			dst[i] = scale
		}
	}
}

// adamWPlain is one step of AdamW; see CPU.AdamW.
func adamWPlain(w, m, v, grad []float32, gradScale, decay, first, second, rest, rate, root, eps float32) {
	for i, x := range w {
		g := float32(grad[i] * gradScale)
		m[i] += float32((g - m[i]) * first)
		v[i] = float32(v[i]*second) + float32(float32(g*g)*rest)
		d := float32(math.Sqrt(float64(v[i])))/root + eps
		w[i] = float32(x*decay) - float32(float32(m[i]/d)*rate)
	}
}
