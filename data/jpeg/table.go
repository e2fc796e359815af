package jpeg

import "bytes"

// tableBits is how many bits a table looks at once.
const tableBits = 10

// table decodes the Huffman codes of a kind of values.
type table struct {
	isSet   bool
	of      [16 + 256]byte // the segment it was made of
	symbols []byte
	codes   [1 << tableBits]uint16 // by the first bits: size of the code << 8, and symbol; 0: a longer code
	values  [1 << tableBits]int32  // of codes with their value: value << 16, run << 8, size of both; or 0
	limits  [17]uint32             // by size: the codes below, of 16 bits, are at most so long
	offsets [17]int32              // from a code to the number of its symbol
}

// set makes t the table of a segment: how many codes there are of each size, and their symbols. It reports
// whether that is possible.
func (t *table) set(segment []byte) bool {
	t.isSet = true
	if bytes.Equal(segment, t.of[:len(segment)]) && len(t.symbols) == len(segment)-16 {
		return true
	}
	copy(t.of[:], segment)
	t.symbols = t.of[16:len(segment)]
	clear(t.codes[:])
	clear(t.values[:])
	code, at := uint32(0), 0
	for size := 1; size <= 16; size++ {
		t.offsets[size] = int32(at) - int32(code)
		for range segment[size-1] {
			if size <= tableBits {
				t.fill(code, size, t.symbols[at])
			}
			code, at = code+1, at+1
		}
		if code > 1<<size {
			t.symbols = nil // so that it is not taken for the same the next time
			return false
		}
		t.limits[size] = code << (16 - size)
		code <<= 1
	}
	return true
}

// fill enters a code of a table.
func (t *table) fill(code uint32, size int, symbol byte) {
	if code>>size > 0 {
		return // set refuses it
	}
	free := tableBits - size
	width := int(symbol & 15)
	for rest := range uint32(1) << free {
		i := code<<free | rest
		t.codes[i] = uint16(size)<<8 | uint16(symbol)
		if width > 0 && width <= free {
			v := extend(uint64(rest)<<(64-free), byte(width))
			t.values[i] = v<<16 | int32(symbol>>4)<<8 | int32(size+width)
		}
	}
}

// look returns the symbol of the code that bits begin with, and its size; 0 if there is none.
func (t *table) look(bits uint64) (symbol byte, size uint) {
	if e := t.codes[bits>>(64-tableBits)]; e != 0 {
		return byte(e), uint(e >> 8)
	}
	return t.longer(uint32(bits >> 48))
}

// longer is look for codes of more bits than the table has.
func (t *table) longer(code uint32) (symbol byte, size uint) {
	for size := tableBits + 1; size <= 16; size++ {
		if code < t.limits[size] {
			return t.symbols[int32(code>>(16-size))+t.offsets[size]], uint(size)
		}
	}
	return 0, 0
}
