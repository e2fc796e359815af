package elementary

import "math"

const (
	ln2High = 6.93147180369123816490e-01 // upper 33 bits of ln 2
	ln2Low  = 1.90821492927058770002e-10
)

// Exp returns e^x to within 1 ulp for x from -708 to 709; 0 below, where the result nears the denormals, and
// +Inf above, where it nears the largest number.
func Exp(x float64) float64 {
	const (
		p1 = 1.66666666666666657415e-01
		p2 = -2.77777777770155933842e-03
		p3 = 6.61375632143793436117e-05
		p4 = -1.65339022054652515390e-06
		p5 = 4.13813679705723846039e-08
	)
	switch {
	case x != x:
		return x
	case x > 709:
		return math.Inf(1)
	case x < -708:
		return 0
	}
	// x = k ln 2 + r, |r| <= ln 2 / 2, with r = high - low.
	k := math.Floor(float64(x*math.Log2E) + 0.5)
	high, low := x-float64(k*ln2High), float64(k*ln2Low)
	r := high - low
	t := float64(r * r)
	c := p4 + float64(t*p5)
	c = p3 + float64(t*c)
	c = p2 + float64(t*c)
	c = p1 + float64(t*c)
	c = r - float64(t*c)
	y := 1 - ((low - float64(r*c)/(2-c)) - high)
	return y * math.Float64frombits(uint64(int64(k)+1023)<<52)
}

// Log returns the natural logarithm of x to within 1 ulp: -Inf of 0 and of denormals, NaN below 0, +Inf of
// +Inf.
func Log(x float64) float64 {
	const (
		l1 = 6.666666666666735130e-01
		l2 = 3.999999999940941908e-01
		l3 = 2.857142874366239149e-01
		l4 = 2.222219843214978396e-01
		l5 = 1.818357216161805012e-01
		l6 = 1.531383769920937332e-01
		l7 = 1.479819860511658591e-01
	)
	switch {
	case x != x || x < 0:
		return math.NaN()
	case x < 0x1p-1022:
		return math.Inf(-1)
	case math.IsInf(x, 1):
		return x
	}
	// x = 2^k (1+f), sqrt(2)/2 <= 1+f < sqrt(2).
	const half = 1022 << 52
	b := math.Float64bits(x)
	k := float64(int64(b>>52) - 1022)
	m := math.Float64frombits(b&(1<<52-1) | half)
	if m < math.Sqrt2/2 {
		m *= 2
		k--
	}
	f := m - 1
	s := f / (2 + f)
	z := float64(s * s)
	w := float64(z * z)
	t1 := l4 + float64(w*l6)
	t1 = l2 + float64(w*t1)
	t1 = float64(w * t1)
	t2 := l5 + float64(w*l7)
	t2 = l3 + float64(w*t2)
	t2 = l1 + float64(w*t2)
	t2 = float64(z * t2)
	sq := float64(float64(0.5*f) * f)
	u := float64(s*(sq+(t1+t2))) + float64(k*ln2Low)
	return float64(k*ln2High) - ((sq - u) - f)
}
