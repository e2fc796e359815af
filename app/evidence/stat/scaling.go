package stat

// KarpFlatt returns the serial fraction that a measured speed-up s > 0 on p > 1 processors amounts to:
//
//	e = (1/s - 1/p) / (1 - 1/p)
//
// 0 is perfect, 1 no gain; below 0 the speed-up is above p. A fraction that grows with p shows overhead
// that grows, one that stays shows work that is not parallel. Source: Karp and Flatt, "Measuring parallel
// processor performance", Communications of the ACM 33(5), 1990.
func KarpFlatt(s, p float64) float64 {
	return (1/s - 1/p) / (1 - 1/p)
}

// Amdahl returns the speed-up on p processors of fixed work with a serial fraction f: 1 / (f + (1-f)/p).
// Source: Amdahl, "Validity of the single processor approach", AFIPS 30, 1967.
func Amdahl(f, p float64) float64 { return 1 / (f + (1-f)/p) }
