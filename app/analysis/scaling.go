package analysis

// Scaled is a speed-up by a number of processors, both relative to the baseline.
type Scaled struct{ Processors, Speedup float64 }

// KarpFlatt returns the serial fraction that a measured speed-up s > 0 on p > 1 processors amounts to:
//
//	e = (1/s - 1/p) / (1 - 1/p)
//
// 0 is perfect, 1 no gain; below 0 the speed-up is above p. A fraction that grows with p shows overhead
// that grows, one that stays shows work that is not parallel. Source: Karp and Flatt, "Measuring parallel
// processor performance", Communications of the ACM 33(5), 1990.
func KarpFlatt(s Scaled) float64 {
	return (1/s.Speedup - 1/s.Processors) / (1 - 1/s.Processors)
}

// Amdahl returns the speed-up on p processors of fixed work with a serial fraction f: 1 / (f + (1-f)/p).
// Source: Amdahl, "Validity of the single processor approach", AFIPS 30, 1967.
func Amdahl(f, p float64) float64 { return 1 / (f + (1-f)/p) }

// Gustafson returns the speed-up on p processors of work that grows with p, f being the serial fraction
// of the time on p processors: p - f (p-1). Source: Gustafson, "Reevaluating Amdahl's law",
// Communications of the ACM 31(5), 1988.
func Gustafson(f, p float64) float64 { return p - f*(p-1) }

// FitAmdahl returns the serial fraction f that fits [Amdahl] to the points best: the least squares of the
// times 1/s = 1/p + f (1 - 1/p), a line through 0 in f. Points with one processor say nothing about f. It
// is NaN without any other.
func FitAmdahl(points []Scaled) float64 {
	return slope(points, func(s Scaled) (x, y float64) {
		return 1 - 1/s.Processors, 1/s.Speedup - 1/s.Processors
	})
}

// FitGustafson returns the serial fraction f that fits [Gustafson] to the points best: the least squares of
// p - s = f (p-1). It is NaN without a point of several processors.
func FitGustafson(points []Scaled) float64 {
	return slope(points, func(s Scaled) (x, y float64) {
		return s.Processors - 1, s.Processors - s.Speedup
	})
}

// slope returns the least squares of y = f x: sum(x y) / sum(x x).
func slope(points []Scaled, at func(Scaled) (x, y float64)) float64 {
	xy, xx := 0.0, 0.0
	for _, s := range points {
		x, y := at(s)
		xy, xx = xy+x*y, xx+x*x
	}
	return xy / xx
}
