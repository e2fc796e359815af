package jpeg

// block holds the values of 8x8 pixels, [8, 8].
type block [64]int32

// Note: transform
//
// The inverse cosine transform is that of Loeffler, Ligtenberg and Moschytz 1989, in fixed point of 32 bits
// with the shifts of image/jpeg, rows before columns: the same integers come out, overflow included. A row of
// which only the first value is not zero becomes eight times that value, and rows of zeros stay as they are,
// by the same arithmetic.

// The constants of the transform, of 60 bits behind the point.
const (
	cos1     = 1130768441178740757 // cos(pi/16)
	sin1     = 224923827593068887
	cos3     = 958619196450722178 // cos(3 pi/16)
	sin3     = 640528868967736374
	half     = 815238614083298888 // 1/sqrt(2)
	halfCos6 = 311978311033955632 // cos(6 pi/16)/sqrt(2)
	halfSin6 = 753182269664427492
)

// fixed returns a constant with so many bits behind the point.
func fixed(x uint64, bits int) int32 { return int32((x + 1<<(59-bits)) >> (60 - bits)) }

// turned returns x and y, turned by the angle whose cosine and sine are given, and scaled.
func turned(x, y, cos, sin int32) (a, b int32) {
	both := cos * (x + y)
	return both + (sin-cos)*y, both - (cos+sin)*x
}

// lastRow returns the last row of a block that may have values other than zero, when last is the number of
// its last value in the order of codes.
func lastRow(last int) int { return int(lastRows[last&63]) }

// lastRows has the greatest row of each beginning of natural.
var lastRows = [64]byte{0, 0, 1, 2, 2, 2, 2, 2, 2, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5, 6, 6, 6, 6, 6, 6, 6, 6,
	6, 6, 6, 6, 6, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7}

// put writes the pixels that b becomes, rows of stride bytes.
func (b *block) put(dst []byte, stride, last int) {
	if last == 0 {
		v := byteOf((b[0]<<17 + 1<<19) >> 2 >> 18)
		for y := range 8 {
			row := dst[y*stride:][:8]
			for x := range row {
				row[x] = v
			}
		}
		return
	}
	rows := lastRow(last)
	for y := range rows + 1 {
		transformRow((*[8]int32)(b[8*y:]))
	}
	dst = dst[:7*stride+8]
	for x := range 8 {
		b.transformColumn(dst[x:], stride, x)
	}
}

// transformRow transforms a row.
func transformRow(x *[8]int32) {
	if x[1]|x[2]|x[3]|x[4]|x[5]|x[6]|x[7] == 0 {
		v := x[0] << 17
		*x = [8]int32{v, v, v, v, v, v, v, v}
		return
	}
	x0, x1 := x[0]<<17, x[4]<<17
	x0, x1 = x0+x1, x0-x1
	x2, x3 := turned(x[2], x[6], fixed(halfCos6, 18), -fixed(halfSin6, 18))
	x1, x2 = x1+x2, x1-x2
	x0, x3 = x0+x3, x0-x3
	x7, x4 := x[1]<<7, x[7]<<7
	x7, x4 = x7+x4, x7-x4
	x6, x5 := x[5]*fixed(half, 8), x[3]*fixed(half, 8)
	x7, x5 = x7+x5, x7-x5
	x4, x6 = x4+x6, x4-x6
	x4, x7 = turned(x4>>2, x7>>2, fixed(cos3, 12), -fixed(sin3, 12))
	x5, x6 = turned(x5>>2, x6>>2, fixed(cos1, 12), -fixed(sin1, 12))
	*x = [8]int32{x0 + x7, x1 + x6, x2 + x5, x3 + x4, x3 - x4, x2 - x5, x1 - x6, x0 - x7}
}

// transformColumn transforms column x and writes it to dst, a pixel in each row.
func (b *block) transformColumn(dst []byte, stride, x int) {
	x &= 7
	x0, x1 := b[x]+1<<19, b[32+x]
	x0, x1 = (x0+x1)>>2, (x0-x1)>>2
	x2, x3 := turned(b[16+x]>>13, b[48+x]>>13, fixed(halfCos6, 12), -fixed(halfSin6, 12))
	x1, x2 = x1+x2, x1-x2
	x0, x3 = x0+x3, x0-x3
	x7, x4 := b[8+x], b[56+x]
	x7, x4 = x7+x4, x7-x4
	x5, x6 := (b[24+x]>>13)*fixed(half, 14), (b[40+x]>>13)*fixed(half, 14)
	x7, x5 = x7+x5, x7-x5
	x4, x6 = x4+x6, x4-x6
	x4, x7 = turned(x4>>14, x7>>14, fixed(cos3, 12), -fixed(sin3, 12))
	x5, x6 = turned(x5>>14, x6>>14, fixed(cos1, 12), -fixed(sin1, 12))
	dst[0] = byteOf((x0 + x7) >> 18)
	dst[stride] = byteOf((x1 + x6) >> 18)
	dst[2*stride] = byteOf((x2 + x5) >> 18)
	dst[3*stride] = byteOf((x3 + x4) >> 18)
	dst[4*stride] = byteOf((x3 - x4) >> 18)
	dst[5*stride] = byteOf((x2 - x5) >> 18)
	dst[6*stride] = byteOf((x1 - x6) >> 18)
	dst[7*stride] = byteOf((x0 - x7) >> 18)
}

// byteOf returns the pixel of a value around 0.
func byteOf(v int32) byte {
	if v += 128; uint32(v) > 255 {
		v = ^(v >> 31)
	}
	return byte(v)
}
