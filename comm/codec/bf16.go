package codec

import (
	"encoding/binary"
	"math"

	"lockstep/comm"
)

// bf16 keeps the upper half of each element, rounded to nearest even.
type bf16 struct{}

func (bf16) Name() string       { return "bf16" }
func (bf16) Loss() comm.Loss    { return comm.Elementwise }
func (bf16) MaxBytes(n int) int { return 2 * n }
func (bf16) IsFixed() bool      { return true }

func (bf16) Encode(dst []byte, src []float32) int {
	n := len(src) &^ 3
	for i := 0; i < n; i += 4 {
		s, d := src[i:i+4:i+4], dst[2*i:2*i+8:2*i+8]
		binary.LittleEndian.PutUint64(d, uint64(upper(s[0]))|uint64(upper(s[1]))<<16|
			uint64(upper(s[2]))<<32|uint64(upper(s[3]))<<48)
	}
	for i := n; i < len(src); i++ {
		binary.LittleEndian.PutUint16(dst[2*i:], uint16(upper(src[i])))
	}
	return 2 * len(src)
}

// upper returns the upper half of x, rounded; that of a NaN is a NaN.
func upper(x float32) uint32 {
	u := math.Float32bits(x)
	if u&0x7fffffff > 0x7f800000 {
		return u>>16 | 0x40
	}
	return (u + 0x7fff + u>>16&1) >> 16
}

func (c bf16) Decode(dst []float32, src []byte) error {
	if len(src) != 2*len(dst) {
		return errLength(c.Name(), len(dst), len(src), 2*len(dst))
	}
	n := len(dst) &^ 3
	for i := 0; i < n; i += 4 {
		d := dst[i : i+4 : i+4]
		u := binary.LittleEndian.Uint64(src[2*i:])
		d[0] = math.Float32frombits(uint32(u) << 16)
		d[1] = math.Float32frombits(uint32(u) & 0xffff0000)
		d[2] = math.Float32frombits(uint32(u>>32) << 16)
		d[3] = math.Float32frombits(uint32(u>>32) & 0xffff0000)
	}
	for i := n; i < len(dst); i++ {
		dst[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(src[2*i:])) << 16)
	}
	return nil
}
