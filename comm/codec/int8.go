package codec

import (
	"encoding/binary"
	"math"

	"lockstep/comm"
)

// blockElems is the number of elements that share a scale.
const blockElems = 256

// int8Blocks rounds each element to a multiple of its block's scale, which is the largest magnitude
// / 127:
//
//	scale = max |x| / 127, q = round(x / scale), x' = q scale
//
// An encoded block is its scale, 4 bytes, followed by one byte per element. Blocks start at the
// beginning of the span that is sent, so spans cut elsewhere are rounded differently. A block with
// a NaN or an infinity becomes all NaN.
type int8Blocks struct{}

func (int8Blocks) Name() string    { return "int8" }
func (int8Blocks) Loss() comm.Loss { return comm.Blockwise }
func (int8Blocks) IsFixed() bool   { return true }

func (int8Blocks) MaxBytes(n int) int { return n + 4*((n+blockElems-1)/blockElems) }

func (c int8Blocks) Encode(dst []byte, src []float32) int {
	at := 0
	for lo := 0; lo < len(src); lo += blockElems {
		block := src[lo:min(lo+blockElems, len(src))]
		at += encodeBlock(dst[at:at+4+len(block)], block)
	}
	return at
}

// rounder is 1.5 * 2^23: adding it to a float32 rounds to the nearest even integer, which is then
// in the lower bits.
const rounder = 12582912

func encodeBlock(dst []byte, block []float32) int {
	var top uint32 // as bits, which order magnitudes and rank NaN above all
	for _, x := range block {
		top = max(top, math.Float32bits(x)&0x7fffffff)
	}
	scale := math.Float32frombits(top) / 127
	if math.IsInf(float64(127*scale), 0) {
		scale = math.Nextafter32(scale, 0) // so that the largest stays finite
	}
	inverse := 1 / scale
	if top >= 0x7f800000 {
		scale, inverse = float32(math.NaN()), 0
	} else if math.IsInf(float64(inverse), 0) {
		scale, inverse = 0, 0 // all zero, or too small to represent
	}
	binary.LittleEndian.PutUint32(dst, math.Float32bits(scale))
	body := dst[4:][:len(block)]
	for i, x := range block {
		body[i] = byte(math.Float32bits(float32(x*inverse) + rounder))
	}
	return 4 + len(block)
}

func (c int8Blocks) Decode(dst []float32, src []byte) error {
	if want := c.MaxBytes(len(dst)); len(src) != want {
		return errLength(c.Name(), len(dst), len(src), want)
	}
	for len(dst) > 0 {
		block := dst[:min(blockElems, len(dst))]
		scale := math.Float32frombits(binary.LittleEndian.Uint32(src))
		body := src[4:][:len(block)]
		for i := range block {
			block[i] = float32(int8(body[i])) * scale
		}
		dst, src = dst[len(block):], src[4+len(block):]
	}
	return nil
}
