package codec

import (
	"encoding/binary"
	"fmt"
	"math"

	"lockstep/comm"
)

// sparse omits zeros. It writes the number of entries, 4 bytes, and for each entry the number of
// zeros before it, 2 bytes, and its bits, 4 bytes. After 65535 zeros comes an entry that is zero.
// If that would be longer than the elements themselves, they follow a count of all ones.
type sparse struct{}

const (
	entryBytes = 6
	maxGap     = math.MaxUint16
	isDense    = math.MaxUint32
)

func (sparse) Name() string       { return "sparse" }
func (sparse) Loss() comm.Loss    { return comm.Lossless }
func (sparse) IsFixed() bool      { return false }
func (sparse) MaxBytes(n int) int { return 4 + 4*n }

func (sparse) Encode(dst []byte, src []float32) int {
	le := binary.LittleEndian
	end := 4 + 4*len(src)
	at, gap, num := 4, 0, uint32(0)
	for _, x := range src {
		u := math.Float32bits(x)
		if u == 0 && gap < maxGap {
			gap++
			continue
		}
		if at+entryBytes > end {
			return encodeDense(dst, src)
		}
		le.PutUint16(dst[at:], uint16(gap))
		le.PutUint32(dst[at+2:], u)
		at, gap, num = at+entryBytes, 0, num+1
	}
	le.PutUint32(dst, num)
	return at
}

func encodeDense(dst []byte, src []float32) int {
	binary.LittleEndian.PutUint32(dst, isDense)
	copy(dst[4:], comm.Bytes(src))
	return 4 + 4*len(src)
}

func (c sparse) Decode(dst []float32, src []byte) error {
	if len(src) < 4 {
		return errLength(c.Name(), len(dst), len(src), 4)
	}
	le := binary.LittleEndian
	num := le.Uint32(src)
	if num == isDense {
		if want := 4 + 4*len(dst); len(src) != want {
			return errLength(c.Name(), len(dst), len(src), want)
		}
		copy(comm.Bytes(dst), src[4:])
		return nil
	}
	if want := 4 + entryBytes*int64(num); int64(len(src)) != want {
		return errLength(c.Name(), len(dst), len(src), int(want))
	}
	clear(dst)
	next := 0
	for src = src[4:]; len(src) > 0; src = src[entryBytes:] {
		if next += int(le.Uint16(src)); next >= len(dst) {
			return fmt.Errorf("codec: sparse: entry for element %d of %d", next, len(dst))
		}
		dst[next] = math.Float32frombits(le.Uint32(src[2:]))
		next++
	}
	return nil
}
