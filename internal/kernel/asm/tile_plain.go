package asm

import "math"

// Note: multiply-add in plain Go.
//
// Products are added with one rounding, as a processor's fused multiply-add does, so that plain Go gives the
// bits of assembly. The product of two float32 is exact in float64. Its sum with a third is rounded to
// float64 and then to float32. Rounding twice differs from rounding once only if the first result lies
// halfway between two float32: then what the first rounding has lost decides (isHard, toOdd). That is rare,
// so that a multiply-add takes a product, a sum, two conversions and a look at the bits in between.

// fma returns k*a + b rounded once.
func fma(k, a, b float32) float32 {
	product, sum := float64(k)*float64(a), float64(b)
	if sum += product; isHard(sum) {
		sum = toOdd(product, float64(b), sum)
	}
	return float32(sum)
}

// float64Normal is the magnitude's bits of the least float32 that is not denormal.
const float64Normal = (1023 - 126) << 52

// isHard reports whether sum, rounded to float64, may have to be rounded otherwise to float32 than the exact
// sum: it is halfway between two float32, or some denormal, where that is elsewhere.
func isHard(sum float64) bool {
	b := math.Float64bits(sum)
	return b<<35 == 1<<63 || b<<1-1 < float64Normal<<1-1
}

// toOdd returns the finite sum of product and addend rounded to odd: if it is not exact, of its two
// neighbours the one whose last bit is 1. Rounding that to float32 is as rounding once (Boldo and Melquiond
// 2008, "Emulation of FMA and Correctly Rounded Sums: Proved Algorithms Using Rounding to Odd").
//
//go:noinline
func toOdd(product, addend, sum float64) float64 {
	part := sum - product
	rest := (product - (sum - part)) + (addend - part)
	bits := math.Float64bits(sum)
	switch {
	case rest == 0 || bits&1 == 1:
	case (rest > 0) == (sum > 0):
		bits++
	default:
		bits--
	}
	return math.Float64frombits(bits)
}

// plainLanes is the width of the portable tiles.
const plainLanes = 8

// vector is as many floats as a portable tile is wide.
type vector [plainLanes]float32

// add adds x, a float32, times each of y to s. Like addEach it is written out, so that sums stay in registers
// and no sum waits for another (docs/design/0041 has the gain). If one is hard, all are computed again.
func (s *vector) add(x float64, y *vector) {
	s0, s1 := x*float64(y[0])+float64(s[0]), x*float64(y[1])+float64(s[1])
	s2, s3 := x*float64(y[2])+float64(s[2]), x*float64(y[3])+float64(s[3])
	s4, s5 := x*float64(y[4])+float64(s[4]), x*float64(y[5])+float64(s[5])
	s6, s7 := x*float64(y[6])+float64(s[6]), x*float64(y[7])+float64(s[7])
	if isHard(s0) || isHard(s1) || isHard(s2) || isHard(s3) ||
		isHard(s4) || isHard(s5) || isHard(s6) || isHard(s7) {
		for j, v := range y {
			s[j] = fma(float32(x), v, s[j])
		}
		return
	}
	s[0], s[1], s[2], s[3] = float32(s0), float32(s1), float32(s2), float32(s3)
	s[4], s[5], s[6], s[7] = float32(s4), float32(s5), float32(s6), float32(s7)
}

// addEach adds each of x times that of y to s.
func (s *vector) addEach(x, y *vector) {
	s0, s1 := float64(x[0])*float64(y[0])+float64(s[0]), float64(x[1])*float64(y[1])+float64(s[1])
	s2, s3 := float64(x[2])*float64(y[2])+float64(s[2]), float64(x[3])*float64(y[3])+float64(s[3])
	s4, s5 := float64(x[4])*float64(y[4])+float64(s[4]), float64(x[5])*float64(y[5])+float64(s[5])
	s6, s7 := float64(x[6])*float64(y[6])+float64(s[6]), float64(x[7])*float64(y[7])+float64(s[7])
	if isHard(s0) || isHard(s1) || isHard(s2) || isHard(s3) ||
		isHard(s4) || isHard(s5) || isHard(s6) || isHard(s7) {
		for j, v := range y {
			s[j] = fma(x[j], v, s[j])
		}
		return
	}
	s[0], s[1], s[2], s[3] = float32(s0), float32(s1), float32(s2), float32(s3)
	s[4], s[5], s[6], s[7] = float32(s4), float32(s5), float32(s6), float32(s7)
}

// put stores the first len(dst) of the sums as flags say.
func (s *vector) put(dst []float32, flags int) {
	for k := range dst {
		sum := s[k]
		if flags&TileAdd != 0 {
			sum = dst[k] + sum
		}
		if flags&TileReLU != 0 && sum < 0 {
			sum = 0
		}
		dst[k] = sum
	}
}

// plainGemm returns the portable tiles.
func plainGemm() GemmOps {
	o := GemmOps{Lanes: plainLanes, Widths: []int{1}, Serial: 1 << 15}
	for _, h := range TileHeights() {
		o.Tile[h][1] = tilePlain
		o.Outer[h][1] = outerPlain
	}
	o.Pack[1] = packPlain
	o.Turn = turnPlain
	o.Strip = stripPlain
	return o
}

// tilePlain is the portable tile.
func tilePlain(a *TileArgs) {
	var sums [TileRows]vector
	for i := range a.Rows {
		sums[i] = vector(a.Bias)
	}
	for t := range a.Taps {
		step := a.Table[TileRows+t*(TileRows+1):]
		weights := a.Weights[int(step[0])*a.TapStride:]
		var rows [TileRows][]float32
		for i := range a.Rows {
			rows[i] = a.row(step[1+i])
		}
		for d := range a.Depth {
			panel := (*vector)(weights[d*plainLanes:])
			for i := range a.Rows {
				sums[i].add(float64(rows[i][d]), panel)
			}
		}
	}
	for i := range a.Rows {
		sums[i].put(a.Dst[a.Table[i]:][:a.Tail], a.Flags)
	}
}

// row returns the row of the source that begins at from, or zeros.
func (a *TileArgs) row(from int32) []float32 {
	if from < 0 {
		return a.Zero[:a.Depth]
	}
	return a.Src[from:][:a.Depth]
}

// outerPlain is the portable outer-product tile.
func outerPlain(a *OuterArgs) {
	var sums [TileRows]vector
	for p := 0; p < len(a.Pairs); p += 2 {
		b := (*vector)(a.B[int(a.Pairs[p+1])*a.BStride:])
		for i, x := range a.A[a.Pairs[p]:][:a.Rows] {
			sums[i].add(float64(x), b)
		}
	}
	for i := range a.Rows {
		sums[i].put(a.Dst[i*a.Stride:][:a.Tail], a.Flags)
	}
}

// packPlain is the portable copy of a panel.
func packPlain(a *PackArgs) {
	for i := range a.Rows {
		dst := a.Dst[i*plainLanes:][:plainLanes]
		clear(dst[copy(dst, a.Src[i*a.Stride:][:a.Tail]):])
	}
}

// turnPlain is the portable transposing copy.
func turnPlain(a *TurnArgs) {
	for d := range a.Rows {
		row := a.Dst[d*a.Width:][:a.Columns]
		for j := range row {
			row[j] = a.Src[j*a.Stride+d]
		}
	}
}

// stripPlain is the portable gathering copy.
func stripPlain(a *StripArgs) {
	for p := range len(a.Pairs) / 2 {
		copy(a.Dst[p*a.Rows:][:a.Rows], a.Src[a.Pairs[2*p]:])
	}
}
