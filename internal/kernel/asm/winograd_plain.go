package asm

// The transforms of Winograd's algorithms, in their portable form; asmgen reads the struct to find the
// fields from assembly.
//
// F(4x4, 3x3) (Lavin and Gray 2016, "Fast Algorithms for Convolutional Neural Networks") works on tiles. It
// evaluates polynomials at 0, -a, a, -b, b and infinity. With a = 5/8 and b = 3/2,
//
//	     a²b²  0  -a²-b²  0    1  0         c     0    0          1  1   1  1   1  0
//	     0   -ab²   -b²   a    1  0         ca    a ca a²ca   A' = 0  a  -a  b  -b  0
//	B' = 0    ab²   -b²  -a    1  0     G = ca   -a ca a²ca        0  a²  a² b²  b² 0
//	     0   -a²b   -a²   b    1  0         cb    b cb b²cb        0  a³ -a³ b³ -b³ 1
//	     0    a²b   -a²  -b    1  0         cb   -b cb b²cb
//	     0    a²b²   0  -a²-b² 0  1         0     0    1
//
//	c = 1 / a²b²     ca = 1 / 2a²(a²-b²)     cb = 1 / 2b²(b²-a²)
//
// the 4x4 pixels of output that a 3x3 filter w makes of 6x6 pixels of input d are
//
//	y = A' [(G w G') * (B' d B)] A    (* element by element)
//
// so a tile takes 36 products for each pair of channels instead of 144. The gradient of w is the
// adjoint of that in w, G' [(B' d B) * (A dy A')] G.
//
// On a map of 2x2 pixels with padding all round, d is the map itself, as the padding adds nothing, and
//
//	     1  1         0  1  0          1  1  0
//	B' = 0  1     G = 0 -1  1     A' =
//	     1  0         1 -1  0          1  0  1
//
// so a map takes 9 products; directly it takes 16, as 20 of 36 taps fall on padding.
//
// Convolutions of stride 2 are in winograd_strided.go.

// WinogradForm is the sides of the squares of one algorithm.
type WinogradForm struct {
	In, Out int // pixels of a tile's input and output
	Step    int // pixels of the input from one tile to the next
	Side    int // numbers that either is transformed into
}

// The forms: F(4x4, 3x3), that of a padded map of 2x2 pixels, and those of stride 2.
var (
	WinogradTile    = WinogradForm{In: 6, Out: 4, Step: 4, Side: 6}
	WinogradMap     = WinogradForm{In: 2, Out: 2, Step: 2, Side: 3}
	WinogradStrided = WinogradForm{In: 9, Out: 4, Step: 8, Side: 9}
	WinogradSpread  = WinogradForm{In: 5, Out: 8, Step: 4, Side: 9}
)

// Points returns the numbers that a tile is transformed into.
func (f WinogradForm) Points() int { return f.Side * f.Side }

// mostPoints is the most points of a form.
const mostPoints = 81

// WinogradArgs describes one transform of a tile, or of filters, for width channels.
//
// Pixels are found through the table; points (elements of the squares, columns first) are stride
// floats apart and taps TapStride. Each slice begins with the first channel.
type WinogradArgs struct {
	Table             []int32 // float offsets of pixels from src or dst; negative ones lie outside
	Src, Dst          []float32
	Zero              []float32 // what pixels outside read, width floats
	Bias              []float32 // added to the output, width floats
	Stride, TapStride int
	FetchStride       int       // floats from the taps to those of a later call, which are fetched
	Width             int       // a multiple of WinogradChannels
	Flags             int       // of output and FilterGrad: TileAdd; of output: TileReLU
	Work              []float32 // WinogradWork floats
}

const (
	// WinogradChannels divides the numbers of channels of all Winograd convolutions.
	WinogradChannels = 8
	// WinogradWork is the floats of WinogradArgs.work: vectors of up to 16 and addresses.
	WinogradWork = mostPoints * (16 + 2)
)

// WinogradTransforms holds the transforms of one form for one ISA. They compute each channel on its own,
// with the same operations, so all ISAs give the same bits.
type WinogradTransforms struct {
	Input      func(*WinogradArgs) // B' d B: pixels to points
	Output     func(*WinogradArgs) // A' m A: points to pixels, with bias and flags
	Filter     func(*WinogradArgs) // G w G': taps to points
	OutputGrad func(*WinogradArgs) // A dy A': pixels to points
	FilterGrad func(*WinogradArgs) // G' u G: points to taps, with TileAdd
}

// WinogradOps holds the transforms of the forms. Spread is a gradient itself, and has none.
type WinogradOps struct{ Tile, Map, Strided, Spread WinogradTransforms }

// plainWinograd returns the portable transforms.
func plainWinograd() WinogradOps {
	return WinogradOps{
		Tile: WinogradTile.plain(inputLine, outputLine, filterLine, outputGradLine, filterGradLine),
		Map: WinogradMap.plain(mapInputLine, mapOutputLine, mapFilterLine, mapOutputGradLine,
			mapFilterGradLine),
		Strided: WinogradStrided.plain(stridedInputLine, stridedOutputLine, stridedFilterLine,
			stridedOutputGradLine, stridedFilterGradLine),
		Spread: WinogradSpread.plain(spreadInputLine, spreadOutputLine, stridedFilterLine, nil, nil),
	}
}

// plain returns the transforms that apply these to lines, without gradients if there are none.
func (f WinogradForm) plain(input, output, filter, outputGrad, filterGrad func(line) line,
) WinogradTransforms {
	t := WinogradTransforms{
		Input:  func(a *WinogradArgs) { a.fromPixels(f.In, f.Side, input) },
		Output: func(a *WinogradArgs) { a.toPixels(f.Side, f.Out, output) },
		Filter: func(a *WinogradArgs) { a.fromTaps(f.Side, filter) },
	}
	if outputGrad != nil {
		t.OutputGrad = func(a *WinogradArgs) { a.fromPixels(f.Out, f.Side, outputGrad) }
		t.FilterGrad = func(a *WinogradArgs) { a.toTaps(f.Side, filterGrad) }
	}
	return t
}

// square is a square of numbers of one channel, line after line without gaps.
type square [mostPoints]float32

// line is a line or column of a square, of which there may be fewer numbers.
type line [9]float32

// transform applies f, which turns side numbers into newSide, to each line of s and then across, and
// leaves the result transposed.
func (s *square) transform(side, newSide int, f func(line) line) {
	var lines square
	var d line
	for i := range side {
		copy(d[:], s[i*side:][:side])
		d = f(d)
		copy(lines[i*newSide:], d[:newSide])
	}
	for j := range newSide {
		for i := range side {
			d[i] = lines[i*newSide+j]
		}
		d = f(d)
		copy(s[j*newSide:], d[:newSide])
	}
}

// fromPixels turns squares of pixels, side long, into points.
func (a *WinogradArgs) fromPixels(side, newSide int, f func(line) line) {
	var s square
	for c := range a.Width {
		for i, at := range a.Table {
			if at < 0 {
				s[i] = a.Zero[c]
			} else {
				s[i] = a.Src[int(at)+c]
			}
		}
		s.transform(side, newSide, f)
		for i := range newSide * newSide {
			a.Dst[i*a.Stride+c] = s[i]
		}
	}
}

// toPixels turns points into pixels.
func (a *WinogradArgs) toPixels(side, newSide int, f func(line) line) {
	var s square
	for c := range a.Width {
		for i := range side * side {
			s[i] = a.Src[i*a.Stride+c]
		}
		s.transform(side, newSide, f)
		for i, at := range a.Table {
			if at < 0 {
				continue
			}
			y, dst := s[i]+a.Bias[c], &a.Dst[int(at)+c]
			if a.Flags&TileAdd != 0 {
				y += *dst
			}
			if a.Flags&TileReLU != 0 && y < 0 {
				y = 0
			}
			*dst = y
		}
	}
}

// fromTaps turns filters into points.
func (a *WinogradArgs) fromTaps(newSide int, f func(line) line) {
	var s square
	for c := range a.Width {
		for i := range 9 {
			s[i] = a.Src[i*a.TapStride+c]
		}
		s.transform(3, newSide, f)
		for i := range newSide * newSide {
			a.Dst[i*a.Stride+c] = s[i]
		}
	}
}

// toTaps turns points into the filters' gradient.
func (a *WinogradArgs) toTaps(side int, f func(line) line) {
	var s square
	for c := range a.Width {
		for i := range side * side {
			s[i] = a.Src[i*a.Stride+c]
		}
		s.transform(side, 3, f)
		for i := range 9 {
			dw := &a.Dst[i*a.TapStride+c]
			if a.Flags&TileAdd != 0 {
				s[i] += *dw
			}
			*dw = s[i]
		}
	}
}

// The points of F(4x4, 3x3) beside 0 and infinity, their squares, and the factors of G. Sums round half as
// much as with 1 and 2, for which transforms take no products (docs/design/0004).
const (
	pointA, pointB   = 5. / 8, 3. / 2
	squareA, squareB = pointA * pointA, pointB * pointB

	factor0 = 1 / (squareA * squareB)
	factorA = 1 / (2 * squareA * (squareA - squareB))
	factorB = 1 / (2 * squareB * (squareB - squareA))
)

// inputLine multiplies d by B'.
func inputLine(d line) line {
	even, odd := fma(-squareB, d[2], d[4]), fma(-squareB, d[1], d[3])
	even2, odd2 := fma(-squareA, d[2], d[4]), fma(-squareA, d[1], d[3])
	return line{
		fma(-squareA, fma(-squareB, d[0], d[2]), even),
		fma(pointA, odd, even), fma(-pointA, odd, even),
		fma(pointB, odd2, even2), fma(-pointB, odd2, even2),
		fma(-squareA, odd, fma(-squareB, d[3], d[5])),
	}
}

// outputLine multiplies m by A'.
func outputLine(m line) line {
	sum, diff := m[1]+m[2], float32(pointA*(m[1]-m[2]))
	sum2, diff2 := m[3]+m[4], float32(pointB*(m[3]-m[4]))
	return line{
		m[0] + sum + sum2,
		diff + diff2,
		fma(squareB, sum2, float32(squareA*sum)),
		fma(squareB, diff2, fma(squareA, diff, m[5])),
	}
}

// filterLine multiplies w by G.
func filterLine(w line) line {
	ends, ends2 := fma(squareA, w[2], w[0]), fma(squareB, w[2], w[0])
	return line{
		factor0 * w[0],
		factorA * fma(pointA, w[1], ends), factorA * fma(-pointA, w[1], ends),
		factorB * fma(pointB, w[1], ends2), factorB * fma(-pointB, w[1], ends2),
		w[2],
	}
}

// outputGradLine multiplies d by A.
func outputGradLine(d line) line {
	even, odd := fma(squareA, d[2], d[0]), fma(squareA, d[3], d[1])
	even2, odd2 := fma(squareB, d[2], d[0]), fma(squareB, d[3], d[1])
	return line{
		d[0],
		fma(pointA, odd, even), fma(-pointA, odd, even),
		fma(pointB, odd2, even2), fma(-pointB, odd2, even2),
		d[3],
	}
}

// filterGradLine multiplies u by G'.
func filterGradLine(u line) line {
	sum, sum2 := float32(factorA*(u[1]+u[2])), float32(factorB*(u[3]+u[4]))
	return line{
		fma(factor0, u[0], sum+sum2),
		fma(factorB*pointB, u[3]-u[4], float32(factorA*pointA*(u[1]-u[2]))),
		fma(squareA, sum, fma(squareB, sum2, u[5])),
	}
}

// mapInputLine multiplies d by B' of a map.
func mapInputLine(d line) line { return line{d[0] + d[1], d[1], d[0]} }

// mapOutputLine multiplies m by A' of a map.
func mapOutputLine(m line) line { return line{m[0] + m[1], m[0] + m[2]} }

// mapFilterLine multiplies w by G of a map.
func mapFilterLine(w line) line { return line{w[1], w[2] - w[1], w[0] - w[1]} }

// mapOutputGradLine multiplies d by A of a map.
func mapOutputGradLine(d line) line { return line{d[0] + d[1], d[0], d[1]} }

// mapFilterGradLine multiplies u by G' of a map.
func mapFilterGradLine(u line) line { return line{u[2], u[0] - (u[1] + u[2]), u[1]} }
